/* Colours of what happens, in the light and in the dark; each kind has a pattern, too, for those who do not tell colours
 * apart. */
import type { Kind } from '../model/trace';

export interface Look { fill: string; group: string; pattern: 'none' | 'up' | 'down' | 'dots' | 'cross' | 'rows' }

const light: Record<Kind, Look> = {
  OnTileExecute: { fill: '#f66271', group: '#fab7c5', pattern: 'none' },
  DoExchange: { fill: '#b1e0e7', group: '#d8eff3', pattern: 'up' },
  GlobalExchange: { fill: '#8fb8f0', group: '#c7dbf7', pattern: 'down' },
  InternalSync: { fill: '#f6e6a1', group: '#fbf3d0', pattern: 'none' },
  ExternalSync: { fill: '#e3c65a', group: '#fbf3d0', pattern: 'cross' },
  SyncAns: { fill: '#cfe3a0', group: '#e7f1d0', pattern: 'dots' },
  StreamCopyBegin: { fill: '#dbdbdb', group: '#ededed', pattern: 'none' },
  StreamCopyMid: { fill: '#f0b093', group: '#f7cdb9', pattern: 'rows' },
  StreamCopyEnd: { fill: '#f6e6a1', group: '#fbf3d0', pattern: 'rows' },
  Other: { fill: '#dcdcdc', group: '#eeeeee', pattern: 'dots' },
};

const dark: Record<Kind, Look> = {
  OnTileExecute: { fill: '#d94a5b', group: '#7a3642', pattern: 'none' },
  DoExchange: { fill: '#5fa3ae', group: '#2f545b', pattern: 'up' },
  GlobalExchange: { fill: '#5b86c4', group: '#31496d', pattern: 'down' },
  InternalSync: { fill: '#b79f45', group: '#5c5127', pattern: 'none' },
  ExternalSync: { fill: '#8f7722', group: '#5c5127', pattern: 'cross' },
  SyncAns: { fill: '#8aa54d', group: '#495729', pattern: 'dots' },
  StreamCopyBegin: { fill: '#787878', group: '#4c4c4c', pattern: 'none' },
  StreamCopyMid: { fill: '#c07c5c', group: '#6d4735', pattern: 'rows' },
  StreamCopyEnd: { fill: '#b79f45', group: '#5c5127', pattern: 'rows' },
  Other: { fill: '#6b6b6b', group: '#444444', pattern: 'dots' },
};

const system = matchMedia('(prefers-color-scheme: dark)');
let isDark = system.matches;

/* The person's choice, or none: the system's. Colours are asked for with every bar, so that it is found out once. */
export function setTheme(chosen: string): void {
  if (chosen) document.documentElement.dataset['theme'] = chosen;
  else delete document.documentElement.dataset['theme'];
  isDark = chosen ? chosen === 'dark' : system.matches;
}

export function themeIsDark(): boolean {
  return isDark;
}

export function onSystemTheme(then: () => void): void {
  system.addEventListener('change', () => {
    setTheme(document.documentElement.dataset['theme'] ?? '');
    then();
  });
}

export function lookOf(kind: Kind): Look {
  return (isDark ? dark : light)[kind];
}

export interface Surface { back: string; lane: string; text: string; weak: string; line: string; run: string; runText: string; accent: string; track: string; greyed: string; fault: string }

const surfaces: { dark: Surface; light: Surface } = {
  dark: { back: '#1b1d21', lane: '#26292f', text: '#e8e8ea', weak: '#a9adb5', line: '#3b4048', run: '#c9ccd2', runText: '#1b1d21', accent: '#6ea2ff', track: '#31353d', greyed: '#33373e', fault: '#ff6b5e' },
  light: { back: '#ffffff', lane: '#eeeeee', text: '#1d1f23', weak: '#5b616b', line: '#d4d7dd', run: '#383838', runText: '#ffffff', accent: '#1f5fd0', track: '#e9ebf3', greyed: '#e2e2e2', fault: '#c01818' },
};

export function surface(): Surface {
  return isDark ? surfaces.dark : surfaces.light;
}

/* What text is written in on a colour of `lookOf`: in the dark some are light. */
const inks = new Map<string, string>();
export function inkOn(colour: string): string {
  if (!isDark) return surfaces.light.text;
  let ink = inks.get(colour);
  if (!ink) {
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)) as [number, number, number];
    inks.set(colour, ink = 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000000' : '#ffffff'); /* both have a contrast of 4.5 or more there */
  }
  return ink;
}

/* Part of the way from one colour to another. */
function mixed(colour: string, with_: number, part: number): string {
  return `#${[1, 3, 5].map((i) => Math.round(parseInt(colour.slice(i, i + 2), 16) * (1 - part) + with_ * part).toString(16).padStart(2, '0')).join('')}`;
}

/* Colours of things that are told apart by their place in a list: ten, then the same darker, then lighter. */
export function seriesColour(index: number): string {
  const lights = ['#508ffe', '#f66271', '#4fb39a', '#e0a526', '#9a6fe0', '#6bb8e8', '#d973b5', '#7f9c3f', '#c47d4e', '#6f7787'];
  const darks = ['#5b93f0', '#e0596a', '#4aa78f', '#c9962b', '#9474d4', '#5aa3d1', '#c46aa5', '#8aa54d', '#bb7a50', '#8b93a3'];
  const of = isDark ? darks : lights, colour = of[index % of.length] as string, turn = Math.floor(index / of.length) % 3;
  return turn ? mixed(colour, turn === 1 ? 0 : 255, 0.45) : colour;
}

/* A colour as a pixel of ImageData has it, darker by `dim`. */
const pixels = new Map<string, [number, number, number]>();
export function pixelOf(colour: string, dim = 1): number {
  let rgb = pixels.get(colour);
  if (!rgb) pixels.set(colour, rgb = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)) as [number, number, number]);
  return (255 << 24 | rgb[2] * dim << 16 | rgb[1] * dim << 8 | rgb[0] * dim) >>> 0;
}

/* Strokes over a rectangle in the manner of the kind; for keys and wide bars. */
export function hatch(c: CanvasRenderingContext2D, look: Look, x: number, y: number, w: number, height: number): void {
  if (look.pattern === 'none' || w < 6) return;
  c.save();
  c.beginPath();
  c.rect(x, y, w, height);
  c.clip();
  c.strokeStyle = 'rgba(0,0,0,0.16)';
  c.lineWidth = 1;
  c.beginPath();
  const step = 7, most = Math.min(w, 4000);
  for (let at = -height; at < most + height; at += step) {
    if (look.pattern === 'up' || look.pattern === 'cross') {
      c.moveTo(x + at, y + height);
      c.lineTo(x + at + height, y);
    }
    if (look.pattern === 'down' || look.pattern === 'cross') {
      c.moveTo(x + at, y);
      c.lineTo(x + at + height, y + height);
    }
    if (look.pattern === 'dots') c.rect(x + at, y + height / 2, 1, 1);
  }
  if (look.pattern === 'rows') for (let at = 4; at < height; at += 5) {
    c.moveTo(x, y + at);
    c.lineTo(x + most, y + at);
  }
  c.stroke();
  c.restore();
}
