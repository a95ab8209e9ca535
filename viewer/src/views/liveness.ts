/* Liveness report: what is in tile memory at each program step, and how long variables stay there. */
import { Kept, type App, type View } from '../app';
import { asList, asNumber, asNumbers, asTexts, get } from '../model/json';
import { categoryLabel, rowSums, table2 } from '../model/memory';
import type { Report } from '../model/report';
import { absent, h, nameOf, replace } from '../ui/dom';
import { bytes, count, signed } from '../ui/format';
import { menu } from '../ui/menu';
import { legend, plot, type Plot, type Series } from '../ui/plot';
import { split } from '../ui/split';
import { table } from '../ui/table';
import { tabs } from '../ui/tabs';

interface LiveStep { index: number; program: number; bytes: number; variables: number[]; name: string; type: string }
interface Live { names: string[]; categories: string[]; sizes: number[]; always: number[]; alwaysBytes: number; steps: LiveStep[]; most: number }

const lives = new WeakMap<Report, Live>();
export function liveOf(r: Report): Live | undefined {
  const raw = get(r.graph, 'memory', 'liveness'), known = lives.get(r);
  if (raw === undefined || known) return known;
  const made: Live = {
    names: asTexts(get(raw, 'variables', 'names')), categories: asTexts(get(raw, 'variables', 'categories')), sizes: asNumbers(get(raw, 'variables', 'bytes')),
    always: asNumbers(get(raw, 'alwaysLive', 'variables')), alwaysBytes: asNumber(get(raw, 'alwaysLive', 'bytes')) ?? 0, most: asNumber(get(raw, 'maxBytes')) ?? 0,
    steps: asList(get(raw, 'programs')).map((p, index) => {
      const program = asNumber(get(p, 'program')) ?? -1, of = r.programs[program];
      return { index, program, bytes: asNumber(get(p, 'bytes')) ?? 0, variables: asNumbers(get(p, 'variables')), name: of?.name ?? '', type: of?.type ?? '' };
    }),
  };
  lives.set(r, made);
  return made;
}

interface State { always: boolean; limit: boolean; filter: string; selected: number[]; life: number /* variable that is drawn, or -1 */; window: { from: number; to: number }; share: { value: number }; tab: string }
const kept = new Kept<Report, State>();

interface Variable { number: number; name: string; category: string; bytes: number }

function variableTable(live: Live, columns: [string, Set<number>][], name: string, draw: (variable: number) => void): HTMLElement {
  const all = new Set<number>();
  for (const [, of] of columns) for (const v of of) all.add(v);
  const rows = [...all].map((number): Variable => ({ number, name: live.names[number] ?? `variable ${number}`, category: live.categories[number] ?? '', bytes: live.sizes[number] ?? 0 }));
  const lifeOf = (v: Variable): HTMLElement => {
    const at = live.steps.map((s, i) => (s.variables.includes(v.number) ? i : -1)).filter((i) => i >= 0);
    return h('p', {}, live.always.includes(v.number) ? 'Always live.' : at.length ? `Live at ${count(at.length)} steps, from step ${at[0]} to step ${at[at.length - 1]}.` : 'Live at no step.',
      at.length > 0 && [' ', h('button', { class: 'small', onclick: () => draw(v.number) }, 'Draw in the graph')]);
  };
  const sum = (of: Set<number>): number => [...of].reduce((a, v) => a + (live.sizes[v] ?? 0), 0);
  return h('div', {}, h('p', { class: 'total' }, columns.map(([title, of]) => [`${title}: Total ${bytes(sum(of))}. `])),
    columns.length === 2 && h('p', { class: 'weak' }, `Difference: ${signed(sum((columns[1] as [string, Set<number>])[1]) - sum((columns[0] as [string, Set<number>])[1]), bytes)}`),
    table(rows, [
      { title: 'Variable', value: (v) => v.name }, { title: 'Category', value: (v) => categoryLabel(v.category) },
      ...(columns.length > 1 ? columns.map(([title, of]) => ({ title, value: (v: Variable) => (of.has(v.number) ? v.bytes : 0), format: bytes })) : [{ title: 'Bytes', value: (v: Variable) => v.bytes, format: bytes }]),
    ], { name, filter: true, sort: { column: 2, down: true }, expand: lifeOf }));
}

export const livenessView: View = {
  id: 'liveness', title: 'Liveness', icon: '◔', make: (app: App) => {
    const r = app.report, live = liveOf(r), c = app.choices;
    if (!live || !live.steps.length) return h('div', { class: 'view' }, absent('This report has no liveness: it is a part of the graph profile (autoReport.outputGraphProfile).'));
    const state = kept.of(r, c, (): State => ({
      always: c.flag('v.always', true), limit: c.flag('v.limit', false), filter: '', selected: [], life: -1, window: { from: 0, to: live.steps.length }, share: { value: 0.5 }, tab: 'Not Always Live',
    }));
    const host = h('div', { class: 'plothost' }), keys = h('div', {});
    let steps: LiveStep[] = live.steps, series: Series[] = [], drawn: Plot;
    const limit = r.target.bytesPerTile * r.target.numTiles;
    /* Where the variable is live, among the steps that are shown. */
    const spans = (): { from: number; to: number; name: string }[] => {
      const made: { from: number; to: number; name: string }[] = [];
      steps.forEach((p, x) => {
        if (!p.variables.includes(state.life)) return;
        const before = made[made.length - 1];
        if (before?.to === x) before.to = x + 1;
        else made.push({ from: x, to: x + 1, name: made.length ? '' : live.names[state.life] ?? '' });
      });
      return made;
    };
    const drawLife = (variable: number): void => {
      state.life = state.life === variable ? -1 : variable;
      drawn.redraw();
    };
    const rebuild = (): void => {
      const low = state.filter.toLowerCase();
      steps = low ? live.steps.filter((p) => p.name.toLowerCase().includes(low) || p.type.toLowerCase().includes(low)) : live.steps;
      if (state.window.to > steps.length || low) state.window = { from: 0, to: Math.max(1, steps.length) };
      series = [];
      if (state.always) series.push({ name: 'Always live', values: steps.map(() => live.alwaysBytes), colour: '#8ea2c8' });
      series.push({ name: 'Not always live', values: steps.map((p) => p.bytes), colour: '#508ffe' });
      drawn = plot(() => series, {
        label: 'Live bytes by program step', xName: 'program step', format: bytes, stacked: true, minimap: true, selected: () => state.selected, nameOf: (x) => String(steps[x]?.index ?? x), spans,
        line: state.limit ? { value: limit, name: `memory of all tiles: ${bytes(limit)}` } : undefined,
        describe: (x) => {
          const p = steps[x];
          if (!p) return [];
          const set = asNumber(get(r.programs[p.program]?.raw, 'computeSet'));
          return [`step ${p.index}: ${p.type} ${p.name}`, set === undefined ? `program ${p.program}` : `compute set ${set}`, `not always live ${bytes(p.bytes)}, always live ${bytes(live.alwaysBytes)}`];
        },
        onselect: (x, add) => {
          state.selected = add ? [...state.selected.filter((v) => v !== x), x].slice(-4) : [x];
          drawn.redraw();
          pages.refresh();
        },
      }, state.window);
      replace(host, steps.length ? drawn.element : absent('No step is called so.'));
      replace(keys, legend(series, () => drawn.redraw()));
    };
    const chosen = (): [string, LiveStep][] => {
      const of = state.selected.map((x): [string, LiveStep | undefined] => [`Step ${steps[x]?.index ?? x}`, steps[x]]).filter((p): p is [string, LiveStep] => p[1] !== undefined);
      if (of.length) return of;
      const peak = live.steps.reduce((a, b) => (b.bytes > a.bytes ? b : a));
      return [['At the peak', peak]];
    };
    const stack = (): HTMLElement => h('div', { class: 'stack' }, state.selected.length ? chosen().map(([title, p]) => h('p', {}, h('b', {}, `${title}: `), `${p.type} `, p.name ? p.name.split('/').map((part, i) => [i > 0 && ' › ', nameOf(part)]) : '', `, not always live ${bytes(p.bytes)}`)) : absent('Please select a step in the graph; until then this is the peak.'));
    const vertices = (): HTMLElement => {
      const p = (chosen()[0] as [string, LiveStep])[1], set = asNumber(get(r.programs[p.program]?.raw, 'computeSet'));
      if (set === undefined) return absent('Please select a step that executes a compute set (OnTileExecute).');
      const names = asTexts(get(r.graph, 'vertexTypes', 'names')), types = table2(get(r.graph, 'computeSets', 'vertexTypes'))[set] ?? [], counts = table2(get(r.graph, 'computeSets', 'vertexCounts'))[set] ?? [];
      return table(types.map((t, i) => ({ name: names[t] ?? `type ${t}`, count: counts[i] ?? 0 })), [
        { title: 'Vertex type', value: (x) => x.name }, { title: 'Instances', value: (x) => x.count, format: count }], { name: 'vertices', filter: true });
    };
    const estimates = (): HTMLElement => {
      const raw = get(r.graph, 'computeSets', 'cycleEstimates', 'cyclesByTile'), by = asList(raw), sums = rowSums(raw);
      if (!by.length) return absent('This report has no cycle estimates: they are those of an IPU Model, or with profiler.includeCycleEstimates.');
      const names = asTexts(get(r.graph, 'computeSets', 'names'));
      return table(by.map((row, i) => ({ name: names[i] ?? '', most: asNumbers(row).reduce((a, b) => Math.max(a, b), 0), sum: sums[i] ?? 0 })), [
        { title: 'Compute set', value: (x) => x.name }, { title: 'Slowest tile', value: (x) => x.most, format: count }, { title: 'All tiles', value: (x) => x.sum, format: count }],
      { name: 'cycle estimates', filter: true, sort: { column: 1, down: true } });
    };
    rebuild(); /* what is below is of the steps that the filter finds */
    const pages = tabs('Liveness', [
      { title: 'Not Always Live', make: () => h('div', {}, stack(), variableTable(live, chosen().map(([t, p]) => [t, new Set(p.variables)]), 'not always live variables', drawLife)) },
      { title: 'Always Live', make: () => variableTable(live, [['Always', new Set(live.always)]], 'always live variables', drawLife) },
      { title: 'Vertices', make: vertices }, { title: 'Cycle Estimates', make: estimates },
    ], state.tab, (title) => { state.tab = title; });
    const box = h('input', {
      type: 'search', placeholder: 'Filter steps', 'aria-label': 'Filter steps', value: state.filter,
      oninput: () => { state.filter = box.value; state.selected = []; rebuild(); pages.refresh(); },
    });
    return h('div', { class: 'view' }, h('div', { class: 'toolbar' }, box,
      h('span', { class: 'weak', title: 'The profile has the liveness of all tiles together' }, 'Source: all tiles'), h('span', {}, `peak ${bytes(live.most)}`), h('span', { class: 'grow' }),
      menu(() => 'Options', [
        { label: 'Include Always Live', kind: 'check', on: () => state.always, set: (on) => { state.always = on; c.set('v.always', on); } },
        { label: 'Show Max Memory', kind: 'check', on: () => state.limit, set: (on) => { state.limit = on; c.set('v.limit', on); } },
      ], rebuild)), split(h('div', { class: 'above' }, host, keys), h('div', { class: 'below' }, pages.element), state.share, () => drawn.redraw()));
  },
};
