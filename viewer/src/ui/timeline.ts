/* A window on cycles: mini-map with two handles, axis, and below it content as high as it needs, of which the visible part is
 * drawn. The wheel zooms at the pointer, dragging pans, Shift+drag chooses a range, keys do the same. */
import { canvas, ticks, type Surface2d } from './canvas';
import { surface } from './colours';
import { h, shown } from './dom';
import { count } from './format';

export interface Window { from: number; to: number }

export interface Geometry {
  c: CanvasRenderingContext2D;
  left: number; width: number; /* of what is drawn; left of it is the gutter */
  top: number; height: number; /* of the visible content, which begins at `scroll` */
  scroll: number;
  x: (cycle: number) => number;
  window: Window;
}

export interface TimelineOptions {
  label: string;
  window: Window;
  extent: () => Window;
  contentHeight: () => number;
  paint: (g: Geometry) => void;
  paintMini: (g: Geometry) => void;
  axisOrigin?: () => number;
  gutter: HTMLElement;
  tip: (cycle: number, y: number) => string[] | undefined;
  onclick: (cycle: number, y: number, add: boolean) => void;
  ondblclick: (cycle: number, y: number) => void;
  onkey?: (e: KeyboardEvent) => boolean;
  onwindow: () => void;
  range: { value: Window | undefined };
}

export interface Timeline {
  element: HTMLElement; note: HTMLElement;
  redraw: () => void; zoom: (by: number, at?: number) => void; show: (from: number, to: number) => void; fit: () => void;
  picture: () => HTMLCanvasElement; layout: () => void; scrollTo: (y: number) => void;
}

/* A window that an address asks for, where it is one of what there is; all of it otherwise: the address may be another report's. */
export function windowOf(from: number, to: number, first: number, end: number): Window {
  const a = Math.max(first, from), b = Math.min(end, to);
  return b > a ? { from: a, to: b } : { from: first, to: end };
}

export const gutterWidth = 84;
const axis = 20, smallest = 4;

export function timeline(o: TimelineOptions): Timeline {
  const main = canvas(paint, o.label), mini = canvas(paintMini, `${o.label}: mini-map`);
  const spacer = h('div', { class: 'spacer' }, o.gutter);
  const scroller = h('div', { class: 'lanes', tabIndex: -1 }, main.element, spacer);
  const tip = h('div', { class: 'tip', hidden: true, role: 'status' });
  const note = h('div', { class: 'note', hidden: true, role: 'status' });
  const w = o.window;

  const width = (): number => Math.max(1, main.width - gutterWidth - 6);
  const x = (cycle: number): number => gutterWidth + (cycle - w.from) / (w.to - w.from) * width();
  const cycleAt = (px: number): number => w.from + (px - gutterWidth) / width() * (w.to - w.from);

  function show(from: number, to: number): void {
    const all = o.extent(), size = Math.max(Math.min(smallest, all.to - all.from), Math.min(to - from, all.to - all.from));
    const mid = (from + to) / 2;
    w.from = Math.max(all.from, Math.min(all.to - size, to - from < size ? mid - size / 2 : from));
    w.to = w.from + size;
    draw();
    o.onwindow();
  }
  const zoom = (by: number, at = (w.from + w.to) / 2): void => {
    const size = (w.to - w.from) * by, share = (at - w.from) / (w.to - w.from);
    show(at - share * size, at - share * size + size);
  };
  const pan = (by: number): void => {
    const all = o.extent(), from = Math.max(all.from, Math.min(all.to - (w.to - w.from), w.from + by));
    show(from, from + (w.to - w.from));
  };
  const fit = (): void => show(o.extent().from, o.extent().to);
  const draw = (): void => {
    main.redraw();
    mini.redraw();
  };
  /* What is in the mini-map is another, too. */
  const redraw = (): void => {
    isStale = true;
    draw();
  };
  const layout = (): void => {
    spacer.style.height = `${o.contentHeight()}px`;
    redraw();
  };

  function paint(s: Surface2d): void {
    const c = s.context, look = surface(), origin = o.axisOrigin?.() ?? 0;
    c.fillStyle = look.back;
    c.fillRect(0, 0, s.width, s.height);
    const g: Geometry = { c, left: gutterWidth, width: width(), top: axis, height: s.height - axis, scroll: scroller.scrollTop, x, window: w };
    c.save();
    c.beginPath();
    c.rect(gutterWidth, axis, g.width, g.height);
    c.clip();
    o.paint(g);
    if (o.range.value) {
      const a = x(o.range.value.from), b = x(o.range.value.to);
      c.globalAlpha = 0.18;
      c.fillStyle = look.accent;
      c.fillRect(a, axis, b - a, g.height);
      c.globalAlpha = 1;
      c.fillRect(a, axis, 1, g.height);
      c.fillRect(b, axis, 1, g.height);
    }
    c.restore();
    c.fillStyle = look.back;
    c.fillRect(0, 0, s.width, axis);
    c.fillStyle = look.weak;
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    for (const v of ticks(w.from - origin, w.to - origin, g.width / 110)) {
      const px = x(v + origin);
      c.fillRect(Math.round(px), axis - 4, 1, 4);
      c.fillText(Number.isInteger(v) ? count(v) : v.toFixed(2), Math.max(gutterWidth + 12, Math.min(px, s.width - 40)), 8);
    }
    c.textAlign = 'left';
    c.fillText('cycles', 8, 8);
  }

  /* All steps are looked at for the mini-map, so it is kept: the window that goes over it is drawn anew, it is not. */
  const whole = document.createElement('canvas');
  let isStale = true;
  function paintWhole(s: Surface2d, size: number, at: (v: number) => number): void {
    const { width, height } = s.element, c = whole.getContext('2d') as CanvasRenderingContext2D;
    if (!isStale && whole.width === width && whole.height === height) return;
    isStale = false;
    whole.width = width;
    whole.height = height;
    c.scale(width / s.width, height / s.height);
    c.fillStyle = surface().lane;
    c.fillRect(0, 0, s.width, s.height);
    o.paintMini({ c, left: gutterWidth, width: size, top: 0, height: s.height, scroll: 0, x: at, window: o.extent() });
  }

  function paintMini(s: Surface2d): void {
    const c = s.context, look = surface(), all = o.extent();
    const size = s.width - gutterWidth - 6, at = (v: number): number => gutterWidth + (v - all.from) / (all.to - all.from || 1) * size;
    paintWhole(s, size, at);
    c.drawImage(whole, 0, 0, s.width, s.height);
    const a = at(w.from), b = at(w.to);
    c.fillStyle = look.back;
    c.globalAlpha = 0.65;
    c.fillRect(gutterWidth, 0, a - gutterWidth, s.height);
    c.fillRect(b, 0, gutterWidth + size - b, s.height);
    c.globalAlpha = 1;
    c.fillStyle = look.accent;
    c.fillRect(a - 2, 0, 4, s.height);
    c.fillRect(b - 2, 0, 4, s.height);
  }

  /* ---- pointer and keys ---- */

  const contentY = (e: MouseEvent): number => e.offsetY - axis + scroller.scrollTop;
  const element = main.element;
  element.addEventListener('wheel', (e) => {
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      if (e.deltaX) pan(e.deltaX / width() * (w.to - w.from));
      else scroller.scrollTop += e.deltaY;
    } else zoom(Math.exp(e.deltaY * 0.0015), cycleAt(e.offsetX));
    e.preventDefault();
  }, { passive: false });
  let press: { x: number; y: number; from: number; scroll: number; moved: boolean; range: boolean; cycle: number } | undefined;
  element.addEventListener('pointerdown', (e) => {
    if (e.button !== 0) return;
    element.setPointerCapture(e.pointerId);
    press = { x: e.offsetX, y: e.offsetY, from: w.from, scroll: scroller.scrollTop, moved: false, range: e.shiftKey, cycle: cycleAt(e.offsetX) };
  });
  element.addEventListener('pointermove', (e) => {
    if (press && (press.moved || Math.hypot(e.offsetX - press.x, e.offsetY - press.y) > 3)) {
      press.moved = true;
      tip.hidden = true;
      if (press.range) {
        const all = o.extent(), to = Math.max(all.from, Math.min(all.to, cycleAt(e.offsetX)));
        o.range.value = { from: Math.min(press.cycle, to), to: Math.max(press.cycle, to) };
        draw();
        o.onwindow();
        return;
      }
      scroller.scrollTop = press.scroll - (e.offsetY - press.y);
      pan(press.from - (e.offsetX - press.x) / width() * (w.to - w.from) - w.from);
      return;
    }
    const lines = e.offsetX >= gutterWidth && e.offsetY >= axis ? o.tip(cycleAt(e.offsetX), contentY(e)) : undefined;
    tip.hidden = !lines;
    if (!lines) return;
    tip.textContent = lines.map((l) => shown(l)).join('\n');
    const box = root.getBoundingClientRect(), r = element.getBoundingClientRect();
    tip.style.left = `${Math.max(0, Math.min(e.offsetX + 14, main.width - 330))}px`;
    tip.style.top = `${Math.min(e.offsetY + r.top - box.top + 16, box.height - 20 - 17 * lines.length)}px`;
  });
  element.addEventListener('pointerleave', () => { tip.hidden = true; });
  element.addEventListener('pointerup', (e) => {
    if (press && !press.moved && e.offsetX >= gutterWidth) o.onclick(cycleAt(e.offsetX), contentY(e), e.shiftKey);
    press = undefined;
  });
  element.addEventListener('dblclick', (e) => o.ondblclick(cycleAt(e.offsetX), contentY(e)));
  element.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    const size = w.to - w.from;
    if (o.onkey?.(e)) { /* done */ }
    else if (e.key === 'w' || e.key === '+' || e.key === '=') zoom(0.7);
    else if (e.key === 's' || e.key === '-') zoom(1 / 0.7);
    else if (e.key === 'a') pan(-size / 5);
    else if (e.key === 'd') pan(size / 5);
    else if (e.key === 'f' || e.key === '0') fit();
    else if (e.key === 'PageDown') scroller.scrollTop += 200;
    else if (e.key === 'PageUp') scroller.scrollTop -= 200;
    else if (e.key === 'Escape' && o.range.value) {
      o.range.value = undefined;
      draw();
      o.onwindow();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  });
  scroller.addEventListener('scroll', () => main.redraw());

  let hold: 'from' | 'to' | 'both' | undefined, grab = 0;
  const miniCycle = (e: PointerEvent): number => {
    const all = o.extent();
    return all.from + (e.offsetX - gutterWidth) / (mini.width - gutterWidth - 6) * (all.to - all.from);
  };
  mini.element.addEventListener('pointerdown', (e) => {
    const v = miniCycle(e), near = 7 * (o.extent().to - o.extent().from) / mini.width;
    hold = Math.abs(v - w.from) < near ? 'from' : Math.abs(v - w.to) < near ? 'to' : 'both';
    grab = v > w.from && v < w.to ? v - w.from : (w.to - w.from) / 2;
    mini.element.setPointerCapture(e.pointerId);
  });
  mini.element.addEventListener('pointermove', (e) => {
    const v = miniCycle(e);
    if (hold === 'from') show(Math.min(v, w.to - smallest), w.to);
    else if (hold === 'to') show(w.from, Math.max(v, w.from + smallest));
    else if (hold === 'both') pan(v - grab - w.from);
  });
  mini.element.addEventListener('pointerup', (e) => {
    if (hold === 'both') pan(miniCycle(e) - grab - w.from);
    hold = undefined;
  });
  mini.element.addEventListener('keydown', (e) => element.dispatchEvent(new KeyboardEvent('keydown', { key: e.key, shiftKey: e.shiftKey, ctrlKey: e.ctrlKey, altKey: e.altKey, metaKey: e.metaKey, bubbles: false })));

  const root = h('div', { class: 'timeline' }, h('div', { class: 'minimap' }, mini.element), note, scroller, tip);
  layout();
  return {
    element: root, note, redraw, zoom, show, fit, layout, picture: () => main.element,
    scrollTo: (y) => { scroller.scrollTop = y; },
  };
}
