/* The graph of the detailed trace: for each IPU its runs, its steps (flat or as flames) and its BSP pattern. */
import type { App } from '../app';
import { ansOf, stateOf, superstepAt, waitOf } from '../model/bsp';
import { barAt, firstBar, layerKinds, rowsOf, type Row } from '../model/lanes';
import { asList, asNumbers, get } from '../model/json';
import { balanceOn, isBusy, kindLabels, type Cycles, type Kind, type Step, type Trace } from '../model/trace';
import { fitted } from '../ui/canvas';
import { hatch, inkOn, lookOf, pixelOf, surface } from '../ui/colours';
import { h, replace } from '../ui/dom';
import { bytes, count, share } from '../ui/format';
import { timeline, type Geometry, type Timeline } from '../ui/timeline';
import { isFound, type Selection, type TraceState } from './trace_state';

const rowHeight = 20, runHeight = 18, gap = 10;
/* Of the BSP pictures: what is left of the window, shared; and how many rows of tiles are looked at for one, since each costs time. */
const leastBsp = 112, mostBsp = 420, mostBspRows = 160;

interface Lane { ipu: number; top: number; rows: Row[]; rowsTop: number; bspTop: number; height: number }

/* What has been made of a trace, by IPU and choices: going from view to view makes nothing again. */
const rowsMade = new WeakMap<Trace, Map<string, Row[]>>(), mostRowsMade = 24;
function rowsFor(t: Trace, ipu: number, s: TraceState): Row[] {
  const key = `${ipu}/${[s.flame, s.groupExecutions, s.groupSyncs, s.separate, s.externalSyncs, s.syncAns].map(Number).join('')}`;
  let of = rowsMade.get(t);
  if (!of) rowsMade.set(t, of = new Map());
  let made = of.get(key);
  if (made) return made;
  if (of.size >= mostRowsMade) of.clear();
  of.set(key, made = rowsOf(t, ipu, s));
  return made;
}

export interface TraceGraph extends Timeline { rebuild: () => void; select: (s: Selection, add: boolean) => void; reveal: (step: number) => void }

/* Bytes of tile memory that a compute set takes; undefined: not known. */
export function memoryOfStep(app: App, s: Step): number | undefined {
  if (s.kind === 'OnTileExecute') {
    const by = asList(get(app.report.graph, 'memory', 'byComputeSet', 'totalBytes'))[s.thing];
    return by === undefined ? undefined : asNumbers(by).reduce((a, b) => a + b, 0);
  }
  const total = get(app.report.programs[s.program]?.raw, 'memoryByInstruction', 'total');
  return typeof total === 'number' ? total : undefined;
}

export function stepLabel(s: Step): string {
  return s.name && !(s.kind === 'InternalSync' || s.kind === 'ExternalSync') ? s.name : kindLabels[s.kind];
}

export function traceGraph(app: App, t: Trace, s: TraceState, changed: () => void, selected: () => void): TraceGraph {
  let lanes: Lane[] = [], total = 0, bspHeight = leastBsp;
  const gutter = h('div', { class: 'gutter' });
  const known = new Map<number, Row[]>();

  function rebuild(): void {
    known.clear();
    layout();
  }

  /* Without the BSP pictures it is as high as it is. */
  function shareHeight(): number {
    const ipus = Array.from({ length: t.numIpus }, (_, i) => i).filter((i) => s.ipu < 0 || s.ipu === i), open = ipus.filter((i) => !s.collapsed.has(i));
    const room = made ? (made.element.querySelector('.lanes')?.clientHeight ?? 0) - 20 : 0;
    let taken = 24;
    for (const i of ipus) taken += (s.runs && t.runs.length ? runHeight : 0) + (s.collapsed.has(i) ? 1 : known.get(i)?.length ?? 1) * rowHeight + 8 + gap;
    return open.length ? Math.round(Math.max(leastBsp, Math.min(mostBsp, (room - taken) / open.length))) : leastBsp;
  }

  function layout(): void {
    for (let ipu = 0; ipu < t.numIpus; ipu++) if ((s.ipu < 0 || s.ipu === ipu) && !known.has(ipu)) known.set(ipu, rowsFor(t, ipu, s));
    bspHeight = shareHeight();
    gutter.dataset['bsp'] = String(bspHeight);
    lanes = [];
    let y = 4;
    for (let ipu = 0; ipu < t.numIpus; ipu++) {
      if (s.ipu >= 0 && s.ipu !== ipu) continue;
      const rows = known.get(ipu) as Row[];
      const top = y;
      if (s.runs && t.runs.length) y += runHeight;
      const rowsTop = y, visible = s.collapsed.has(ipu) ? rows.slice(0, 1) : rows;
      y += visible.length * rowHeight + 4;
      const bspTop = y;
      if (s.bsp && !s.collapsed.has(ipu)) y += bspHeight + 4;
      lanes.push({ ipu, top, rows: visible, rowsTop, bspTop, height: y - top });
      y += gap;
    }
    total = y + 20;
    replace(gutter, lanes.map((lane) => {
      const folded = s.collapsed.has(lane.ipu);
      const label = h('button', {
        class: 'fold', 'aria-expanded': String(!folded), title: folded ? 'Show all rows' : 'Only the top row', onclick: () => {
          if (folded) s.collapsed.delete(lane.ipu);
          else s.collapsed.add(lane.ipu);
          layout();
        },
      }, `${folded ? '▸' : '▾'} IPU ${lane.ipu}`);
      label.style.top = `${lane.top}px`;
      if (!s.bsp || folded) return [label];
      const zoomTo = (zoom: number): void => {
        s.bspZoom = Math.max(1, Math.min(t.tilesPerIpu, zoom));
        s.bspTop = Math.max(0, Math.min(1 - 1 / s.bspZoom, s.bspTop));
        made.redraw();
      };
      const tools = h('div', { class: 'bsptools', title: 'What each tile does. Where a row of pixels stands for several tiles, it shows the one that works most: magnify to see all.' },
        h('button', { title: 'Fewer tiles, larger', 'aria-label': `Magnify the tiles of IPU ${lane.ipu}`, onclick: () => zoomTo(s.bspZoom * 2) }, '+'),
        h('button', { title: 'More tiles, smaller', 'aria-label': `Shrink the tiles of IPU ${lane.ipu}`, onclick: () => zoomTo(s.bspZoom / 2) }, '−'),
        h('button', { title: 'All tiles', 'aria-label': `All tiles of IPU ${lane.ipu}`, onclick: () => { s.bspTop = 0; zoomTo(1); } }, '↺'),
        h('span', {}), h('button', { title: 'Tiles before these', 'aria-label': `Tiles of IPU ${lane.ipu} before these`, onclick: () => { s.bspTop -= 0.5 / s.bspZoom; zoomTo(s.bspZoom); } }, '▴'),
        h('button', { title: 'Tiles behind these', 'aria-label': `Tiles of IPU ${lane.ipu} behind these`, onclick: () => { s.bspTop += 0.5 / s.bspZoom; zoomTo(s.bspZoom); } }, '▾'));
      tools.style.top = `${lane.bspTop}px`;
      return [label, tools];
    }));
    made?.layout();
  }

  /* ---- drawing ---- */

  let merged = 0; /* bars that were too narrow to be drawn each */

  /* What a pixel with several bars is like: the longest of them, or of some of them where there are very many. */
  function longestOf(row: Row, begin: number, end: number): number {
    const stride = Math.max(1, Math.floor((end - begin) / 24));
    let best = begin;
    for (let i = begin; i < end; i += stride)
      if ((row.to[i] as number) - (row.from[i] as number) > (row.to[best] as number) - (row.from[best] as number)) best = i;
    return best;
  }

  function paintRow(g: Geometry, lane: Lane, row: Row, y: number): void {
    const { c } = g, look = surface(), from = g.window.from, to = g.window.to, chosen = s.selected;
    c.fillStyle = look.lane;
    c.fillRect(g.left, y, g.width, rowHeight - 2);
    const perPixel = (to - from) / g.width;
    for (let i = firstBar(row, from); i < row.count && (row.from[i] as number) < to; i++) {
      const a = row.from[i] as number, b = row.to[i] as number;
      if (b <= from) continue;
      const x0 = Math.max(g.left - 2, g.x(a)), x1 = Math.min(g.left + g.width + 2, g.x(b)), w = Math.max(1, x1 - x0);
      const next = b - a < perPixel ? firstBar(row, a + perPixel) : i; /* the one that ends behind this pixel */
      const shows = next > i + 1 ? longestOf(row, i, next) : i;
      const first = row.first[shows] as number, last = row.last[shows] as number, step = t.steps[first] as Step;
      const kind = row.isLayer ? layerKinds[row.kinds?.[shows] ?? 0] ?? 'Other' : step.kind;
      const fill = lookOf(kind), found = isFound(s, first, last);
      c.fillStyle = found ? (row.isLayer ? fill.group : fill.fill) : look.greyed;
      c.fillRect(x0, y, w, rowHeight - 2);
      if (b - a < perPixel) {
        if (next > i + 1) {
          merged += next - i - 1;
          i = next - 1;
        }
        continue;
      }
      if (w > 5 && found && !row.isLayer) {
        if (s.tileBalance && step.cost) {
          c.fillStyle = look.back;
          c.globalAlpha = 0.55;
          c.fillRect(x0, y, w, (rowHeight - 2) * (1 - balanceOn(t, first, lane.ipu)));
          c.globalAlpha = 1;
        } else hatch(c, fill, x0, y, w, rowHeight - 2);
      }
      if (s.terminals && w > 2) {
        c.fillStyle = look.text;
        c.globalAlpha = 0.55;
        c.fillRect(x1 - 1, y, 1, rowHeight - 2);
        c.globalAlpha = 1;
      }
      if (s.text && w > 20) {
        const label = row.isLayer ? row.names?.[i] || stepLabel(step) : stepLabel(step);
        const isCovered = s.tileBalance && !row.isLayer && step.cost && balanceOn(t, first, lane.ipu) < 0.5;
        c.fillStyle = !found ? look.weak : isCovered ? look.text : inkOn(row.isLayer ? fill.group : fill.fill);
        c.textAlign = 'left';
        c.textBaseline = 'middle';
        const begin = Math.max(x0, g.left) + 4;
        c.fillText(fitted(c, label, x1 - begin - 4), begin, y + (rowHeight - 2) / 2 + 0.5);
      }
      const is = chosen.some((one) => one.kind === 'step' ? !row.isLayer && one.step >= first && one.step <= last
        : one.kind === 'layer' && row.isLayer && one.depth === row.depth && one.first === first);
      if (is) {
        c.strokeStyle = look.text;
        c.lineWidth = 2;
        c.strokeRect(x0 + 1, y + 1, Math.max(1, w - 2), rowHeight - 4);
      }
    }
  }

  function paintRuns(g: Geometry, y: number): void {
    const { c } = g, look = surface();
    t.runs.forEach((run, i) => {
      const x0 = Math.max(g.left, g.x(run.from)), x1 = Math.min(g.left + g.width, g.x(run.to));
      if (x1 <= x0) return;
      c.fillStyle = run.fault === undefined ? look.run : look.fault;
      c.fillRect(x0, y, Math.max(1, x1 - x0 - 1), runHeight - 2);
      if (s.selected.some((one) => one.kind === 'run' && one.run === i)) {
        c.strokeStyle = look.accent;
        c.lineWidth = 2;
        c.strokeRect(x0 + 1, y + 1, x1 - x0 - 3, runHeight - 4);
      }
      c.fillStyle = look.runText;
      c.textAlign = 'left';
      c.textBaseline = 'middle';
      c.fillText(fitted(c, run.fault === undefined ? run.name : `✖ ${run.name}`, x1 - x0 - 10), x0 + 5, y + runHeight / 2 - 1);
    });
  }

  /* Where runs have ended in an error: a cross on the step, and a line. */
  function paintFaults(g: Geometry, y: number, height: number): void {
    const { c } = g, look = surface();
    for (const run of t.runs) {
      if (run.fault === undefined || run.to < g.window.from || run.to > g.window.to) continue;
      const x = Math.min(g.left + g.width - 1, g.x(run.to));
      c.fillStyle = look.fault;
      c.fillRect(x - 1, y, 2, height);
      c.fillRect(x - 17, y, 16, rowHeight - 2);
      c.fillStyle = look.back;
      c.textAlign = 'right';
      c.textBaseline = 'middle';
      c.fillText('✖', x - 4, y + rowHeight / 2 - 1);
    }
  }

  /* A row of pixels may stand for many tiles: it shows the one that works most, so that none that works is missed. */
  const shownTiles = new Map<string, Int32Array>();
  function tilesOf(ipu: number): Int32Array {
    const tiles = Math.min(t.tilesPerIpu, t.numTiles - ipu * t.tilesPerIpu), most = tiles / s.bspZoom;
    const rows = Math.min(bspHeight, mostBspRows, Math.max(1, Math.ceil(most))), key = `${ipu}/${s.bspZoom}/${s.bspTop}/${bspHeight}`;
    let made = shownTiles.get(key);
    if (made) return made;
    if (shownTiles.size > 200) shownTiles.clear();
    shownTiles.set(key, made = new Int32Array(rows));
    for (let row = 0; row < rows; row++) {
      const first = ipu * t.tilesPerIpu + Math.min(tiles - 1, Math.floor(s.bspTop * tiles + row / rows * most));
      const end = Math.min(ipu * t.tilesPerIpu + tiles, Math.max(first + 1, Math.floor(ipu * t.tilesPerIpu + s.bspTop * tiles + (row + 1) / rows * most)));
      let best = first;
      for (let tile = first; tile < end; tile++) if ((t.work[tile] as number) > (t.work[best] as number)) best = tile;
      made[row] = best;
    }
    return made;
  }

  const bspImage = document.createElement('canvas');

  /* A pixel is what its tile does in the cycle in its middle. */
  function paintBsp(g: Geometry, lane: Lane, y: number): void {
    const { c } = g, look = surface();
    c.fillStyle = look.lane;
    c.fillRect(g.left, y, g.width, bspHeight);
    if (!t.hasCosts) {
      c.fillStyle = look.weak;
      c.textAlign = 'left';
      c.textBaseline = 'middle';
      c.fillText('This report does not say what each tile does: it was written by a version without `costs`.', g.left + 8, y + bspHeight / 2);
      return;
    }
    const columns = Math.floor(g.width), tiles = Math.min(t.tilesPerIpu, t.numTiles - lane.ipu * t.tilesPerIpu);
    const most = tiles / s.bspZoom, of = tilesOf(lane.ipu), rows = of.length;
    if (columns < 1) return;
    bspImage.width = columns;
    bspImage.height = rows;
    const into = bspImage.getContext('2d') as CanvasRenderingContext2D, image = into.createImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer), chosen = s.selected[0]?.kind === 'step' ? s.selected[0].step : -1;
    const packed = (kind: Kind, step: number): number => pixelOf(isFound(s, step, step) ? lookOf(kind).fill : look.greyed, step === chosen ? 0.72 : 1);
    /* As stateOf (model/bsp.ts), with what is the same for all tiles of a superstep found once. */
    let known = -1, costs: Cycles[] = [], colours: number[] = [], start = 0;
    const waits = new Uint32Array(rows);
    for (let px = 0; px < columns; px++) {
      const cycle = g.window.from + (px + 0.5) / g.width * (g.window.to - g.window.from);
      const number = superstepAt(t, lane.ipu, cycle), superstep = t.supersteps[number];
      if (!superstep) break;
      if (number !== known) {
        known = number;
        costs = [];
        colours = [];
        start = superstep.starts[lane.ipu] as number;
        for (let i = superstep.first; i < superstep.end; i++) {
          const step = t.steps[i] as Step;
          if (!step.cost) continue;
          costs.push(step.cost.cycles);
          colours.push(packed(step.kind, i));
        }
        const wait = waitOf(t, superstep);
        waits.fill(packed(wait.kind, wait.step));
        for (let row = 0; row < rows && superstep.ans.length; row++) {
          const ans = ansOf(t, superstep, of[row] as number);
          if (ans) waits[row] = packed(ans.kind, ans.step);
        }
      }
      for (let row = 0; row < rows; row++) {
        const tile = of[row] as number;
        let clock = start, colour = waits[row] as number;
        for (let k = 0; k < costs.length; k++) {
          clock += (costs[k] as Cycles)[tile] as number;
          if (cycle < clock) {
            colour = colours[k] as number;
            break;
          }
        }
        pixels[row * columns + px] = colour;
      }
    }
    into.putImageData(image, 0, 0);
    c.imageSmoothingEnabled = false;
    c.drawImage(bspImage, g.left, y, columns, bspHeight);
    c.fillStyle = look.text;
    c.textAlign = 'left';
    c.textBaseline = 'top';
    if (s.bspZoom > 1) {
      const first = Math.floor(s.bspTop * tiles), text = `tiles ${first} – ${Math.min(tiles - 1, Math.ceil(first + most) - 1)}`;
      c.fillStyle = look.back;
      c.globalAlpha = 0.8;
      c.fillRect(g.left, y, c.measureText(text).width + 12, 16);
      c.globalAlpha = 1;
      c.fillStyle = look.text;
      c.fillText(text, g.left + 6, y + 2);
    }
  }

  function paint(g: Geometry): void {
    merged = 0;
    const off = g.top - g.scroll;
    for (const lane of lanes) {
      if (lane.top + lane.height + off < g.top || lane.top + off > g.top + g.height) continue;
      if (s.runs && t.runs.length) paintRuns(g, lane.top + off);
      lane.rows.forEach((row, i) => paintRow(g, lane, row, lane.rowsTop + i * rowHeight + off));
      paintFaults(g, lane.rowsTop + off, lane.rows.length * rowHeight - 2);
      if (s.bsp && !s.collapsed.has(lane.ipu)) paintBsp(g, lane, lane.bspTop + off);
    }
    const say = merged > 0;
    if (made && made.note.hidden === say) made.note.hidden = !say;
    if (made && say) made.note.textContent = `${count(merged)} steps are too small to be drawn here: zoom in to see them`;
  }

  function paintMini(g: Geometry): void {
    const { c } = g, look = surface();
    const n = t.steps.length;
    /* Work over waiting: a sync lasts from when the first IPU waits for it, while others work. */
    for (const waits of [true, false]) {
      let last = -1;
      for (let i = 0; i < n; i++) {
        const step = t.steps[i] as Step, x0 = g.x(step.from), x1 = g.x(step.to);
        if (x1 - last < 0.7 || step.waiting || isBusy(step.kind) === waits) continue;
        c.fillStyle = isFound(s, i, i) ? lookOf(step.kind).fill : look.greyed;
        c.fillRect(x0, 4, Math.max(0.7, x1 - x0), g.height - 14);
        last = x1;
      }
    }
    if (s.runs) {
      c.fillStyle = look.run;
      for (const run of t.runs) {
        const x0 = g.x(run.from), x1 = g.x(run.to);
        c.fillRect(x0, g.height - 8, Math.max(1, x1 - x0), 2);
        c.fillRect(x0, g.height - 10, 2, 8);
        c.fillRect(Math.max(x0, x1 - 2), g.height - 10, 2, 8);
      }
    }
  }

  /* ---- what is where ---- */

  type Hit = Selection | undefined;
  function hit(cycle: number, y: number): { hit: Hit; lane: Lane; tile: number } | undefined {
    const lane = lanes.find((l) => y >= l.top && y < l.top + l.height);
    if (!lane) return undefined;
    if (s.runs && y < lane.rowsTop) {
      const run = t.runs.findIndex((r) => r.from <= cycle && cycle < r.to);
      return { hit: run < 0 ? undefined : { kind: 'run', run }, lane, tile: -1 };
    }
    const row = lane.rows[Math.floor((y - lane.rowsTop) / rowHeight)];
    if (row && y < lane.bspTop) {
      const bar = barAt(row, cycle);
      if (bar < 0) return { hit: undefined, lane, tile: -1 };
      const first = row.first[bar] as number, last = row.last[bar] as number;
      return {
        hit: row.isLayer ? { kind: 'layer', first, last, name: row.names?.[bar] ?? '', depth: row.depth } : { kind: 'step', step: first },
        lane, tile: -1,
      };
    }
    if (s.bsp && t.hasCosts && y >= lane.bspTop) {
      const of = tilesOf(lane.ipu), tile = of[Math.max(0, Math.min(of.length - 1, Math.floor((y - lane.bspTop) / bspHeight * of.length)))] as number;
      const state = stateOf(t, superstepAt(t, lane.ipu, cycle), lane.ipu, tile, cycle);
      return { hit: state ? { kind: 'step', step: state.step } : undefined, lane, tile };
    }
    return { hit: undefined, lane, tile: -1 };
  }

  function describe(cycle: number, y: number): string[] | undefined {
    const at = hit(cycle, y), what = at?.hit;
    if (!what) return undefined;
    if (what.kind === 'run') {
      const run = t.runs[what.run];
      return run ? [run.name, `cycles ${count(run.from)} – ${count(run.to)} (${count(run.to - run.from)})`] : undefined;
    }
    if (what.kind === 'layer') {
      const { from, to } = span(what);
      return [what.name, `${count(what.last - what.first + 1)} steps, ${count(to - from)} cycles`];
    }
    const step = t.steps[what.step] as Step, memory = memoryOfStep(app, step);
    const lines = [`${kindLabels[step.kind]}${step.name ? `: ${step.name}` : ''}`];
    if (step.kind === 'OnTileExecute') lines.push(`compute set ${step.thing}${memory === undefined ? '' : `, memory ${bytes(memory)}`}`);
    else if (memory !== undefined) lines.push(`exchange code ${bytes(memory)}`);
    lines.push(`cycles ${count(step.from)} – ${count(step.to)} (${count(step.to - step.from)})`);
    if (step.fault !== undefined) lines.push('✖ the run ended here');
    if (step.cost && at) lines.push(`tile balance ${share(balanceOn(t, step.index, at.lane.ipu))} on IPU ${at.lane.ipu}`);
    if (at && at.tile >= 0) lines.push(`tile ${at.tile}: ${step.cost?.cycles[at.tile] ? `${count(step.cost.cycles[at.tile] as number)} cycles` : 'waits'}`);
    return lines;
  }

  function span(one: Selection): { from: number; to: number } {
    if (one.kind === 'run') return t.runs[one.run] as { from: number; to: number };
    if (one.kind === 'step') return t.steps[one.step] as Step;
    let from = Infinity, to = 0;
    for (let i = one.first; i <= one.last; i++) {
      from = Math.min(from, (t.steps[i] as Step).from);
      to = Math.max(to, (t.steps[i] as Step).to);
    }
    return { from, to };
  }

  function select(one: Selection, add: boolean): void {
    const first = s.selected[0];
    if (add && first) {
      s.selected = [first, one];
      const a = span(first), b = span(one);
      made.show(Math.min(a.from, b.from), Math.max(a.to, b.to));
    } else s.selected = [one];
    app.choices.set('t.step', one.kind === 'step' ? one.step : undefined);
    app.say(one.kind === 'step' ? `Step ${one.step}: ${stepLabel(t.steps[one.step] as Step)}` : one.kind === 'layer' ? `Layer ${one.name}` : t.runs[one.run]?.name ?? '');
    made.redraw();
    selected();
  }

  function reveal(step: number): void {
    const of = t.steps[step] as Step, size = s.window.to - s.window.from;
    if (of.from < s.window.from || of.to > s.window.to) made.show((of.from + of.to) / 2 - size / 2, (of.from + of.to) / 2 + size / 2);
    const pixels = (of.to - of.from) / size * 1000;
    if (pixels < 6) made.show(of.from - (of.to - of.from) * 10 - 10, of.to + (of.to - of.from) * 10 + 10);
  }

  /* ---- what keys go to from what is selected; false: there is nothing ---- */

  const cursor = (): Selection | undefined => s.selected[s.selected.length - 1];
  const firstStepOf = (one: Selection): number => (one.kind === 'step' ? one.step : one.kind === 'layer' ? one.first : t.runs[one.run]?.firstStep ?? 0);

  /* Of a depth and with the step in it, on the first IPU that has it. */
  function layerAt(depth: number, step: number): Selection | false {
    for (const lane of lanes) {
      const row = lane.rows.find((r) => r.isLayer && r.depth === depth);
      for (let i = 0; row && i < row.count; i++) {
        const first = row.first[i] as number, last = row.last[i] as number;
        if (first <= step && step <= last) return { kind: 'layer', first, last, name: row.names?.[i] ?? '', depth };
      }
    }
    return false;
  }

  function beside(by: number): Selection | false {
    const now = cursor();
    if (now?.kind === 'run') return t.runs[now.run + by] ? { kind: 'run', run: now.run + by } : false;
    if (now?.kind === 'layer') {
      for (let step = by > 0 ? now.last + 1 : now.first - 1; step >= 0 && step < t.steps.length; step += by) {
        const found = layerAt(now.depth, step);
        if (found) return found;
      }
      return false;
    }
    const step = (now?.step ?? -1) + by;
    return step >= 0 && step < t.steps.length ? { kind: 'step', step } : false;
  }

  function above(): Selection | false {
    const now = cursor();
    if (!now || now.kind === 'run') return false;
    for (let depth = now.kind === 'layer' ? now.depth - 1 : 63; depth >= 0; depth--) {
      const found = layerAt(depth, firstStepOf(now));
      if (found) return found;
    }
    const step = firstStepOf(now), run = t.runs.findIndex((r) => r.firstStep <= step && step < r.firstStep + r.numSteps);
    return s.runs && run >= 0 && { kind: 'run', run };
  }

  function below(): Selection | false {
    const now = cursor();
    if (!now) return s.runs && t.runs.length > 0 && { kind: 'run', run: 0 };
    if (now.kind === 'step') return false;
    const step = firstStepOf(now);
    for (let depth = now.kind === 'layer' ? now.depth + 1 : 0; depth < 64; depth++) {
      const found = layerAt(depth, step);
      if (found) return found;
    }
    return { kind: 'step', step };
  }

  const made: TraceGraph = Object.assign(timeline({
    label: 'Execution trace. Arrows go from step to step, and up to layers and runs; w and s zoom, a and d pan, f shows all.',
    window: s.window, extent: () => ({ from: 0, to: Math.max(1, t.cycles) }), contentHeight: () => total, paint, paintMini, gutter,
    tip: describe, range: s.range,
    onclick: (cycle, y, add) => {
      const at = hit(cycle, y);
      if (at?.hit) select(at.hit, add);
    },
    ondblclick: (cycle, y) => {
      const at = hit(cycle, y)?.hit;
      if (at) made.show(span(at).from, span(at).to);
    },
    onkey: (e) => {
      const by = { ArrowRight: beside(1), ArrowLeft: beside(-1), ArrowUp: above(), ArrowDown: below() }[e.key];
      if (by !== undefined) {
        if (by) select(by, e.shiftKey && by.kind !== 'run');
        if (by && by.kind === 'step' && !e.shiftKey) reveal(by.step);
        return true;
      }
      if (e.key !== 'Enter' && e.key !== 'r') return false;
      const spans = s.selected.map(span);
      if (!spans.length) return true;
      const all = { from: Math.min(...spans.map((one) => one.from)), to: Math.max(...spans.map((one) => one.to)) };
      if (e.key === 'Enter') made.show(all.from, all.to);
      else {
        s.range.value = all;
        made.redraw();
        changed();
      }
      return true;
    },
    onwindow: changed,
  }), { rebuild, select, reveal });
  layout();
  const lanesBox = made.element.querySelector('.lanes');
  if (lanesBox) new ResizeObserver(() => { if (s.bsp && shareHeight() !== bspHeight) layout(); }).observe(lanesBox);
  return made;
}
