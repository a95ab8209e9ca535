/* The Summary tab: figures of the part of the trace that is visible, or of the range that was chosen in it. */
import type { App } from '../app';
import { asNumber, asText, get } from '../model/json';
import { kindLabels, type Kind, type Trace } from '../model/trace';
import { figuresOf, sandwich, type Moved, type WindowOfIpu } from '../model/window';
import { lookOf } from '../ui/colours';
import { absent, h, nameOf } from '../ui/dom';
import { bytes, count, overflows, share } from '../ui/format';
import { facts, table } from '../ui/table';
import type { TraceState } from './trace_state';

const order: Kind[] = ['InternalSync', 'ExternalSync', 'SyncAns', 'OnTileExecute', 'DoExchange', 'GlobalExchange', 'StreamCopyBegin',
  'StreamCopyMid', 'StreamCopyEnd', 'Other'];

function part(kind: Kind, value: number, whole: number): HTMLElement {
  const piece = h('span', { class: `part ${lookOf(kind).pattern}`, title: `${kindLabels[kind]}: ${share(value / whole)} (${count(value)} cycles)` });
  piece.style.width = `${value / whole * 100}%`;
  piece.style.backgroundColor = lookOf(kind).fill;
  return piece;
}

export function proportions(of: Map<Kind, number>, label: string): HTMLElement {
  let whole = 0;
  for (const v of of.values()) whole += v;
  if (!whole) return h('div', { class: 'proportions' }, h('span', { class: 'weak' }, 'nothing'));
  const known = order.filter((k) => (of.get(k) ?? 0) > 0);
  return h('div', { class: 'proportionsbox' },
    h('div', { class: 'proportions', role: 'img', 'aria-label': `${label}: ${known.map((k) => `${kindLabels[k]} ${share((of.get(k) as number) / whole)}`).join(', ')}` },
      known.map((k) => part(k, of.get(k) as number, whole))),
    h('div', { class: 'key' }, known.map((k) => {
      const box = h('span', { class: `box ${lookOf(k).pattern}` });
      box.style.backgroundColor = lookOf(k).fill;
      return h('span', { 'data-kind': k }, box, `${kindLabels[k]} ${share((of.get(k) as number) / whole)}`);
    })));
}

function balanceBar(value: number | undefined, label: string): HTMLElement {
  if (value === undefined) return h('span', { class: 'weak' }, 'no steps but syncs');
  const fill = h('span', { class: 'fill' });
  fill.style.width = `${Math.min(100, value * 100)}%`;
  return h('div', { class: 'balance' }, h('div', { class: 'track', role: 'img', 'aria-label': `${label} ${share(value)}` }, fill), share(value));
}

function moved(of: Moved): string {
  return of.steps ? `${bytes(of.received)} / ${bytes(of.sent)}` : '–';
}

const memories: Record<string, string> = { Host: 'host', RemoteBuffer: 'remote buffer', Mixed: 'mixed' };

/* A row for each kind of memory that copies are from or to; one that says so where there are none. */
function streamCopies(all: Map<string, Moved>): [string, string, string][] {
  const what = 'Bytes that stream copies in view receive and send';
  const rows = [...all].sort().map(([category, of]): [string, string, string] => [`Rx / Tx StreamCopy${memories[category] ? `, ${memories[category]}` : ''}`, moved(of), what]);
  return rows.length ? rows : [['Rx / Tx StreamCopy', '–', what]];
}

function ipuCard(of: WindowOfIpu, ipu: number): HTMLElement {
  return h('section', { class: 'card', 'data-ipu': ipu }, h('h3', {}, `IPU ${ipu}`),
    h('h4', { title: 'Share of each type in the cycles of the steps of this IPU that are in view' }, 'Cycle proportions'),
    proportions(of.tileCycles ?? of.proportions, `Cycle proportions of IPU ${ipu}`),
    of.utilisation !== undefined
      ? [h('h4', { title: 'Tile-cycles spent on work or transfer, of all tile-cycles in view; waiting in a sync is idle' }, 'Tile utilisation'), balanceBar(of.utilisation, 'Tile utilisation')]
      : [h('h4', { title: 'Mean of the tile balance of all steps but syncs, weighted by their length in view' }, 'Tile balance'), balanceBar(of.tileBalance, 'Tile balance')],
    facts([
      ...streamCopies(of.streamCopy),
      ['Rx / Tx GlobalExchange', moved(of.globalExchange), 'Bytes that exchanges between IPUs in view receive and send'],
    ]));
}

/* What a detailed trace does not say, where it matters. */
function limits(t: Trace): HTMLElement | false {
  const seen = new Set<number>();
  let again = false;
  for (const s of t.steps) {
    if (s.kind !== 'OnTileExecute' || s.thing < 0) continue;
    again ||= seen.has(s.thing);
    seen.add(s.thing);
  }
  return again && h('p', { class: 'weak', 'data-note': 'limits' }, 'Of a compute set that was executed several times each bar shows the cycles of its last execution. Measuring takes cycles and memory of its own; these are not in the figures.');
}

/* Made when it is opened, since there may be as many names as steps. */
function byName(t: Trace, s: TraceState, a: number, b: number): HTMLElement {
  const fill = (): void => {
    s.byName = box.open;
    if (!box.open || box.children.length > 1) return;
    box.append(table(sandwich(t, a, b), [
      { title: 'Name', value: (r) => r.name },
      { title: 'Self', value: (r) => Math.round(r.self), format: count, tip: 'Cycles of steps of just this name' },
      { title: 'Total', value: (r) => Math.round(r.total), format: count, tip: 'Cycles of all steps whose path begins with it' },
      { title: 'Steps', value: (r) => r.steps, format: count },
    ], { name: 'cycles by name', filter: true, sort: { column: 2, down: true } }));
  };
  const box = h('details', { class: 'more', open: s.byName }, h('summary', {}, 'By name: what takes how long'));
  box.addEventListener('toggle', fill);
  fill();
  return box;
}

export function traceSummary(app: App, t: Trace, s: TraceState): HTMLElement {
  const w = s.range.value ?? s.window, a = Math.max(0, w.from), b = Math.min(t.cycles, w.to);
  const f = figuresOf(app.report, t, a, b, s.bspStats);
  const clock = app.report.target.clock, whole = get(app.report.execution, 'simulation', 'tileCycles');
  return h('div', { class: 'tracesummary' },
    h('div', { class: 'stats' },
      h('div', {}, h('b', { 'data-fact': 'Cycles' }, count(Math.round(f.cycles))), s.range.value ? 'cycles of the selected range' : 'cycles in view'),
      clock > 0 && h('div', {}, h('b', {}, duration(f.cycles / clock)), `at ${count(clock / 1e6)} MHz`),
      h('div', {}, h('b', { 'data-fact': 'Steps' }, count(f.steps)), 'steps'),
      s.bspStats && !t.hasCosts && absent('No figures by tile: this report does not say what each tile does.')),
    overflows(f.cycles) && h('p', { class: 'warning', role: 'alert' }, 'More cycles than a 32-bit counter holds: figures of single steps may have wrapped.'),
    t.runs.map((run) => run.fault !== undefined && h('p', { class: 'warning fault', role: 'alert' }, h('b', {}, nameOf(run.name), ' ended in an error: '), nameOf(asText(get(run.fault, 'message')) ?? ''))),
    !t.complete && h('p', { class: 'warning' }, 'The trace is not whole: which way a program branched is not known behind its end (debug.instrumentControlFlow), or it was too long.'),
    app.report.graph === undefined && h('p', { class: 'weak' }, 'This report has no graph profile: how many tiles an IPU has is not known, and all are shown as those of one.'),
    h('div', { class: 'cards' }, f.ipus.map((of, ipu) => (s.ipu < 0 || s.ipu === ipu) && ipuCard(of, ipu))),
    byName(t, s, a, b),
    limits(t),
    h('details', { class: 'more' }, h('summary', {}, 'The whole execution'), facts([
      ['Profiler mode', asText(get(app.report.execution, 'profilerMode')) ?? 'unknown'],
      ['Simulated cycles', count(t.cycles)],
      ...(['compute', 'activeCompute', 'doExchange', 'globalExchange', 'streamCopy', 'sync'] as const).map((key): [string, string] => {
        const v = asNumber(get(whole, key));
        return [`Tile-cycles: ${key}`, v === undefined ? 'not in this report' : count(v)];
      }),
    ])));
}

export function duration(seconds: number): string {
  /* What is rounded to three digits decides on the unit, so that there are never four; many seconds have as many digits as they have. */
  const three = Number(seconds.toPrecision(3)), of = three < 1e-6 ? [seconds * 1e9, 'ns'] : three < 1e-3 ? [seconds * 1e6, 'µs'] : three < 1 ? [seconds * 1e3, 'ms'] : [seconds, 's'];
  return `${three < 1000 ? (of[0] as number).toPrecision(3) : count(seconds)} ${of[1]}`;
}
