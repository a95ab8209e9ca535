/* Operations: layers of names with the memory and cycles of all that is done below them. */
import type { App, View } from '../app';
import { asNumber, get } from '../model/json';
import { rowSums } from '../model/memory';
import { isWhole, kindLabels, pathOf, type Step } from '../model/trace';
import { absent, h, nameOf, replace } from '../ui/dom';
import { bytes, count } from '../ui/format';
import { menu } from '../ui/menu';
import { split } from '../ui/split';
import { facts, table } from '../ui/table';
import { tabs } from '../ui/tabs';

interface Operation { name: string; path: string; programs: number[]; code: number; state: number; cycles: number; steps: Step[]; flops: number }

/* One for each name down to the layer. */
export function operationsOf(app: App, layer: number): Operation[] {
  const r = app.report, found = new Map<string, Operation>();
  const code = rowSums(get(r.graph, 'memory', 'byComputeSet', 'codeBytes')), all = rowSums(get(r.graph, 'memory', 'byComputeSet', 'totalBytes'));
  const flops = rowSums(get(r.graph, 'computeSets', 'flopEstimates', 'flopsByTile'));
  const stepsOf = new Map<number, Step[]>(), counted = new Set<string>(); /* compute sets and exchanges whose memory an operation has */
  for (const s of app.trace?.steps ?? []) {
    if (!isWhole(s.kind) || s.program < 0) continue;
    const list = stepsOf.get(s.program);
    if (list) list.push(s);
    else stepsOf.set(s.program, [s]);
  }
  r.programs.forEach((p, i) => {
    if (p.children.length || !p.name || !['OnTileExecute', 'DoExchange', 'GlobalExchange', 'StreamCopy'].includes(p.type)) return;
    const parts = pathOf(p.name).slice(0, layer + 1), path = parts.join('/');
    let of = found.get(path);
    if (!of) found.set(path, of = { name: parts[parts.length - 1] ?? p.name, path, programs: [], code: 0, state: 0, cycles: 0, steps: [], flops: 0 });
    of.programs.push(i);
    const set = asNumber(get(p.raw, 'computeSet')), thing = `${path}/${p.type} ${set ?? asNumber(get(p.raw, 'exchange')) ?? -1}`, isKnown = counted.has(thing);
    counted.add(thing);
    if (set !== undefined) of.flops += flops[set] ?? 0;
    /* Their memory is there once, however many programs use them. */
    if (!isKnown && set !== undefined) {
      of.code += code[set] ?? 0;
      of.state += (all[set] ?? 0) - (code[set] ?? 0);
    } else if (!isKnown) of.code += asNumber(get(p.raw, 'memoryByInstruction', 'total')) ?? 0;
    for (const s of stepsOf.get(i) ?? []) {
      of.steps.push(s);
      of.cycles += s.to - s.from;
    }
  });
  return [...found.values()];
}

export const operationsView: View = {
  id: 'operations', title: 'Operations', icon: '⚙', make: (app) => {
    const r = app.report;
    if (!r.programs.length) return h('div', { class: 'view' }, absent('This report has no programs: they are a part of the graph profile.'));
    let deepest = 1;
    for (const p of r.programs) deepest = Math.max(deepest, pathOf(p.name).length);
    let layer = 0, chosen: Operation | undefined;
    const hasFlops = get(r.graph, 'computeSets', 'flopEstimates') !== undefined;
    const top = h('div', { class: 'above padded' });
    const known = new Map<number, Operation[]>();
    const operations = (): Operation[] => {
      let made = known.get(layer);
      if (!made) known.set(layer, made = operationsOf(app, layer));
      return made;
    };
    const sum = (): Operation => {
      const all = operations();
      return { name: 'All operations', path: '', programs: all.flatMap((o) => o.programs), steps: all.flatMap((o) => o.steps), code: 0, state: 0, cycles: all.reduce((a, o) => a + o.cycles, 0), flops: all.reduce((a, o) => a + o.flops, 0) };
    };
    const of = (): Operation => chosen ?? sum();
    const pages = tabs('Operation', [
      { title: 'Summary', make: () => {
        const o = of();
        return h('section', {}, h('h3', {}, nameOf(o.name)), facts([
          ['Debug name', o.path ? nameOf(o.path) : 'all'], ['Programs', count(o.programs.length)], ['Steps executed', app.trace ? count(o.steps.length) : 'no execution trace'],
          ['Cycles', app.trace ? count(o.cycles) : 'no execution trace'], ['FLOPs', hasFlops ? count(o.flops) : 'not in this report: profiler.includeFlopEstimates'],
        ]));
      } },
      { title: 'Program Tree', make: () => table(of().programs.map((n) => ({ n, p: r.programs[n] })), [
        { title: 'Program', value: (x) => x.n }, { title: 'Type', value: (x) => x.p?.type ?? '' }, { title: 'Name', value: (x) => x.p?.name ?? '' },
      ], { name: 'programs of the operation', filter: true, onselect: (x) => { app.choices.set('p.step', x.n); app.go('programs'); } }) },
      { title: 'Code', make: () => {
        const sums = rowSums(get(r.graph, 'memory', 'byComputeSet', 'codeBytes'));
        const rows = of().programs.map((n) => {
          const p = r.programs[n], set = asNumber(get(p?.raw, 'computeSet'));
          return { name: p?.name ?? '', type: p?.type ?? '', bytes: set === undefined ? asNumber(get(p?.raw, 'memoryByInstruction', 'total')) ?? 0 : sums[set] ?? 0 };
        });
        return table(rows, [{ title: 'Name', value: (x) => x.name }, { title: 'Type', value: (x) => x.type }, { title: 'Code', value: (x) => x.bytes, format: bytes, tip: 'Of all tiles' }], { name: 'code', sort: { column: 2, down: true } });
      } },
      { title: 'Cycles', make: () => app.trace ? table(of().steps, [
        { title: 'Step', value: (s) => s.index }, { title: 'Type', value: (s) => kindLabels[s.kind] }, { title: 'Name', value: (s) => s.name }, { title: 'Cycles', value: (s) => s.to - s.from, format: count },
      ], { name: 'cycles', filter: true, sort: { column: 3, down: true }, onselect: (s) => { app.choices.set('t.step', s.index); app.choices.set('t.tab', 'Details'); app.go('trace'); } }) : absent('This report has no execution trace.') },
    ], 'Summary');
    const draw = (): void => replace(top, table(operations(), [
      { title: 'Operation Name', value: (o) => o.name }, { title: 'Debug Name', value: (o) => o.path }, { title: 'Code Size', value: (o) => o.code, format: bytes, tip: 'Of all tiles' },
      { title: 'Vertex State', value: (o) => o.state, format: bytes }, { title: 'Cycles', value: (o) => o.cycles, format: count, tip: 'Of the trace' }, { title: 'Programs', value: (o) => o.programs.length, format: count },
      ...(hasFlops ? [{ title: 'FLOPs', value: (o: Operation) => o.flops, format: count }] : []),
    ], {
      name: 'operations', filter: true, sort: { column: 4, down: true }, selected: (o) => o.path === chosen?.path,
      onselect: (o) => { chosen = chosen?.path === o.path ? undefined : o; pages.refresh(); },
    }));
    draw();
    return h('div', { class: 'view' }, h('div', { class: 'toolbar' }, menu(() => `Layer: ${layer + 1} of ${deepest}`, Array.from({ length: Math.min(deepest, 16) }, (_, i) => ({
      label: `Layer ${i + 1}`, kind: 'radio' as const, on: () => layer === i, set: () => { layer = i; chosen = undefined; },
    })), () => { draw(); pages.refresh(); })), split(top, h('div', { class: 'below' }, pages.element), { value: 0.5 }, () => undefined));
  },
};
