/* Insights: does it fit, which tiles are the worst, and what is largest on them. */
import type { App, View } from '../app';
import { asNumber, asNumbers, asTexts, asList, get } from '../model/json';
import { byTile, categories, categoryLabel, categoryTotal, rowSums, total } from '../model/memory';
import type { Report } from '../model/report';
import { absent, h, replace } from '../ui/dom';
import { bytes, count, share } from '../ui/format';
import { facts, table } from '../ui/table';
import { tabs, type Tab } from '../ui/tabs';

/* Tiles by KiB of what they hold, as in the text summary. */
export function histogram(r: Report): { from: number; to: number; tiles: number }[] {
  const used = byTile(r, 'total');
  if (!used.length) return [];
  const rows = new Map<number, number>();
  let most = 0;
  for (const v of used) if (v > most) most = v;
  const width = Math.max(1, Math.ceil(most / 1024 / 24)); /* KiB of a row */
  for (const v of used) rows.set(Math.floor(v / 1024 / width), (rows.get(Math.floor(v / 1024 / width)) ?? 0) + 1);
  const keys = [...rows.keys()].sort((a, b) => a - b), made: { from: number; to: number; tiles: number }[] = [];
  for (let k = keys[0] as number; k <= (keys[keys.length - 1] as number); k++) made.push({ from: k * width, to: (k + 1) * width, tiles: rows.get(k) ?? 0 });
  return made;
}

function worst(r: Report): number[] {
  const used = byTile(r, 'totalIncludingGaps');
  return used.map((_, i) => i).sort((a, b) => (used[b] as number) - (used[a] as number) || a - b).slice(0, 5);
}

function banner(r: Report): HTMLElement {
  const used = byTile(r, 'totalIncludingGaps'), room = r.target.bytesPerTile;
  const over = used.filter((v) => v > room).length, most = used.reduce((a, b) => Math.max(a, b), 0);
  return h('p', { class: over ? 'banner bad' : 'banner good', role: 'status' },
    over ? `Out of memory: ${count(over)} tile(s) need more than ${bytes(room)}.` : 'The program fits into the memory of the tiles.',
    ` The fullest tile uses ${share(most / room)}, all tiles together ${share(total(used) / (room * used.length || 1))} of what there is.`);
}

function bars(rows: { from: number; to: number; tiles: number }[]): HTMLElement {
  const most = Math.max(1, ...rows.map((r) => r.tiles));
  return h('table', { class: 'histogram', 'aria-label': 'Tiles by memory' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'KiB'), h('th', { scope: 'col' }, 'Tiles'), h('th', { scope: 'col' }, ''))),
    h('tbody', {}, rows.map((r) => {
      const bar = h('span', { class: 'hbar' });
      bar.style.width = `${r.tiles / most * 100}%`;
      return h('tr', {}, h('td', { class: 'number' }, `${r.from} – ${r.to}`), h('td', { class: 'number' }, count(r.tiles)), h('td', { class: 'barcell' }, bar));
    })));
}

interface Large { name: string; bytes: number; detail: string }

/* Of all tiles, of an IPU's, of one tile. */
function largest(r: Report, tiles: number[] | undefined): HTMLElement {
  const names = asTexts(get(r.graph, 'vertexTypes', 'names')), code = rowSums(get(r.graph, 'memory', 'byVertexType', 'codeBytes'), tiles);
  const all = rowSums(get(r.graph, 'memory', 'byVertexType', 'totalBytes'), tiles);
  const vertices = names.map((name, i): Large & { state: number; code: number } => {
    const c = code[i] ?? 0, sum = all[i] ?? 0;
    return { name, bytes: sum, state: sum - c, code: c, detail: '' };
  }).filter((v) => v.bytes);
  const exchangeNames = asTexts(get(r.graph, 'exchanges', 'names'));
  const received = rowSums(get(r.graph, 'exchanges', 'bytesReceivedByTile'), tiles);
  const codes = new Map<number, number>();
  for (const p of r.programs) if (p.type === 'DoExchange') codes.set(asNumber(get(p.raw, 'exchange')) ?? -1, asNumber(get(p.raw, 'memoryByInstruction', 'total')) ?? 0);
  const exchanges = exchangeNames.map((name, i) => ({ name, data: received[i] ?? 0, code: codes.get(i) ?? 0 }));
  const kinds = categories(r).map((c) => ({ name: categoryLabel(c), bytes: total(categoryTotal(r, c), tiles) })).filter((c) => c.bytes);
  return h('div', { class: 'cards' },
    h('section', { class: 'card roomy' }, h('h3', {}, 'Largest categories'), table(kinds, [
      { title: 'Category', value: (x) => x.name }, { title: 'Bytes', value: (x) => x.bytes, format: bytes }], { name: 'categories', sort: { column: 1, down: true } })),
    h('section', { class: 'card roomy' }, h('h3', {}, 'Largest vertex types'), table(vertices, [
      { title: 'Vertex type', value: (x) => x.name }, { title: 'State', value: (x) => x.state, format: bytes }, { title: 'Code', value: (x) => x.code, format: bytes },
      { title: 'Total', value: (x) => x.bytes, format: bytes }], { name: 'vertex types', sort: { column: 3, down: true } })),
    h('section', { class: 'card roomy' }, h('h3', {}, 'Largest exchanges'), table(exchanges, [
      { title: 'Exchange', value: (x) => x.name }, { title: 'Received', value: (x) => x.data, format: bytes },
      { title: 'Code', value: (x) => x.code, format: bytes, tip: 'Of all tiles' }], { name: 'exchanges', sort: { column: 1, down: true } })));
}

const mostTabs = 16;

/* Of an IPU: a tab for each of a few; of many, one tab with a list of them. */
function ipuTabs(r: Report): Tab[] {
  const perIpu = r.target.tilesPerIpu, ipus = r.target.numIpus;
  const of = (i: number): HTMLElement => largest(r, Array.from({ length: Math.min(perIpu, r.target.numTiles - i * perIpu) }, (_, t) => i * perIpu + t));
  if (ipus <= mostTabs) return Array.from({ length: ipus }, (_, i) => ({ title: `IPU ${i}`, make: () => of(i) }));
  return [{
    title: 'One IPU', make: () => {
      const body = h('div', {}, of(0)), list = h('select', { 'aria-label': 'IPU', onchange: () => replace(body, of(Number(list.value))) },
        Array.from({ length: ipus }, (_, i) => h('option', { value: String(i) }, `IPU ${i}`)));
      return h('div', {}, h('p', { class: 'padded' }, list), body);
    },
  }];
}

/* What is live when most is. */
function peak(r: Report): HTMLElement {
  const live = get(r.graph, 'memory', 'liveness'), names = asTexts(get(live, 'variables', 'names')), sizes = asNumbers(get(live, 'variables', 'bytes'));
  const programs = asList(get(live, 'programs'));
  if (!programs.length) return absent('This report has no liveness.');
  const most = programs.reduce((a, b) => (asNumber(get(b, 'bytes')) ?? 0) > (asNumber(get(a, 'bytes')) ?? 0) ? b : a);
  const rows = (numbers: number[]): { name: string; bytes: number }[] => numbers.map((n) => ({ name: names[n] ?? `variable ${n}`, bytes: sizes[n] ?? 0 }));
  const columns = [{ title: 'Variable', value: (x: { name: string; bytes: number }) => x.name }, { title: 'Bytes', value: (x: { name: string; bytes: number }) => x.bytes, format: bytes }];
  const program = asNumber(get(most, 'program')) ?? -1, always = get(live, 'alwaysLive');
  return h('div', { class: 'cards' },
    h('section', { class: 'card' }, h('h3', {}, `Only there at the peak: program ${program}${r.programs[program]?.name ? ` (${r.programs[program]?.name})` : ''}`),
      facts([['Not always live', bytes(asNumber(get(most, 'bytes')) ?? 0)], ['Peak', bytes(asNumber(get(live, 'maxBytes')) ?? 0)]]),
      table(rows(asNumbers(get(most, 'variables'))), columns, { name: 'live at the peak', sort: { column: 1, down: true } })),
    h('section', { class: 'card' }, h('h3', {}, 'Always live'), facts([['Bytes', bytes(asNumber(get(always, 'bytes')) ?? 0)]]),
      table(rows(asNumbers(get(always, 'variables'))), columns, { name: 'always live', sort: { column: 1, down: true } })));
}

export const insightsView: View = {
  id: 'insights', title: 'Insights', icon: '✦', make: (app: App) => {
    const r = app.report, used = byTile(r, 'totalIncludingGaps'), without = byTile(r, 'total');
    if (!used.length) return h('div', { class: 'view' }, absent('This report has no graph profile: autoReport.outputGraphProfile writes one.'));
    const bad = worst(r), perIpu = r.target.tilesPerIpu;
    return h('div', { class: 'view scrolls' }, banner(r), h('div', { class: 'cards' },
      h('section', { class: 'card' }, h('h2', {}, 'The five fullest tiles'), table(bad.map((tile) => ({ tile })), [
        { title: 'Tile', value: (x) => x.tile }, { title: 'IPU', value: (x) => Math.floor(x.tile / perIpu) },
        { title: 'Including gaps', value: (x) => used[x.tile] ?? 0, format: bytes }, { title: 'Excluding gaps', value: (x) => without[x.tile] ?? 0, format: bytes },
        { title: 'Used', value: (x) => (used[x.tile] ?? 0) / r.target.bytesPerTile, format: share },
      ], { name: 'fullest tiles' })),
      h('section', { class: 'card' }, h('h2', {}, 'Tiles by memory, excluding gaps'), bars(histogram(r)))),
    h('h2', {}, 'What is largest'), tabs('Of what', [
      { title: 'Model', make: () => largest(r, undefined) },
      ...ipuTabs(r),
      ...bad.slice(0, 1).map((tile) => ({ title: `Tile ${tile}`, make: () => largest(r, [tile]) })),
    ], 'Model').element,
    h('h2', {}, 'The peak'), peak(r));
  },
};
