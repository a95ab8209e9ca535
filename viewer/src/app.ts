/* What views share: the reports, what has been made of them, what the person has chosen. Choices are kept in the address, so
 * that a link shows the same. */
import { blocksOf, type Blocks } from './model/blocks';
import type { Report } from './model/report';
import { traceOf, type Trace } from './model/trace';

export class Choices {
  private values = new Map<string, string>();
  private waiting = 0;
  private address = ''; /* that was read or written last */
  private times = 0; /* that an address was read */

  /* Those of a part of the page are the page's, under names of their own. */
  constructor(private readonly whole?: Choices, private readonly prefix = '') {
    if (!whole) this.read();
  }

  read(): void {
    clearTimeout(this.waiting);
    this.waiting = 0;
    this.address = location.hash;
    this.times++;
    this.values = new Map(new URLSearchParams(location.hash.slice(1)));
  }

  /* Another number: another address has been read since. */
  reading(): number {
    return this.whole ? this.whole.reading() : this.times;
  }

  text(key: string, otherwise = ''): string {
    return (this.whole ? this.whole.text(this.prefix + key) || undefined : this.values.get(key)) ?? otherwise;
  }

  number(key: string, otherwise: number): number {
    const value = Number(this.text(key) || NaN);
    return Number.isFinite(value) ? value : otherwise;
  }

  flag(key: string, otherwise: boolean): boolean {
    const value = this.text(key);
    return value === '' ? otherwise : value === '1';
  }

  set(key: string, value: string | number | boolean | undefined): void {
    if (this.whole) {
      this.whole.set(this.prefix + key, value);
      return;
    }
    if (value === undefined || value === '') this.values.delete(key);
    else this.values.set(key, typeof value === 'boolean' ? (value ? '1' : '0') : String(value));
    if (this.waiting) return;
    this.waiting = window.setTimeout(() => {
      this.waiting = 0;
      /* Another address has been typed and is about to be read: it must not be written over. */
      if (location.hash !== this.address) return;
      history.replaceState(null, '', `#${new URLSearchParams([...this.values])}`);
      this.address = location.hash;
    }, 250);
  }
}

/* What a view keeps of a report or a trace while other views are shown. It is made anew when another address has been read. */
export class Kept<K extends object, S> {
  private readonly states = new WeakMap<K, { reading: number; state: S }>();

  of(key: K, choices: Choices, make: () => S): S {
    const known = this.states.get(key), reading = choices.reading();
    if (known?.reading === reading) return known.state;
    const state = make();
    this.states.set(key, { reading, state });
    return state;
  }
}

export interface App {
  apps: App[]; /* one for each report of the page */
  report: Report;
  choices: Choices;
  trace: Trace | undefined;
  blocks: Blocks | undefined;
  go: (view: string) => void;
  say: (text: string) => void; /* to those who hear the page */
}

export async function prepare(report: Report, progress: (what: string, done: number) => void): Promise<{ trace: Trace | undefined; blocks: Blocks | undefined }> {
  const trace = await traceOf(report, (done) => progress('Placing the steps on the tiles', done));
  const blocks = await blocksOf(report, (done) => progress('Reading timed blocks', done));
  return { trace, blocks };
}

export interface View { id: string; title: string; icon: string; make: (app: App) => HTMLElement }
