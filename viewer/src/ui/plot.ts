/* A plot of series over whole numbers (tiles, steps): lines by steps, or areas on each other; a mini-map; wheel and keys
 * zoom, dragging pans, a click chooses, Shift+click adds. */
import { canvas, ticks, type Surface2d } from './canvas';
import { pixelOf, seriesColour, surface } from './colours';
import { h, shown } from './dom';
import { bytes, unitFor } from './format';

export interface Series { name: string; values: ArrayLike<number>; colour?: string; hidden?: boolean }

export interface PlotOptions {
  label: string;
  xName: string;
  format: (value: number) => string;
  stacked: boolean;
  line?: { value: number; name: string } | undefined; /* a limit, drawn across */
  selected?: () => number[];
  onselect?: (x: number, add: boolean) => void;
  describe?: (x: number) => string[]; /* lines of the callout */
  minimap?: boolean;
  nameOf?: (x: number) => string; /* of a place on the axis; otherwise its number */
  spans?: () => { from: number; to: number; name: string }[]; /* drawn over the plot */
}

export interface Plot { element: HTMLElement; redraw: () => void; window: { from: number; to: number } }

const left = 76, bottom = 34, top = 10;

export function plot(series: () => Series[], o: PlotOptions, keep?: { from: number; to: number }): Plot {
  const length = (): number => Math.max(1, ...series().map((s) => s.values.length));
  const view = keep ?? { from: 0, to: length() };
  if (!(view.to > view.from) || view.to > length()) {
    view.from = 0;
    view.to = length();
  }
  const tip = h('div', { class: 'tip', hidden: true, role: 'status' });
  const main = canvas(paint, o.label), small = o.minimap ? canvas(paintSmall, `${o.label}: mini-map`) : undefined;
  const redraw = (): void => {
    main.redraw();
    small?.redraw();
  };
  const xOf = (v: number): number => left + (v - view.from) / (view.to - view.from) * (main.width - left - 8);
  const at = (px: number): number => view.from + (px - left) / (main.width - left - 8) * (view.to - view.from);

  /* Of each pixel's places the one with the largest sum: their largest values on each other would be more than any place has. */
  function stack(all: Series[], into: Float64Array[], px: number, a: number, b: number): void {
    let at = a, most = 0, below = 0;
    for (let i = a; i < b; i++) {
      let sum = 0;
      for (const s of all) sum += Math.max(0, s.values[i] ?? 0);
      if (sum <= most) continue;
      most = sum;
      at = i;
    }
    all.forEach((s, n) => { (into[n] as Float64Array)[px] = below += Math.max(0, s.values[at] ?? 0); });
  }

  /* The largest of each pixel's values: none is lost that way. */
  function columns(all: Series[], width: number, from: number, to: number): Float64Array[] {
    const made = all.map(() => new Float64Array(Math.ceil(width))), end = length();
    for (let px = 0; px < Math.ceil(width); px++) {
      const a = Math.max(0, Math.floor(from + px / width * (to - from)));
      const b = Math.min(end, Math.max(a + 1, Math.ceil(from + (px + 1) / width * (to - from) - 1e-9)));
      if (o.stacked) stack(all, made, px, a, b);
      else all.forEach((s, n) => {
        let most = 0;
        for (let i = a; i < Math.min(b, s.values.length); i++) if ((s.values[i] as number) > most) most = s.values[i] as number;
        (made[n] as Float64Array)[px] = most;
      });
    }
    return made;
  }

  /* Areas on each other as pixels: of many series there would be tens of thousands of rectangles. */
  const areas = document.createElement('canvas');
  function drawAreas(s: Surface2d, x0: number, y0: number, height: number, lines: Float64Array[], colours: string[], most: number): void {
    const wide = lines[0]?.length ?? 0, high = Math.round(height * s.element.height / s.height), into = areas.getContext('2d') as CanvasRenderingContext2D;
    if (wide < 1 || high < 1) return;
    areas.width = wide;
    areas.height = high;
    const image = into.createImageData(wide, high), pixels = new Uint32Array(image.data.buffer), packed = colours.map((colour) => pixelOf(colour));
    for (let px = 0; px < wide; px++) {
      let y = high;
      for (let i = 0; i < lines.length; i++) {
        /* What there is, is seen. */
        const value = (lines[i] as Float64Array)[px] as number, up = value > 0 ? Math.min(high - 1, high - Math.round(Math.min(1, value / most) * high)) : high;
        while (y > up) pixels[--y * wide + px] = packed[i] as number;
      }
    }
    into.putImageData(image, 0, 0);
    s.context.imageSmoothingEnabled = false;
    s.context.drawImage(areas, x0, y0, wide, height);
  }

  function draw(s: Surface2d, x0: number, width: number, y0: number, height: number, from: number, to: number, most: number): void {
    const c = s.context, all = series().filter((one) => !one.hidden), lines = columns(all, width, from, to), colours = all.map((one, i) => one.colour ?? seriesColour(i));
    if (o.stacked || lines.length === 1) {
      drawAreas(s, x0, y0, height, lines, colours, most);
      return;
    }
    for (let i = lines.length - 1; i >= 0; i--) {
      c.strokeStyle = colours[i] as string;
      c.lineWidth = 1.5;
      c.beginPath();
      (lines[i] as Float64Array).forEach((v, px) => {
        const y = y0 + height - Math.min(1, v / most) * height;
        if (px) c.lineTo(x0 + px, y);
        else c.moveTo(x0, y);
      });
      c.stroke();
    }
  }

  function highest(from: number, to: number): number {
    const all = series().filter((s) => !s.hidden), lines = columns(all, 600, from, to);
    let most = o.line ? o.line.value * 1.04 : 0;
    for (const line of lines) for (const v of line) if (v > most) most = v;
    return most > 0 ? most * 1.04 : 1;
  }

  function paint(s: Surface2d): void {
    const c = s.context, look = surface(), width = s.width - left - 8, height = s.height - bottom - top;
    c.fillStyle = look.back;
    c.fillRect(0, 0, s.width, s.height);
    if (width < 20 || height < 10) return;
    const most = highest(view.from, view.to);
    c.textBaseline = 'middle';
    for (const v of ticks(0, most, Math.max(2, height / 40), o.format === bytes ? unitFor(most) : 1)) {
      const y = top + height - v / most * height;
      c.strokeStyle = look.line;
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(left, Math.round(y) + 0.5);
      c.lineTo(s.width - 8, Math.round(y) + 0.5);
      c.stroke();
      c.fillStyle = look.weak;
      c.textAlign = 'right';
      c.fillText(o.format(v), left - 6, y);
    }
    for (const x of o.selected?.() ?? []) {
      c.fillStyle = look.track;
      c.fillRect(xOf(x), top, Math.max(2, xOf(x + 1) - xOf(x)), height);
    }
    draw(s, left, width, top, height, view.from, view.to, most);
    for (const x of o.selected?.() ?? []) {
      c.strokeStyle = look.accent;
      c.lineWidth = 2;
      c.strokeRect(xOf(x), top, Math.max(2, xOf(x + 1) - xOf(x)), height);
    }
    if (o.line && o.line.value <= most) {
      const y = top + height - o.line.value / most * height;
      c.strokeStyle = '#d6303f';
      c.setLineDash([6, 4]);
      c.beginPath();
      c.moveTo(left, y);
      c.lineTo(s.width - 8, y);
      c.stroke();
      c.setLineDash([]);
      c.fillStyle = look.text;
      c.textAlign = 'left';
      c.fillText(o.line.name, left + 4, y - 8 < top + 6 ? y + 9 : y - 8);
    }
    (o.spans?.() ?? []).forEach((span) => {
      const y = top + 6, a = Math.max(left, xOf(span.from)), b = Math.min(s.width - 8, xOf(span.to));
      if (b <= a) return;
      c.fillStyle = look.accent;
      c.fillRect(a, y, b - a, 4);
      c.textAlign = 'left';
      c.fillStyle = look.text;
      c.fillText(shown(span.name, 60), a, y + 10);
    });
    c.fillStyle = look.weak;
    c.textAlign = 'center';
    c.textBaseline = 'top';
    for (const v of ticks(view.from, view.to, width / 90)) if (Number.isInteger(v) && v < view.to) c.fillText(o.nameOf?.(v) ?? String(v), Math.max(left + 4, xOf(v)), s.height - bottom + 4);
    c.fillText(o.xName, left + width / 2, s.height - 15);
  }

  function paintSmall(s: Surface2d): void {
    const c = s.context, look = surface(), width = s.width - left - 8, n = length();
    c.fillStyle = look.lane;
    c.fillRect(0, 0, s.width, s.height);
    draw(s, left, width, 2, s.height - 4, 0, n, highest(0, n));
    c.fillStyle = look.accent;
    c.globalAlpha = 0.2;
    const a = left + view.from / n * width, b = left + view.to / n * width;
    c.fillRect(a, 0, b - a, s.height);
    c.globalAlpha = 1;
    c.fillRect(a - 2, 0, 4, s.height);
    c.fillRect(b - 2, 0, 4, s.height);
  }

  function zoom(by: number, centre: number): void {
    const n = length(), width = Math.min(n, Math.max(4, (view.to - view.from) * by));
    const share = (centre - view.from) / (view.to - view.from);
    view.from = Math.max(0, Math.min(n - width, centre - share * width));
    view.to = view.from + width;
    redraw();
  }
  function pan(by: number): void {
    const n = length(), width = view.to - view.from;
    view.from = Math.max(0, Math.min(n - width, view.from + by));
    view.to = view.from + width;
    redraw();
  }
  const within = (x: number): boolean => x >= 0 && x < length();
  main.element.addEventListener('wheel', (e) => {
    e.preventDefault();
    zoom(Math.exp(e.deltaY * 0.0015), at(e.offsetX));
  }, { passive: false });
  let press: { x: number; from: number; moved: boolean } | undefined;
  main.element.addEventListener('pointerdown', (e) => {
    press = { x: e.offsetX, from: view.from, moved: false };
    main.element.setPointerCapture(e.pointerId);
  });
  main.element.addEventListener('pointermove', (e) => {
    if (press && (press.moved || Math.abs(e.offsetX - press.x) > 3)) {
      press.moved = true;
      pan(press.from - (e.offsetX - press.x) / (main.width - left - 8) * (view.to - view.from) - view.from);
    }
    const x = Math.floor(at(e.offsetX));
    tip.hidden = !within(x) || e.offsetX < left;
    if (tip.hidden) return;
    const lines = o.describe?.(x) ?? [`${o.xName} ${x}`, ...series().filter((s) => !s.hidden).map((s) => `${s.name}: ${o.format(s.values[x] ?? 0)}`)];
    tip.textContent = lines.map((l) => shown(l)).join('\n');
    tip.style.left = `${Math.max(0, Math.min(e.offsetX + 14, main.width - 280))}px`;
    tip.style.top = `${e.offsetY + 14}px`;
  });
  main.element.addEventListener('pointerleave', () => { tip.hidden = true; });
  main.element.addEventListener('pointerup', (e) => {
    const x = Math.floor(at(e.offsetX));
    if (press && !press.moved && within(x)) o.onselect?.(x, e.shiftKey);
    press = undefined;
    redraw();
  });
  main.element.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey) return; /* the browser's */
    const mid = (view.from + view.to) / 2, width = view.to - view.from, last = o.selected?.().at(-1) ?? -1;
    if (e.key === 'w' || e.key === '+') zoom(0.7, mid);
    else if (e.key === 's' || e.key === '-') zoom(1 / 0.7, mid);
    else if (e.key === 'a') pan(-width / 5);
    else if (e.key === 'd') pan(width / 5);
    else if (e.key === 'f' || e.key === '0') zoom(1e9, mid);
    else if (e.key === 'ArrowRight' && o.onselect && within(last + 1)) o.onselect(last + 1, e.shiftKey);
    else if (e.key === 'ArrowLeft' && o.onselect && within(last - 1)) o.onselect(last - 1, e.shiftKey);
    else return;
    e.preventDefault();
    e.stopPropagation();
    redraw();
  });
  if (small) {
    const element = small.element;
    let hold: 'from' | 'to' | 'both' | undefined, grab = 0;
    const value = (e: PointerEvent): number => (e.offsetX - left) / (small.width - left - 8) * length();
    element.addEventListener('pointerdown', (e) => {
      const v = value(e), near = length() / (small.width - left - 8) * 6;
      hold = Math.abs(v - view.from) < near ? 'from' : Math.abs(v - view.to) < near ? 'to' : 'both';
      grab = v - view.from;
      if (hold === 'both' && (v < view.from || v > view.to)) {
        grab = (view.to - view.from) / 2;
        pan(v - grab - view.from);
      }
      element.setPointerCapture(e.pointerId);
    });
    element.addEventListener('pointermove', (e) => {
      const v = Math.max(0, Math.min(length(), value(e)));
      if (hold === 'from') view.from = Math.min(v, view.to - 4 > 0 ? view.to - 4 : 0);
      else if (hold === 'to') view.to = Math.max(v, Math.min(length(), view.from + 4));
      else if (hold === 'both') pan(v - grab - view.from);
      if (hold) redraw();
    });
    element.addEventListener('pointerup', () => { hold = undefined; });
  }
  return { element: h('div', { class: 'plot' }, small && h('div', { class: 'minimap' }, small.element), h('div', { class: 'main' }, main.element, tip)), redraw, window: view };
}

/* What the colours mean; a click hides a series or shows it again. */
export function legend(series: Series[], changed: () => void): HTMLElement {
  return h('div', { class: 'legend' }, series.map((s, i) => {
    const box = h('span', { class: 'box' });
    box.style.background = s.colour ?? seriesColour(i);
    return h('button', {
      'aria-pressed': String(!s.hidden), title: 'Show or hide', onclick: (e: Event) => {
        s.hidden = !s.hidden;
        (e.currentTarget as HTMLElement).setAttribute('aria-pressed', String(!s.hidden));
        changed();
      },
    }, box, shown(s.name, 80));
  }));
}
