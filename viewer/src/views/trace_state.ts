/* What is chosen in the execution trace: the window, what is shown, what is selected. */
import type { App } from '../app';
import type { LaneOptions } from '../model/lanes';
import { kindLabels, type Step, type Trace } from '../model/trace';
import { windowOf, type Window } from '../ui/timeline';

export type Selection =
  | { kind: 'step'; step: number }
  | { kind: 'layer'; first: number; last: number; name: string; depth: number }
  | { kind: 'run'; run: number };

export interface TraceState extends LaneOptions {
  window: Window;
  ipu: number; /* -1: all */
  runs: boolean; bsp: boolean;
  tileBalance: boolean; terminals: boolean; text: boolean; bspStats: boolean;
  collapsed: Set<number>;
  bspZoom: number; bspTop: number; /* first tile that is visible, as a share of all */
  search: string; matches: Int32Array; matchesUpTo: Int32Array | undefined; match: number;
  selected: Selection[]; /* at most two */
  range: { value: Window | undefined };
  share: { value: number };
  tab: string;
  byName: boolean; /* the table of names is open */
}

export const flags = ['flame', 'groupExecutions', 'groupSyncs', 'separate', 'externalSyncs', 'syncAns', 'runs', 'bsp', 'tileBalance',
  'terminals', 'text', 'bspStats'] as const;

const defaults: Record<(typeof flags)[number], boolean> = {
  flame: false, groupExecutions: false, groupSyncs: false, separate: false, externalSyncs: true, syncAns: true, runs: true, bsp: true,
  tileBalance: false, terminals: true, text: true, bspStats: false,
};

export function stateOfTrace(app: App, t: Trace): TraceState {
  const c = app.choices, on = Object.fromEntries(flags.map((f) => [f, c.flag(`t.${f}`, defaults[f])])) as Record<(typeof flags)[number], boolean>;
  const step = c.number('t.step', -1), end = Math.max(1, t.cycles), ipu = c.number('t.ipu', -1);
  return {
    ...on,
    window: windowOf(c.number('t.from', 0), c.number('t.to', end), 0, end),
    ipu: Number.isInteger(ipu) && ipu < t.numIpus ? ipu : -1, collapsed: new Set(), bspZoom: 1, bspTop: 0,
    search: '', matches: new Int32Array(0), matchesUpTo: undefined, match: -1,
    selected: step >= 0 && step < t.steps.length ? [{ kind: 'step', step }] : [],
    range: { value: undefined }, share: { value: 0.56 }, tab: c.text('t.tab', 'Summary'), byName: false,
  };
}

/* Steps that a search finds: words of the name or the type; /…/ is a regular expression; kind:, name:, tile: are fields. */
export function matcher(text: string): (s: Step) => boolean {
  const tests = text.trim().split(/\s+/).filter((w) => w).map((word): ((s: Step) => boolean) => {
    const field = /^(kind|name|tile|step):(.+)$/i.exec(word), value = (field?.[2] ?? word).toLowerCase();
    switch (field?.[1]?.toLowerCase()) {
      case 'kind': return (s) => (kindLabels[s.kind] + s.kind).toLowerCase().includes(value);
      case 'tile': return (s) => (s.cost?.cycles[Number(value)] ?? s.waiting?.[Number(value)] ?? 0) > 0;
      case 'step': return (s) => s.index === Number(value);
      case 'name': return (s) => s.name.toLowerCase().includes(value);
      default: break;
    }
    const pattern = /^\/(.+)\/$/.exec(word)?.[1];
    if (pattern) {
      try {
        const expression = new RegExp(pattern, 'i');
        return (s) => expression.test(s.name);
      } catch {
        /* no expression: a word like others */
      }
    }
    return (s) => s.name.toLowerCase().includes(value) || kindLabels[s.kind].toLowerCase().includes(value);
  });
  return (s) => tests.every((test) => test(s));
}

export function search(s: TraceState, t: Trace, text: string): void {
  s.search = text.trim();
  s.match = -1;
  s.matchesUpTo = undefined;
  if (!s.search) {
    s.matches = new Int32Array(0);
    return;
  }
  const found: number[] = [], test = matcher(s.search), upTo = new Int32Array(t.steps.length + 1);
  for (const step of t.steps) {
    if (test(step)) found.push(step.index);
    upTo[step.index + 1] = found.length;
  }
  s.matches = Int32Array.from(found);
  s.matchesUpTo = upTo;
}

/* Is any of these steps found, or is there no search? */
export function isFound(s: TraceState, first: number, last: number): boolean {
  return !s.matchesUpTo || (s.matchesUpTo[last + 1] as number) > (s.matchesUpTo[first] as number);
}
