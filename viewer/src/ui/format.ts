/* Numbers as people read them. */

export type Unit = 'KiB' | 'kB' | 'bytes';
let unit: Unit = 'KiB';

export function setUnit(to: Unit): void {
  unit = to;
}

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1, minimumFractionDigits: 1 });

export function count(value: number): string {
  return Number.isFinite(value) ? grouped.format(value) : '–';
}

export function decimal(value: number): string {
  return Number.isFinite(value) ? tenths.format(value) : '–';
}

/* In the unit that the person has chosen; small numbers are always exact. */
export function bytes(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const base = unit === 'kB' ? 1000 : 1024;
  if (unit === 'bytes' || Math.abs(value) < base) return `${count(value)} B`;
  const names = unit === 'kB' ? ['kB', 'MB', 'GB', 'TB'] : ['KiB', 'MiB', 'GiB', 'TiB'];
  let scaled = value / base, at = 0;
  while (Math.abs(scaled) >= base && at < names.length - 1) {
    scaled /= base;
    at++;
  }
  return `${tenths.format(scaled)} ${names[at]}`;
}

/* What bytes of such a size are counted in: 1, 1,024, … */
export function unitFor(value: number): number {
  const base = unit === 'kB' ? 1000 : 1024;
  return unit === 'bytes' || value < base ? 1 : base ** Math.floor(Math.log(value) / Math.log(base));
}

export function share(value: number): string {
  return Number.isFinite(value) ? `${tenths.format(value * 100)}%` : '–';
}

export function signed(value: number, format: (v: number) => string): string {
  return value > 0 ? `+${format(value)}` : format(value);
}

/* Cycles beyond what a 32-bit counter of a tile holds may be wrong. */
export function overflows(cycles: number): boolean {
  return cycles > 0xffffffff;
}
