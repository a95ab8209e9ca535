/* A canvas that is as sharp as the screen and as large as its box, drawn at most once a frame. */
import { h, shown } from './dom';

export interface Surface2d { element: HTMLCanvasElement; context: CanvasRenderingContext2D; width: number; height: number; redraw: () => void }

export function canvas(draw: (s: Surface2d) => void, label: string): Surface2d {
  const element = h('canvas', { tabIndex: 0, role: 'img', 'aria-label': label });
  const context = element.getContext('2d') as CanvasRenderingContext2D;
  let asked = false;
  const s: Surface2d = {
    element, context, width: 0, height: 0, redraw: () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        paint();
      });
    },
  };
  function paint(): void {
    const r = element.getBoundingClientRect(), scale = devicePixelRatio || 1;
    if (r.width < 1 || r.height < 1) return;
    if (s.width !== r.width || s.height !== r.height || element.width !== Math.round(r.width * scale)) {
      s.width = r.width;
      s.height = r.height;
      element.width = Math.round(r.width * scale);
      element.height = Math.round(r.height * scale);
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = '12px system-ui, sans-serif';
    draw(s);
  }
  new ResizeObserver(() => s.redraw()).observe(element);
  return s;
}

/* Round numbers of a unit for an axis, about `wanted` of them. */
export function ticks(from: number, to: number, wanted: number, unit = 1): number[] {
  if (unit !== 1) return ticks(from / unit, to / unit, wanted).map((v) => v * unit);
  const raw = (to - from) / Math.max(1, wanted);
  if (!(raw > 0)) return [from];
  const size = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map((m) => m * size).find((v) => v >= raw) ?? raw;
  const made: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to && made.length < 1000; at += step) made.push(at);
  return made;
}

/* The end of a text that fits, after the last slash where it must be cut. */
export function fitted(c: CanvasRenderingContext2D, text: string, width: number): string {
  if (width < 14) return '';
  const short = shown(text, 400);
  if (c.measureText(short).width <= width) return short;
  const last = short.slice(short.lastIndexOf('/') + 1);
  if (last !== short && c.measureText(`…${last}`).width <= width) return `…${last}`;
  let low = 0, high = last.length;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (c.measureText(`${last.slice(0, mid)}…`).width <= width) low = mid;
    else high = mid - 1;
  }
  return low > 0 ? `${last.slice(0, low)}…` : '';
}
