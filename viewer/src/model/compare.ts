/* What differs between two reports of a program: figures, bytes by category, cycles by name. */
import { asNumber, get } from './json';
import { byTile, categories, categoryLabel, categoryTotal, total } from './memory';
import type { Report } from './report';
import { isWhole, kindLabels, type Trace } from './trace';

export interface Side { report: Report; trace: Trace | undefined }
/* Undefined: a report does not say. */
export interface Pair { name: string; isBytes: boolean; before: number | undefined; after: number | undefined }

export function difference(p: Pair): number | undefined {
  return p.before === undefined || p.after === undefined ? undefined : p.after - p.before;
}

export function figuresOfBoth(a: Side, b: Side): Pair[] {
  const n = (of: Side, ...path: string[]): number | undefined => asNumber(get(of.report.graph, ...path));
  const memory = (of: Side): number[] => byTile(of.report, 'totalIncludingGaps');
  const most = (of: number[]): number | undefined => (of.length ? of.reduce((x, y) => Math.max(x, y)) : undefined);
  const sum = (of: number[]): number | undefined => (of.length ? total(of) : undefined);
  const both = (name: string, isBytes: boolean, value: (of: Side) => number | undefined): Pair => ({ name, isBytes, before: value(a), after: value(b) });
  return [
    both('Cycles', false, (of) => of.trace?.cycles),
    both('Memory of the fullest tile', true, (of) => most(memory(of))),
    both('Memory of all tiles', true, (of) => sum(memory(of))),
    both('Peak of what is live', true, (of) => n(of, 'memory', 'liveness', 'maxBytes')),
    both('Compute sets', false, (of) => n(of, 'graph', 'numComputeSets')), both('Vertices', false, (of) => n(of, 'graph', 'numVertices')),
    both('Variables', false, (of) => n(of, 'graph', 'numVars')), both('Edges', false, (of) => n(of, 'graph', 'numEdges')),
    both('Steps', false, (of) => of.trace?.steps.length),
  ].filter((p) => p.before !== undefined || p.after !== undefined);
}

export function categoriesOfBoth(a: Side, b: Side): Pair[] {
  const of = (s: Side, c: string): number | undefined => (get(s.report.graph, 'memory') === undefined ? undefined : total(categoryTotal(s.report, c)));
  return [...new Set([...categories(a.report), ...categories(b.report)])].map((c) => ({ name: categoryLabel(c), isBytes: true, before: of(a, c), after: of(b, c) }));
}

/* Cycles of all steps of a type and name; what is not in one trace has taken none there. */
export function namesOfBoth(a: Side, b: Side): Pair[] {
  if (!a.trace || !b.trace) return [];
  const known = new Map<string, Pair>();
  const take = (t: Trace, side: 'before' | 'after'): void => {
    for (const s of t.steps) {
      if (!isWhole(s.kind)) continue;
      const name = `${kindLabels[s.kind]} ${s.name}`;
      let p = known.get(name);
      if (!p) known.set(name, p = { name, isBytes: false, before: 0, after: 0 });
      p[side] = (p[side] as number) + s.cycles;
    }
  };
  take(a.trace, 'before');
  take(b.trace, 'after');
  return [...known.values()];
}

/* Live bytes at each step, with what is always live. */
export function liveBytes(r: Report): number[] {
  const live = get(r.graph, 'memory', 'liveness'), always = asNumber(get(live, 'alwaysLive', 'bytes')) ?? 0;
  const programs = get(live, 'programs');
  return Array.isArray(programs) ? programs.map((p) => always + (asNumber(get(p, 'bytes')) ?? 0)) : [];
}

/* Target less source, tile by tile. */
export function tileDifference(a: Report, b: Report): number[] {
  const before = byTile(a, 'totalIncludingGaps'), after = byTile(b, 'totalIncludingGaps');
  return Array.from({ length: Math.max(before.length, after.length) }, (_, i) => (after[i] ?? 0) - (before[i] ?? 0));
}
