/* A square for each tile, in the order of the tiles' numbers, IPU by IPU: the fuller, the more of it is filled, in the colours of the breakdown. A click or the arrow keys choose,
 * with Shift for more than one. It is no plan of a chip: tiles of the software IPU have numbers, and no places. */
import { canvas, type Surface2d } from './canvas';
import { seriesColour, surface } from './colours';
import { h, shown } from './dom';
import type { Plot, Series } from './plot';

export interface TileMapOptions {
  tilesPerIpu: number;
  whole: () => number; /* what a full square stands for */
  format: (value: number) => string;
  selected: () => number[];
  onselect: (tile: number, add: boolean) => void;
}

const gap = 16, head = 18, edge = 8;

export function tileMap(series: () => Series[], o: TileMapOptions): Plot {
  const length = (): number => Math.max(1, ...series().map((s) => s.values.length)), tip = h('div', { class: 'tip', hidden: true, role: 'status' });
  const main = canvas(paint, 'Memory of each tile, as a map. Arrows go from tile to tile.');
  let size = 1, columns = 1, ipusPerRow = 1;

  /* The largest squares with which all IPUs have room, and are as square as it goes. */
  function measure(s: Surface2d): void {
    const ipus = Math.max(1, Math.ceil(length() / o.tilesPerIpu)), tiles = Math.min(length(), o.tilesPerIpu);
    size = 0;
    for (let perRow = 1; perRow <= ipus; perRow++) {
      const width = (s.width - 2 * edge - (perRow - 1) * gap) / perRow, height = (s.height - edge) / Math.ceil(ipus / perRow) - head;
      if (width < 4 || height < 4) continue;
      let fits = Math.floor(Math.sqrt(width * height / tiles));
      while (fits > 1 && Math.ceil(tiles / Math.floor(width / fits)) * fits > height) fits--;
      if (fits <= size) continue;
      size = Math.min(fits, 80);
      columns = Math.max(1, Math.floor(width / size));
      ipusPerRow = perRow;
    }
    if (!size) size = columns = ipusPerRow = 1;
  }
  const placeOf = (tile: number): { x: number; y: number } => {
    const ipu = Math.floor(tile / o.tilesPerIpu), within = tile % o.tilesPerIpu, rows = Math.ceil(Math.min(length(), o.tilesPerIpu) / columns);
    return {
      x: edge + ipu % ipusPerRow * (columns * size + gap) + within % columns * size,
      y: head + Math.floor(ipu / ipusPerRow) * (rows * size + head) + Math.floor(within / columns) * size,
    };
  };
  const tileAt = (x: number, y: number): number | undefined => {
    for (let tile = 0; tile < length(); tile++) {
      const p = placeOf(tile);
      if (x >= p.x && x < p.x + size && y >= p.y && y < p.y + size) return tile;
    }
    return undefined;
  };

  function paint(s: Surface2d): void {
    measure(s);
    const c = s.context, look = surface(), whole = o.whole() || 1, chosen = new Set(o.selected()), inner = size > 3 ? size - 1 : size;
    c.fillStyle = look.back;
    c.fillRect(0, 0, s.width, s.height);
    c.textAlign = 'left';
    c.textBaseline = 'middle';
    for (let tile = 0; tile < length(); tile++) {
      const { x, y } = placeOf(tile);
      if (tile % o.tilesPerIpu === 0) {
        c.fillStyle = look.weak;
        c.fillText(`IPU ${tile / o.tilesPerIpu}`, x, y - head / 2);
      }
      c.fillStyle = look.track;
      c.fillRect(x, y, inner, inner);
      let filled = 0;
      series().forEach((one, i) => {
        const part = one.hidden ? 0 : Math.min(1 - filled, (one.values[tile] ?? 0) / whole);
        if (!(part > 0)) return;
        c.fillStyle = one.colour ?? seriesColour(i);
        c.fillRect(x, y + inner * (1 - filled - part), inner, inner * part);
        filled += part;
      });
      if (!chosen.has(tile)) continue;
      c.strokeStyle = look.text;
      c.lineWidth = 2;
      c.strokeRect(x, y, inner, inner);
    }
  }

  const element = main.element;
  element.addEventListener('pointermove', (e) => {
    const tile = tileAt(e.offsetX, e.offsetY);
    tip.hidden = tile === undefined;
    if (tile === undefined) return;
    tip.textContent = [`tile ${tile}`, ...series().filter((s) => !s.hidden && (s.values[tile] ?? 0) > 0).map((s) => `${s.name}: ${o.format(s.values[tile] ?? 0)}`)].map((l) => shown(l)).join('\n');
    tip.style.left = `${Math.max(0, Math.min(e.offsetX + 14, main.width - 280))}px`;
    tip.style.top = `${Math.min(e.offsetY + 14, Math.max(0, main.height - 80))}px`;
  });
  element.addEventListener('pointerleave', () => { tip.hidden = true; });
  element.addEventListener('click', (e) => {
    const tile = tileAt(e.offsetX, e.offsetY);
    if (tile !== undefined) o.onselect(tile, e.shiftKey);
  });
  element.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey) return; /* the browser's */
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[e.key], last = o.selected().at(-1);
    if (by === undefined) return;
    const next = last === undefined ? 0 : last + by;
    if (next >= 0 && next < length()) o.onselect(next, e.shiftKey);
    e.preventDefault();
    e.stopPropagation();
  });
  return { element: h('div', { class: 'plot' }, h('div', { class: 'main tilemap' }, element, tip)), redraw: () => main.redraw(), window: { from: 0, to: length() } };
}
