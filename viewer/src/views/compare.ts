/* Two reports of a program beside each other: source (the first) and target (the second). */
import type { App, View } from '../app';
import { categoriesOfBoth, difference, figuresOfBoth, liveBytes, namesOfBoth, tileDifference, type Pair } from '../model/compare';
import { byTile } from '../model/memory';
import { absent, h, nameOf } from '../ui/dom';
import { bytes, count, share, signed } from '../ui/format';
import { menu } from '../ui/menu';
import { legend, plot, type Series } from '../ui/plot';
import { facts, table } from '../ui/table';
import { tabs } from '../ui/tabs';
import { traceView } from './trace';

const sourceColour = '#8ea2c8', targetColour = '#f66271';
const unsaid = 'not in this report';

const amount = (p: Pair, value: number | undefined): string => (value === undefined ? unsaid : p.isBytes ? bytes(value) : count(value));

function mood(p: Pair): 'good' | 'bad' | '' {
  const by = difference(p) ?? 0;
  return by > 0 ? 'bad' : by < 0 ? 'good' : '';
}

function percent(p: Pair): string {
  const by = difference(p);
  if (by === undefined) return '';
  return p.before ? signed(by / p.before, share) : p.after ? 'new' : '0.0%';
}

function pairs(rows: Pair[], name: string, what: string, byDifference: boolean): HTMLElement {
  return table(rows, [
    { title: what, value: (p) => p.name },
    { title: 'Source', value: (p) => p.before ?? NaN, text: (p) => amount(p, p.before) },
    { title: 'Target', value: (p) => p.after ?? NaN, text: (p) => amount(p, p.after) },
    { title: 'Difference', value: (p) => difference(p) ?? NaN, text: (p) => { const by = difference(p); return by === undefined ? '' : signed(by, (v) => (p.isBytes ? bytes(v) : count(v))); }, mood },
    { title: '%', value: (p) => (p.before ? (difference(p) ?? NaN) / p.before * 100 : p.after ? Infinity : 0), text: percent, mood, tip: 'Of the source' },
  ], { name, filter: rows.length > 12, ...(byDifference ? { sort: { column: 3, down: true } } : {}) });
}

function figures(a: App, b: App): HTMLElement {
  const names = namesOfBoth(a, b);
  return h('div', { class: 'scrolls' }, h('div', { class: 'cards' },
    h('section', { class: 'card' }, h('h2', {}, 'Reports'), facts([
      ['Source', nameOf(a.report.name)], ['Written', a.report.written || unsaid], ['Target', nameOf(b.report.name)], ['Written', b.report.written || unsaid],
    ])),
    h('section', { class: 'card' }, h('h2', {}, 'The whole'), pairs(figuresOfBoth(a, b), 'figures of both reports', 'Figure', false))),
  h('h2', {}, 'Cycles by name'), names.length ? pairs(names, 'cycles by name in both reports', 'Steps', true) : absent('One of the reports has no detailed execution trace.'),
  h('h2', {}, 'Bytes by category'), pairs(categoriesOfBoth(a, b).filter((p) => p.before || p.after), 'bytes by category in both reports', 'Category', true));
}

function lines(a: number[], b: number[]): Series[] {
  return [{ name: 'Source', values: a, colour: sourceColour }, { name: 'Target', values: b, colour: targetColour }];
}

/* Two series in one plot, or each in its own. */
function both(series: Series[], label: string, xName: string, merged: boolean): HTMLElement {
  const one = (of: Series[], name: string): HTMLElement => {
    const made = plot(() => of, { label: name, xName, format: bytes, stacked: false, minimap: true, describe: (x) => [`${xName} ${x}`, ...of.map((s) => `${s.name}: ${bytes(s.values[x] ?? 0)}`)] });
    return h('div', {}, made.element, legend(of, () => made.redraw()));
  };
  return merged ? one(series, label) : h('div', {}, series.map((s) => [h('h4', {}, s.name), one([s], `${label}: ${s.name}`)]));
}

function memory(a: App, b: App): HTMLElement {
  const before = byTile(a.report, 'totalIncludingGaps'), after = byTile(b.report, 'totalIncludingGaps');
  if (!before.length || !after.length) return absent('One of the reports has no graph profile: autoReport.outputGraphProfile writes one.');
  const by = tileDifference(a.report, b.report);
  const rows = by.map((d, tile) => ({ tile, before: before[tile] ?? 0, after: after[tile] ?? 0, d })).filter((r) => r.d !== 0);
  return h('div', { class: 'scrolls' }, h('h2', {}, 'Memory of each tile, including gaps'), both(lines(before, after), 'Memory of each tile in both reports', 'tile', true),
    h('h2', {}, 'Tiles that differ'), rows.length ? table(rows, [
      { title: 'Tile', value: (r) => r.tile, format: count }, { title: 'Source', value: (r) => r.before, format: bytes }, { title: 'Target', value: (r) => r.after, format: bytes },
      { title: 'Difference', value: (r) => r.d, text: (r) => signed(r.d, bytes), mood: (r) => (r.d > 0 ? 'bad' : 'good') },
    ], { name: 'tiles that differ', sort: { column: 3, down: true } }) : absent('All tiles need as much as before.'));
}

function liveness(a: App, b: App, merged: boolean): HTMLElement {
  const before = liveBytes(a.report), after = liveBytes(b.report);
  if (!before.length || !after.length) return absent('One of the reports has no liveness.');
  return h('div', { class: 'scrolls' }, h('h2', {}, 'What is live at each program step'), both(lines(before, after), 'Live bytes by program step in both reports', 'program step', merged));
}

function traces(a: App, b: App, beside: boolean): HTMLElement {
  return h('div', { class: beside ? 'beside' : 'stacked' }, [a, b].map((app, i) =>
    h('section', { class: 'one', 'aria-label': i ? 'Target' : 'Source' }, h('h3', {}, i ? 'Target: ' : 'Source: ', nameOf(app.report.name)), traceView.make(app))));
}

export const compareView: View = {
  id: 'compare', title: 'Compare', icon: '⇄', make: (app) => {
    const [a, b] = app.apps as [App, App], c = a.choices;
    const beside = (): boolean => c.text('c.layout', 'beside') === 'beside', merged = (): boolean => c.text('c.live', 'merged') === 'merged';
    const pages = tabs('Comparison', [
      { title: 'Figures', make: () => figures(a, b) }, { title: 'Memory', make: () => memory(a, b) },
      { title: 'Liveness', make: () => liveness(a, b, merged()) }, { title: 'Execution Trace', make: () => traces(a, b, beside()) },
    ], c.text('c.tab', 'Figures'), (title) => c.set('c.tab', title));
    const layout = menu(() => 'Change Layout', [
      { label: 'Side by side', kind: 'radio', tip: 'Execution traces beside each other', on: beside, set: () => c.set('c.layout', undefined) },
      { label: 'One above the other', kind: 'radio', on: () => !beside(), set: () => c.set('c.layout', 'stacked') }, 'line',
      { label: 'Liveness in one graph', kind: 'radio', on: merged, set: () => c.set('c.live', undefined) },
      { label: 'Liveness in two graphs', kind: 'radio', on: () => !merged(), set: () => c.set('c.live', 'separate') },
    ], () => pages.refresh());
    return h('div', { class: 'view compare' }, h('div', { class: 'toolbar' }, h('span', { class: 'grow' }), layout), pages.element);
  },
};
