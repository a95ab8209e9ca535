/* Lightweight profiling: blocks of chosen tiles, by IPU; what nobody has timed is a gap. */
import { Kept, type App } from '../app';
import { blockTypes, endUnknown, isHost, isRemote, type BlockRow, type Blocks, type BlockType } from '../model/blocks';
import { fitted } from '../ui/canvas';
import { inkOn, lookOf, surface } from '../ui/colours';
import { absent, h, replace } from '../ui/dom';
import { count } from '../ui/format';
import { menu, type Choice } from '../ui/menu';
import { split } from '../ui/split';
import { facts, table } from '../ui/table';
import { tabs } from '../ui/tabs';
import { timeline, windowOf, type Geometry, type Window } from '../ui/timeline';
import type { Kind } from '../model/trace';

const rowHeight = 18, gap = 6;

interface State {
  window: Window; text: boolean; flushes: boolean; aggregate: boolean; relative: boolean; ipu: number;
  selected: { tile: number; row: number; index: number } | undefined; range: { value: Window | undefined }; share: { value: number };
}

interface Lane { top: number; height: number; title: string; tile: number; rows: BlockRow[] }

const kinds: Record<BlockType, Kind> = {
  Common: 'OnTileExecute', StreamCopyBegin: 'StreamCopyBegin', StreamCopyMid: 'StreamCopyMid', StreamCopyEnd: 'StreamCopyEnd',
  BlockFlush: 'DoExchange', Overflow: 'Other', Unknown: 'InternalSync',
};

function typeText(row: BlockRow, i: number): string {
  const type = blockTypes[row.type[i] as number] as string, flags = row.flags[i] as number;
  const category = flags & isHost && flags & isRemote ? ' (Mixed)' : flags & isHost ? ' (Host)' : flags & isRemote ? ' (RemoteBuffer)' : '';
  return type === 'BlockFlush' ? 'Buffer Flush' : type + category;
}

const kept = new Kept<Blocks, State>();

/* Rows of what takes place at the same time, from a list of blocks. */
function rowsOf(list: { from: number; to: number; name: number; category: string }[]): BlockRow[] {
  const sorted = [...list].sort((a, b) => a.from - b.from), lanes: (typeof list)[] = [], ends: number[] = [];
  for (const b of sorted) {
    let at = ends.findIndex((end) => end <= b.from);
    if (at < 0) at = lanes.push([]) - 1;
    (lanes[at] as typeof list).push(b);
    ends[at] = b.to;
  }
  return lanes.map((lane) => ({
    from: Float64Array.from(lane, (b) => b.from), to: Float64Array.from(lane, (b) => b.to), name: Uint32Array.from(lane, (b) => b.name),
    type: new Uint8Array(lane.length).fill(2),
    flags: Uint8Array.from(lane, (b) => (b.category === 'RemoteBuffer' ? isRemote : b.category === 'Mixed' ? isHost | isRemote : isHost)),
  }));
}

function firstBlock(row: BlockRow, cycle: number): number {
  let low = 0, high = row.to.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((row.to[mid] as number) > cycle) high = mid;
    else low = mid + 1;
  }
  return low;
}

export function lightweightView(app: App, b: Blocks, other: HTMLElement | undefined): HTMLElement {
  const c = app.choices, perIpu = app.report.target.tilesPerIpu;
  const end = Math.max(b.from + 1, b.to);
  const state = kept.of(b, c, (): State => ({
    window: windowOf(c.number('l.from', b.from), c.number('l.to', end), b.from, end), text: c.flag('l.text', true), flushes: c.flag('l.flushes', false),
    aggregate: c.flag('l.aggregate', false), relative: c.flag('l.relative', false), ipu: -1, selected: undefined, range: { value: undefined }, share: { value: 0.66 },
  }));
  const gutter = h('div', { class: 'gutter' });
  let lanes: Lane[] = [], total = 0;
  const chosen = new Set(b.tiles.map((t) => t.tile));
  let last = 0; /* tile that was chosen, or took part in a stream copy */
  for (const t of b.tiles) last = Math.max(last, t.tile);
  for (const p of b.participants) for (const t of p.tiles) last = Math.max(last, t);
  const ipus = Math.floor(last / perIpu) + 1;
  const visible = (row: BlockRow, i: number): boolean => state.flushes || blockTypes[row.type[i] as number] !== 'BlockFlush';

  /* Stream copies on tiles that were not chosen: in a lane of their own, or each such tile's. */
  function participants(ipu: number): Lane[] {
    /* Every chosen tile that took part names all others: one of them is enough. */
    const last = new Map<number, number>();
    const once = [...b.participants].sort((x, y) => x.from - y.from).filter((p) => {
      const known = (last.get(p.name) ?? -1) > p.from;
      if (!known) last.set(p.name, p.to);
      return !known;
    });
    const of = once.map((p) => ({ ...p, tiles: p.tiles.filter((t) => Math.floor(t / perIpu) === ipu && !chosen.has(t)) })).filter((p) => p.tiles.length);
    if (!of.length) return [];
    if (state.aggregate) return [{ top: 0, height: 0, title: 'I/O Events', tile: -1 - ipu, rows: rowsOf(of) }];
    const byTile = new Map<number, typeof of>();
    for (const p of of) for (const t of p.tiles) {
      const list = byTile.get(t);
      if (list) list.push(p);
      else byTile.set(t, [p]);
    }
    return [...byTile].sort((x, y) => x[0] - y[0]).map(([tile, list]) => ({ top: 0, height: 0, title: `tile ${tile}`, tile, rows: rowsOf(list) }));
  }

  function layout(): void {
    lanes = [];
    const heads: { top: number; ipu: number }[] = [];
    let y = 2;
    for (let ipu = 0; ipu < ipus; ipu++) {
      if (state.ipu >= 0 && state.ipu !== ipu) continue;
      const own = b.tiles.filter((t) => Math.floor(t.tile / perIpu) === ipu).map((t): Lane => ({ top: 0, height: 0, title: `tile ${t.tile}`, tile: t.tile, rows: t.rows }));
      const others = participants(ipu);
      if (!own.length && !others.length) continue;
      heads.push({ top: y, ipu });
      y += rowHeight;
      for (const lane of state.aggregate ? [...others, ...own] : [...own, ...others]) {
        const rows = lane.rows.filter((r) => state.flushes || r.type.some((_, i) => visible(r, i)));
        lanes.push({ ...lane, rows, top: y, height: Math.max(1, rows.length) * rowHeight });
        y += Math.max(1, rows.length) * rowHeight + gap;
      }
    }
    total = y + 20;
    replace(gutter, heads.map((head) => {
      const e = h('div', { class: 'lanehead' }, `IPU ${head.ipu}`);
      e.style.top = `${head.top}px`;
      return e;
    }));
    made.layout();
  }

  function paint(g: Geometry): void {
    const { c: to } = g, look = surface(), off = g.top - g.scroll, perPixel = (g.window.to - g.window.from) / g.width;
    for (const lane of lanes) {
      const y = lane.top + off;
      if (y + lane.height < g.top || y > g.top + g.height) continue;
      to.fillStyle = look.lane;
      to.fillRect(g.left, y, g.width, lane.height - 2);
      lane.rows.forEach((row, r) => {
        for (let i = firstBlock(row, g.window.from); i < row.from.length && (row.from[i] as number) < g.window.to; i++) {
          const a = row.from[i] as number, z = row.to[i] as number;
          if (visible(row, i)) {
            const x0 = Math.max(g.left - 2, g.x(a)), x1 = Math.min(g.left + g.width + 2, g.x(z)), w = Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 1 : 0));
            const type = blockTypes[row.type[i] as number] as BlockType, fill = lookOf(kinds[type]), at = y + r * rowHeight;
            to.fillStyle = fill.fill;
            to.fillRect(x0, at, w, rowHeight - 2);
            if (type === 'Overflow' || type === 'Unknown' || (row.flags[i] as number) & endUnknown) {
              to.strokeStyle = look.text;
              to.setLineDash([3, 3]);
              to.lineWidth = 1;
              to.strokeRect(x0 + 0.5, at + 0.5, Math.max(1, w - 1), rowHeight - 3);
              to.setLineDash([]);
            }
            if (state.text && w > 22) {
              to.fillStyle = inkOn(fill.fill);
              to.textAlign = 'left';
              to.textBaseline = 'middle';
              const begin = Math.max(x0, g.left) + 4;
              to.fillText(fitted(to, b.names[row.name[i] as number] || typeText(row, i), x1 - begin - 4), begin, at + rowHeight / 2 - 1);
            }
            const is = state.selected;
            if (is && is.tile === lane.tile && is.row === r && is.index === i) {
              to.strokeStyle = look.text;
              to.lineWidth = 2;
              to.strokeRect(x0 + 1, at + 1, Math.max(1, w - 2), rowHeight - 4);
            }
          }
          if (z - a < perPixel) i = Math.max(i, firstBlock(row, a + perPixel) - 1);
        }
      });
    }
    /* Titles of lanes are drawn, since there may be thousands. */
    to.restore();
    to.save();
    to.beginPath();
    to.rect(0, g.top, g.left, g.height);
    to.clip();
    to.fillStyle = look.weak;
    to.textAlign = 'right';
    to.textBaseline = 'middle';
    for (const lane of lanes) {
      const y = lane.top + off + rowHeight / 2 - 1;
      if (y > g.top - rowHeight && y < g.top + g.height) to.fillText(lane.title, g.left - 8, y);
    }
  }

  function paintMini(g: Geometry): void {
    const { c: to } = g;
    const some = b.tiles.slice(0, 4), each = (g.height - 4) / Math.max(1, some.length);
    some.forEach((t, n) => {
      for (const row of t.rows) for (let i = 0; i < row.from.length; i++) {
        const a = row.from[i] as number;
        to.fillStyle = lookOf(kinds[blockTypes[row.type[i] as number] as BlockType]).fill;
        to.fillRect(g.x(a), 2 + n * each, Math.max(0.7, g.x(row.to[i] as number) - g.x(a)), each - 1);
        const skip = firstBlock(row, a + (g.window.to - g.window.from) / g.width);
        if (skip > i + 1) i = skip - 1;
      }
    });
  }

  function hit(cycle: number, y: number): { lane: Lane; row: number; index: number } | undefined {
    const lane = lanes.find((l) => y >= l.top && y < l.top + l.height), at = lane ? Math.floor((y - lane.top) / rowHeight) : 0, row = lane?.rows[at];
    if (!lane || !row) return undefined;
    for (let i = firstBlock(row, cycle); i < row.from.length && (row.from[i] as number) <= cycle; i++)
      if (visible(row, i)) return { lane, row: at, index: i };
    return undefined;
  }

  function describe(lane: Lane, row: BlockRow, i: number): string[] {
    const unknown = ((row.flags[i] as number) & endUnknown) !== 0, type = blockTypes[row.type[i] as number];
    const from = row.from[i] as number, to = row.to[i] as number;
    return [b.names[row.name[i] as number] || typeText(row, i), `${typeText(row, i)} on ${lane.title}`,
      type === 'Unknown' ? `ends in cycle ${count(to)}; when it began, and what it was, was lost`
        : unknown ? `begins in cycle ${count(from)}; its end was lost` : `${count(to - from)} cycles (${count(from)} – ${count(to)})`];
  }

  /* To the visible block beside the selected one, or to the one of another row that begins next to it. */
  function move(across: number, down: number): void {
    const rows = lanes.flatMap((lane) => lane.rows.map((row, r) => ({ lane, row, r }))), is = state.selected;
    const seen = ({ row }: { row: BlockRow }): number[] => [...row.from.keys()].filter((i) => visible(row, i));
    let n = rows.findIndex((one) => one.lane.tile === is?.tile && one.r === is.row), to: number | undefined;
    if (!is || n < 0) {
      n = rows.findIndex((one) => seen(one).length);
      to = n < 0 ? undefined : seen(rows[n] as typeof rows[number])[0];
    } else if (across) {
      const all = seen(rows[n] as typeof rows[number]);
      to = all[all.indexOf(is.index) + across];
    } else {
      const from = rows[n]?.row.from[is.index] as number;
      do n += down; while (rows[n] && !seen(rows[n] as typeof rows[number]).length);
      const other = rows[n];
      to = other && seen(other).reduce((best, i) => (Math.abs((other.row.from[i] as number) - from) < Math.abs((other.row.from[best] as number) - from) ? i : best));
    }
    const found = rows[n];
    if (!found || to === undefined) return;
    state.selected = { tile: found.lane.tile, row: found.r, index: to };
    const a = found.row.from[to] as number, z = found.row.to[to] as number, size = state.window.to - state.window.from;
    if (a < state.window.from || z > state.window.to) made.show((a + z - size) / 2, (a + z + size) / 2);
    app.say(describe(found.lane, found.row, to).join(', '));
    pages.choose('Details');
    made.redraw();
  }

  const made = timeline({
    label: 'Lightweight execution trace: blocks of profiled tiles. Arrows go from block to block and from tile to tile.', window: state.window, extent: () => ({ from: b.from, to: Math.max(b.from + 1, b.to) }),
    contentHeight: () => total, paint, paintMini, gutter, range: state.range, axisOrigin: () => (state.relative ? b.from : 0),
    tip: (cycle, y) => {
      const at = hit(cycle, y);
      return at && describe(at.lane, at.lane.rows[at.row] as BlockRow, at.index);
    },
    onclick: (cycle, y) => {
      const at = hit(cycle, y);
      state.selected = at && { tile: at.lane.tile, row: at.row, index: at.index };
      if (at) pages.choose('Details');
      made.redraw();
    },
    onkey: (e) => {
      if (e.key === 'Enter') {
        const lane = lanes.find((l) => l.tile === state.selected?.tile), row = lane?.rows[state.selected?.row ?? -1], at = state.selected?.index ?? -1;
        if (row) made.show(row.from[at] as number, row.to[at] as number);
        return Boolean(row);
      }
      const by = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[e.key];
      if (!by) return false;
      move(by[0] as number, by[1] as number);
      return true;
    },
    ondblclick: (cycle, y) => {
      const at = hit(cycle, y), row = at?.lane.rows[at.row];
      if (at && row) made.show(row.from[at.index] as number, row.to[at.index] as number);
    },
    onwindow: () => {
      app.choices.set('l.from', state.window.from > b.from ? Math.round(state.window.from) : undefined);
      app.choices.set('l.to', state.window.to < b.to ? Math.round(state.window.to) : undefined);
      clearTimeout(late);
      late = window.setTimeout(() => { if (pages.chosen() === 'Summary') pages.refresh(); }, 150);
    },
  });
  let late = 0;

  function summary(): HTMLElement {
    const w = state.range.value ?? state.window;
    interface Sum { name: string; type: string; count: number; known: number; cycles: number; most: number }
    const sums = new Map<string, Sum>(), tiles = b.tiles.filter((t) => state.ipu < 0 || Math.floor(t.tile / perIpu) === state.ipu);
    for (const t of tiles) for (const row of t.rows)
      for (let i = firstBlock(row, w.from); i < row.from.length && (row.from[i] as number) < w.to; i++) {
        if (!visible(row, i)) continue;
        const type = typeText(row, i), name = b.names[row.name[i] as number] as string, key = `${row.type[i]}/${row.name[i]}`;
        const sum = sums.get(key) ?? { name: name || '–', type, count: 0, known: 0, cycles: 0, most: 0 }, cycles = (row.to[i] as number) - (row.from[i] as number);
        sums.set(key, sum);
        sum.count++;
        if (blockTypes[row.type[i] as number] === 'Unknown' || (row.flags[i] as number) & endUnknown) continue;
        sum.known++;
        sum.cycles += cycles;
        sum.most = Math.max(sum.most, cycles);
      }
    const known = (r: Sum, value: number): string => r.known ? count(value) : 'unknown';
    return h('div', {}, h('div', { class: 'stats' },
      h('div', {}, h('b', { 'data-fact': 'Cycles' }, count(Math.round(w.to - w.from))), state.range.value ? 'cycles of the selected range' : 'cycles in view'),
      h('div', {}, h('b', {}, count(tiles.length)), 'profiled tiles'), h('div', {}, h('b', {}, count(tiles.reduce((n, t) => n + t.count, 0))), 'blocks')),
    b.dropped > 0 && h('p', { class: 'warning' }, `${count(b.dropped)} more blocks were not kept: there was no room for them.`),
    table([...sums.values()], [
      { title: 'Block', value: (r) => r.name }, { title: 'Type', value: (r) => r.type }, { title: 'Count', value: (r) => r.count, format: count },
      { title: 'Cycles', value: (r) => r.known ? r.cycles : NaN, text: (r) => known(r, r.cycles), tip: 'Of all that begin or end in view, and of which nothing was lost' },
      { title: 'Mean', value: (r) => r.cycles / r.known, text: (r) => known(r, r.cycles / r.known) },
      { title: 'Most', value: (r) => r.known ? r.most : NaN, text: (r) => known(r, r.most) },
    ], { name: 'blocks in view', filter: true, sort: { column: 3, down: true } }));
  }

  function details(): HTMLElement {
    const is = state.selected, lane = lanes.find((l) => l.tile === is?.tile), row = lane?.rows[is?.row ?? 0];
    if (!is || !lane || !row || is.index >= row.from.length) return absent('Please select a block in the graph above.');
    const i = is.index, type = blockTypes[row.type[i] as number], unknown = ((row.flags[i] as number) & endUnknown) !== 0;
    return h('section', {}, h('h3', {}, describe(lane, row, i)[0] as string), facts([
      ['Type', typeText(row, i)], ['Tile', lane.tile < 0 ? 'several' : `${lane.tile} (IPU ${Math.floor(lane.tile / perIpu)})`],
      ['Cycles', type === 'Unknown' || unknown ? 'unknown' : count((row.to[i] as number) - (row.from[i] as number))],
      ['Cycles from', type === 'Unknown' ? 'lost in an overflow' : count(row.from[i] as number)],
      ['Cycles to', unknown ? 'lost in an overflow' : count(row.to[i] as number)],
    ]));
  }

  const pages = tabs('Figures', [{ title: 'Summary', make: summary }, { title: 'Details', make: details }], 'Summary');
  const flag = (key: 'text' | 'flushes' | 'aggregate' | 'relative', label: string, tip: string): Choice => ({
    label, kind: 'check', tip, on: () => state[key], set: (on) => { state[key] = on; app.choices.set(`l.${key}`, on); },
  });
  layout();
  const key = h('div', { class: 'inlinekey' }, blockTypes.filter((t) => b.has.has(t)).map((t) => {
    const box = h('span', { class: t === 'Overflow' || t === 'Unknown' ? 'box dashed' : 'box' });
    box.style.backgroundColor = lookOf(kinds[t]).fill;
    return h('span', {}, box, t === 'BlockFlush' ? 'Buffer Flush' : t);
  }));
  const toolbar = h('div', { class: 'toolbar' },
    menu(() => state.ipu < 0 ? 'All IPUs' : `IPU ${state.ipu}`, [
      { label: 'All IPUs', kind: 'radio', on: () => state.ipu < 0, set: () => { state.ipu = -1; } },
      ...Array.from({ length: ipus }, (_, i): Choice => ({ label: `IPU ${i}`, kind: 'radio', on: () => state.ipu === i, set: () => { state.ipu = i; } })),
    ], () => { layout(); pages.refresh(); }), key, h('span', { class: 'grow' }),
    h('button', { class: 'icon', title: 'Show the whole trace', 'aria-label': 'Show the whole trace', onclick: () => made.fit() }, '⤢'),
    menu(() => 'Options', [
      flag('text', 'Show Text', 'Names on blocks'), flag('flushes', 'Show Buffer Flushes', 'When tiles send what they have timed'),
      flag('aggregate', 'Aggregate StreamCopy Blocks', 'Stream copies of other tiles in one lane of each IPU'),
      flag('relative', 'Show Relative Cycles', 'The axis begins with the first block'),
    ], () => { layout(); pages.refresh(); }), other);
  return h('div', { class: 'view trace', 'data-trace': 'lightweight' }, toolbar,
    split(made.element, h('div', { class: 'below' }, pages.element), state.share, () => made.redraw()));
}
