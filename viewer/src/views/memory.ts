/* Memory report: how much of each tile is used, and for what. */
import { Kept, type App, type View } from '../app';
import { asList, asNumber, asNumbers, asText, asTexts, get } from '../model/json';
import { byTile, categories, categoryLabel, categoryPart, mostTiles, placedOn, regionLabels, regions, rowSums, table2, tilesOf, total, type Placed } from '../model/memory';
import { computeSetName, type Report } from '../model/report';
import { seriesColour } from '../ui/colours';
import { absent, fill, h, replace, shown } from '../ui/dom';
import { bytes, count } from '../ui/format';
import { menu } from '../ui/menu';
import { legend, plot, type Plot, type Series } from '../ui/plot';
import { split } from '../ui/split';
import { table } from '../ui/table';
import { tileMap } from '../ui/tile_map';
import { tabs } from '../ui/tabs';
import { vertexCode } from './code';

interface State {
  graph: 'total' | 'variables' | 'map'; breakdown: 'none' | 'region' | 'category'; gaps: boolean; limit: boolean; tiles: number[];
  variables: number[]; window: { from: number; to: number }; share: { value: number }; tab: string; map: boolean;
}

const graphs = ['total', 'variables', 'map'] as const, breakdowns = ['none', 'region', 'category'] as const;
const kept = new Kept<Report, State>();

function seriesOf(r: Report, s: State): Series[] {
  if (s.graph === 'variables') return variableSeries(r, s);
  if (s.breakdown === 'region') return regions.map((region) => ({ name: regionLabels[region], values: byTile(r, s.gaps ? `${region}IncludingGaps` : region) }));
  if (s.breakdown === 'category') {
    const all = categories(r).map((c) => ({ name: categoryLabel(c), values: categoryPart(r, c, 'nonOverlapped') })).filter((one) => one.values.some((v) => v > 0));
    const used = byTile(r, 'total'), alone = new Array<number>(used.length).fill(0);
    for (const one of all) one.values.forEach((v, i) => { alone[i] = (alone[i] ?? 0) + v; });
    const shared = used.map((v, i) => Math.max(0, v - (alone[i] ?? 0)));
    const made: Series[] = all;
    if (shared.some((v) => v > 0)) made.push({ name: 'Overlapped', values: shared });
    if (s.gaps) made.push({ name: 'Gaps', values: byTile(r, 'totalIncludingGaps').map((v, i) => v - (used[i] ?? 0)), colour: '#9a9a9a' });
    return made;
  }
  return [{ name: s.gaps ? 'Tile memory, with gaps' : 'Tile memory (w/o gaps)', values: byTile(r, s.gaps ? 'totalIncludingGaps' : 'total') }];
}

/* Variables of vars.json, largest first: how many tiles have a part of each, and how much. Of several parts on a tile the sum counts. */
interface Sized { name: string; bytes: number; tiles: number; most: number /* on one tile */ }
const variableIndex = new WeakMap<Report, Sized[]>();
function sizedVariables(r: Report): Sized[] {
  const known = variableIndex.get(r);
  if (known) return known;
  interface Open extends Sized { tile: number; here: number } /* the tile that is being read, and its part so far */
  const found = new Map<string, Open>();
  for (const of of asList(get(r.vars, 'tiles'))) {
    const tile = asNumber(get(of, 'tile')) ?? 0;
    for (const raw of asList(get(of, 'variables'))) {
      const name = asText(get(raw, 'name')) ?? '', size = asNumber(get(raw, 'bytes')) ?? 0;
      let v = found.get(name);
      if (!v) found.set(name, v = { name, bytes: 0, tiles: 0, most: 0, tile: -1, here: 0 });
      if (v.tile !== tile) {
        v.tile = tile;
        v.here = 0;
        v.tiles++;
      }
      v.bytes += size;
      v.here += size;
      if (v.here > v.most) v.most = v.here;
    }
  }
  const made = [...found.values()].sort((a, b) => b.bytes - a.bytes);
  variableIndex.set(r, made);
  return made;
}

function variableSeries(r: Report, s: State): Series[] {
  const all = sizedVariables(r), wanted = new Map<string, number[]>();
  for (const n of s.variables) if (all[n]) wanted.set(all[n].name, new Array<number>(r.target.numTiles).fill(0));
  for (const of of asList(get(r.vars, 'tiles'))) {
    const tile = asNumber(get(of, 'tile')) ?? 0;
    for (const raw of asList(get(of, 'variables'))) {
      const values = wanted.get(asText(get(raw, 'name')) ?? '');
      if (values && tile < values.length) values[tile] = (values[tile] as number) + (asNumber(get(raw, 'bytes')) ?? 0);
    }
  }
  return [...wanted].map(([name, values]) => ({ name, values }));
}

/* ---- below the graph ---- */

interface Line { label: string; depth: number; of: (tiles: number[] | undefined) => number; head?: boolean }

function lines(r: Report): Line[] {
  const made: Line[] = [];
  const add = (label: string, depth: number, values: number[], head = false): void => void made.push({ label, depth, head, of: (t) => total(values, t) });
  const used = byTile(r, 'total'), alone = new Array<number>(used.length).fill(0);
  add('Including gaps', 0, byTile(r, 'totalIncludingGaps'), true);
  add('Excluding gaps', 0, used, true);
  made.push({ label: 'By memory region', depth: 1, of: () => NaN, head: true });
  for (const region of regions) add(regionLabels[region], 2, byTile(r, region));
  made.push({ label: 'By data type', depth: 1, of: () => NaN, head: true });
  for (const part of ['nonOverlapped', 'overlapped'] as const) {
    const sum = new Array<number>(used.length).fill(0), rows: [string, number[]][] = [];
    for (const c of categories(r)) {
      const values = categoryPart(r, c, part);
      if (!values.some((v) => v > 0)) continue;
      rows.push([categoryLabel(c), values]);
      values.forEach((v, i) => { sum[i] = (sum[i] ?? 0) + v; });
    }
    add(part === 'nonOverlapped' ? 'Not overlapped' : 'Overlapped', 2, sum, true);
    for (const [label, values] of rows) add(label, 3, values);
    if (part === 'nonOverlapped') sum.forEach((v, i) => { alone[i] = v; });
  }
  add('Total after overlapping', 2, used.map((v, i) => v - (alone[i] ?? 0)));
  const parts: [string, string][] = [['vertexDataBytes', 'Internal vertex state'], ['edgePtrBytes', 'Edge pointers'], ['copyPtrBytes', 'Copy pointers'], ['paddingBytes', 'Padding'], ['descriptorBytes', 'Descriptors'], ['codeBytes', 'Code']];
  made.push({ label: 'Vertex data by category', depth: 1, of: () => NaN, head: true });
  for (const [key, label] of parts) {
    const by = table2(get(r.graph, 'memory', 'byVertexType', key));
    made.push({ label, depth: 2, of: (t) => by.reduce((sum, row) => sum + total(row, t), 0) });
  }
  made.push({ label: 'Vertex data by type', depth: 1, of: () => NaN, head: true });
  const byType = table2(get(r.graph, 'memory', 'byVertexType', 'totalBytes'));
  asTexts(get(r.graph, 'vertexTypes', 'names')).forEach((name, i) => {
    const row = byType[i] ?? [];
    if (total(row) > 0) made.push({ label: name, depth: 2, of: (t) => total(row, t) });
  });
  return made;
}

function details(app: App, s: State): HTMLElement {
  const r = app.report, columns: [string, number[] | undefined][] = s.tiles.length ? s.tiles.map((t) => [`Tile ${t}`, [t]]) : [['All tiles', undefined]];
  const body = h('tbody');
  fill(body, lines(r), (line) => h('tr', { class: line.head ? 'head' : undefined, 'data-line': line.label },
    h('td', { class: `depth${line.depth}` }, shown(line.label)), columns.map(([, tiles]) => {
      const v = line.of(tiles);
      return h('td', { class: 'number', title: Number.isNaN(v) ? undefined : `${count(v)} B` }, Number.isNaN(v) ? '' : bytes(v));
    })));
  return h('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Memory' }, s.tiles.length > 0 && h('p', { class: 'weak' }, 'The physical number of a tile is its number: the software IPU has no other place for it.'),
    h('table', { class: 'tree', 'aria-label': 'Memory details' },
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, s.tiles.length ? 'Memory of the selected tiles' : 'Memory of all tiles'), columns.map(([title]) => h('th', { scope: 'col', class: 'number' }, title)))),
      body));
}

function vertices(app: App, tiles: number[] | undefined): HTMLElement {
  const r = app.report, names = asTexts(get(r.graph, 'vertexTypes', 'names')), size = asNumbers(get(r.graph, 'vertexTypes', 'sizes'));
  const col = (key: string): number[] => rowSums(get(r.graph, 'memory', 'byVertexType', key), tiles);
  const code = col('codeBytes'), all = col('totalBytes');
  return table(names.map((name, i) => ({ name, size: size[i] ?? 0, code: code[i] ?? 0, all: all[i] ?? 0 })), [
    { title: 'Vertex type', value: (x) => x.name }, { title: 'Size of one', value: (x) => x.size, format: bytes },
    { title: 'State', value: (x) => x.all - x.code, format: bytes }, { title: 'Code', value: (x) => x.code, format: bytes }, { title: 'Total', value: (x) => x.all, format: bytes },
  ], { name: 'vertices', filter: true, sort: { column: 4, down: true }, expand: (x) => vertexCode(app, x.name) });
}

function computeSets(r: Report, tiles: number[] | undefined): HTMLElement {
  const by = rowSums(get(r.graph, 'memory', 'byComputeSet', 'totalBytes'), tiles), code = rowSums(get(r.graph, 'memory', 'byComputeSet', 'codeBytes'), tiles);
  const instances = rowSums(get(r.graph, 'computeSets', 'vertexCounts')), types = table2(get(r.graph, 'computeSets', 'vertexTypes'));
  const names = asTexts(get(r.graph, 'vertexTypes', 'names'));
  return table(by.map((sum, i) => ({
    name: computeSetName(r, i), bytes: sum, code: code[i] ?? 0, instances: instances[i] ?? 0,
    types: (types[i] ?? []).map((t) => names[t] ?? `type ${t}`).join(', '),
  })), [
    { title: 'Compute set', value: (x) => x.name }, { title: 'Size', value: (x) => x.bytes, format: bytes }, { title: 'of which code', value: (x) => x.code, format: bytes },
    { title: 'Instances', value: (x) => x.instances, format: count }, { title: 'Vertices', value: (x) => x.types },
  ], { name: 'compute sets', filter: true, sort: { column: 1, down: true } });
}

function exchanges(r: Report, tiles: number[] | undefined): HTMLElement {
  interface Row { name: string; kind: string; received: number; sent: number; code: number }
  const rows: Row[] = [], codes = new Map<number, number>();
  for (const p of r.programs) if (p.type === 'DoExchange') codes.set(asNumber(get(p.raw, 'exchange')) ?? -1, asNumber(get(p.raw, 'memoryByInstruction', 'total')) ?? 0);
  for (const [key, kind] of [['exchanges', 'Internal'], ['externalExchanges', 'Global'], ['hostExchanges', 'Host']] as const) {
    const received = rowSums(get(r.graph, key, 'bytesReceivedByTile'), tiles), sent = rowSums(get(r.graph, key, 'bytesSentByTile'), tiles);
    asTexts(get(r.graph, key, 'names')).forEach((name, i) => rows.push({
      name, kind, received: received[i] ?? 0, sent: sent[i] ?? 0, code: key === 'exchanges' ? codes.get(i) ?? NaN : NaN,
    }));
  }
  return table(rows, [
    { title: 'Exchange', value: (x) => x.name }, { title: 'Kind', value: (x) => x.kind }, { title: 'Received', value: (x) => x.received, format: bytes },
    { title: 'Transmitted', value: (x) => x.sent, format: bytes }, { title: 'Code', value: (x) => x.code, format: bytes, tip: 'Of all tiles; for exchanges between tiles of an IPU' },
  ], { name: 'exchanges', filter: true, sort: { column: 2, down: true } });
}

/* A tile's memory by address: a block for each thing, empty where there is a gap. */
function memoryMap(r: Report, tile: number, list: Placed[]): HTMLElement {
  const base = asNumber(get(r.vars, 'memoryBase')) ?? 0, end = list.reduce((most, v) => Math.max(most, v.address + v.bytes), base + 1); /* what begins last may lie inside another */
  const kinds = [...new Set(list.map((v) => v.category))];
  const strip = h('div', { class: 'map', role: 'img', 'aria-label': `Memory of tile ${tile} by address` }, list.map((v) => {
    const b = h('span', { title: `${shown(v.name)}\n${categoryLabel(v.category)}\n0x${v.address.toString(16)} – 0x${(v.address + v.bytes).toString(16)} (${count(v.bytes)} B)` });
    b.style.left = `${(v.address - base) / (end - base) * 100}%`;
    b.style.width = `${Math.max(0.05, v.bytes / (end - base) * 100)}%`;
    b.style.background = seriesColour(kinds.indexOf(v.category));
    return b;
  }));
  return h('div', {}, h('h4', {}, `Tile ${tile}, 0x${base.toString(16)} – 0x${end.toString(16)}`), strip, h('div', { class: 'legend' }, kinds.map((k, i) => {
    const box = h('span', { class: 'box' });
    box.style.background = seriesColour(i);
    return h('span', {}, box, categoryLabel(k));
  })));
}

function variablesTab(r: Report, s: State, again: () => void): HTMLElement {
  if (r.vars === undefined) return absent('Variables and their addresses are in vars.json, which autoReport.outputLoweredVars writes; it is not in this report.');
  const pick = h('div', { class: 'tools' }, ['table', 'map'].map((kind) => h('button', {
    'aria-pressed': String((kind === 'map') === s.map), onclick: () => { s.map = kind === 'map'; again(); },
  }, kind === 'map' ? 'Memory map' : 'Table')));
  if (!s.tiles.length) {
    if (s.map) return h('div', {}, pick, absent('Please select a tile in the graph above, or type its number.'));
    const all = sizedVariables(r);
    return h('div', {}, pick, table(all, [
      { title: 'Variable', value: (x) => x.name }, { title: 'Bytes', value: (x) => x.bytes, format: bytes }, { title: 'Tiles', value: (x) => x.tiles, format: count },
      { title: 'Largest share', value: (x) => x.most, format: bytes, tip: 'Most bytes of it on one tile' },
    ], { name: 'variables', filter: true, sort: { column: 1, down: true } }));
  }
  return h('div', {}, pick, s.tiles.map((tile) => {
    const list = placedOn(r, tile);
    if (!list) return absent(`Tile ${tile} is not in vars.json.`);
    return s.map ? memoryMap(r, tile, list) : h('div', { class: 'oftile' }, h('h4', {}, `Tile ${tile}`), table(list, [
      { title: 'Variable', value: (x) => x.name }, { title: 'Category', value: (x) => categoryLabel(x.category) },
      { title: 'Address', value: (x) => x.address, format: (v) => `0x${v.toString(16)}` }, { title: 'Bytes', value: (x) => x.bytes, format: count },
    ], { name: `variables of tile ${tile}`, filter: true }));
  }));
}

export const memoryView: View = {
  id: 'memory', title: 'Memory', icon: '▥', make: (app) => {
    const r = app.report, c = app.choices, n = byTile(r, 'total').length;
    if (!n) return h('div', { class: 'view' }, absent('This report has no graph profile: autoReport.outputGraphProfile writes one.'));
    const state = kept.of(r, c, (): State => ({
      graph: graphs.find((g) => g === c.text('m.graph')) ?? 'total', breakdown: breakdowns.find((b) => b === c.text('m.by')) ?? 'none', gaps: c.flag('m.gaps', false), limit: c.flag('m.limit', false),
      tiles: tilesOf(c.text('m.tiles'), n), variables: [0, 1, 2], window: { from: 0, to: n }, share: { value: 0.5 }, tab: 'Details', map: false,
    }));
    const keys = h('div', {}), host = h('div', { class: 'plothost' });
    let series: Series[] = [], drawn: Plot;
    const tilesBox = h('input', {
      type: 'text', value: state.tiles.join(', '), placeholder: '1 or 0, 5-7', 'aria-label': 'Select tiles', title: 'Numbers of tiles with commas between them; or click in the graph, with Shift for more than one',
      oninput: () => {
        choose(tilesOf(tilesBox.value, n), false);
        const all = tilesOf(tilesBox.value, n, Infinity).length;
        if (all > mostTiles) left.textContent = `the first ${mostTiles} of these ${count(all)} tiles`;
      },
    });
    const left = h('span', { class: 'weak', role: 'status' }); /* what was typed and is not selected */
    const choose = (tiles: number[], write = true): void => {
      state.tiles = tiles;
      left.textContent = '';
      if (write) tilesBox.value = tiles.join(', ');
      c.set('m.tiles', tiles.join(','));
      drawn.redraw();
      pages.refresh();
    };
    const rebuild = (): void => {
      series = seriesOf(r, state);
      const fullest = series.reduce((sums, s) => sums.map((v, i) => v + (s.values[i] ?? 0)), new Array<number>(n).fill(0)).reduce((a, b) => Math.max(a, b), 0);
      const onselect = (x: number, add: boolean): void => choose(add ? (state.tiles.includes(x) ? state.tiles.filter((t) => t !== x) : [...state.tiles, x]) : [x]);
      drawn = state.graph === 'map' ? tileMap(() => series, { tilesPerIpu: r.target.tilesPerIpu, whole: () => state.limit ? r.target.bytesPerTile : fullest, format: bytes, selected: () => state.tiles, onselect })
        : plot(() => series, {
          label: 'Memory by tile', xName: 'tile', format: bytes, stacked: state.graph === 'total', minimap: true,
          line: state.limit ? { value: r.target.bytesPerTile, name: `memory of a tile: ${bytes(r.target.bytesPerTile)}` } : undefined,
          selected: () => state.tiles, onselect,
        }, state.window);
      replace(host, drawn.element);
      replace(keys, state.graph === 'variables' && r.vars === undefined ? absent('Variables are in vars.json (autoReport.outputLoweredVars), which is not in this report.')
        : legend(series, () => drawn.redraw()), state.graph === 'map' && h('p', { class: 'weak padded' }, `A full square is ${state.limit ? 'the memory of a tile' : 'the fullest tile'}: ${bytes(state.limit ? r.target.bytesPerTile : fullest)}. Squares are in the order of the tiles’ numbers.`), state.graph === 'variables' && r.vars !== undefined && picker());
    };
    const picker = (): HTMLElement => {
      const all = sizedVariables(r), most = 500;
      const list = h('select', {
        'aria-label': 'Add a variable', onchange: () => {
          const at = Number(list.value);
          if (at >= 0 && !state.variables.includes(at)) state.variables = [...state.variables, at].slice(-8);
          rebuild();
        },
      }, h('option', { value: '-1' }, all.length > most ? `Add a variable… (the ${most} largest of ${count(all.length)})` : 'Add a variable…'), all.slice(0, most).map((v, i) => h('option', { value: String(i) }, `${shown(v.name, 80)} (${bytes(v.bytes)})`)));
      return h('span', {}, list, ' ', h('button', { class: 'small', onclick: () => { state.variables = []; rebuild(); } }, 'Clear'));
    };
    const tiles = (): number[] | undefined => (state.tiles.length ? state.tiles : undefined);
    const pages = tabs('Memory', [
      { title: 'Details', make: () => details(app, state) }, { title: 'Vertices', make: () => vertices(app, tiles()) },
      { title: 'Compute sets', make: () => computeSets(r, tiles()) }, { title: 'Exchanges', make: () => exchanges(r, tiles()) },
      { title: 'Variables', make: () => variablesTab(r, state, () => pages.refresh()) },
    ], state.tab, (title) => { state.tab = title; });
    rebuild();
    const by = (key: State['breakdown'], label: string): { label: string; kind: 'radio'; on: () => boolean; set: () => void } => ({
      label, kind: 'radio', on: () => state.breakdown === key, set: () => { state.breakdown = key; c.set('m.by', key === 'none' ? undefined : key); },
    });
    const graphNames = { total: 'Total memory', variables: 'Variables', map: 'Tile map' };
    const toolbar = h('div', { class: 'toolbar' },
      menu(() => `Graph: ${graphNames[state.graph]}`, graphs.map((g) => ({
        label: graphNames[g], kind: 'radio' as const, on: () => state.graph === g, set: () => { state.graph = g; c.set('m.graph', g === 'total' ? undefined : g); },
      })), rebuild),
      menu(() => `Breakdown: ${state.breakdown}`, [by('none', 'None'), by('region', 'By Region'), by('category', 'By Category')], rebuild),
      h('label', {}, 'Select tiles ', tilesBox), left, h('button', { class: 'small', onclick: () => choose([]) }, 'All'), h('span', { class: 'grow' }),
      menu(() => 'Options', [
        { label: 'Include Gaps', kind: 'check', on: () => state.gaps, set: (on) => { state.gaps = on; c.set('m.gaps', on); } },
        { label: 'Show Max Memory', kind: 'check', on: () => state.limit, set: (on) => { state.limit = on; c.set('m.limit', on); } },
      ], rebuild));
    return h('div', { class: 'view' }, toolbar, split(h('div', { class: 'above' }, host, keys), h('div', { class: 'below' }, pages.element), state.share, () => drawn.redraw()));
  },
};
