/* Figures of a window of a trace: what the Summary tab says.
 *
 * By steps: the part of each step that is in the window. By tiles ("new BSP stats"): what every tile does in every cycle of
 * it; whole supersteps are summed once, those at the edges tile by tile. */
import { asNumbers, asText, asList, get } from './json';
import { ansOf, waitOf } from './bsp';
import type { Report } from './report';
import { balanceOn, firstStepAt, isBusy, isSync, isWhole, takesPart, type Kind, type Step, type Superstep, type Trace } from './trace';

export interface Moved { received: number; sent: number; steps: number }

export interface WindowOfIpu {
  proportions: Map<Kind, number>; /* cycles of steps in the window */
  tileBalance: number | undefined; /* mean over steps but syncs, by their length in the window */
  tileCycles: Map<Kind, number> | undefined; /* of all tiles; what is missing to the whole is idle */
  utilisation: number | undefined;
  streamCopy: Map<string, Moved> /* by whose memory it is: Host, RemoteBuffer, Mixed */; globalExchange: Moved;
}

export interface WindowFigures { cycles: number; steps: number; ipus: WindowOfIpu[] }

function clip(from: number, to: number, a: number, b: number): number {
  return Math.max(0, Math.min(to, b) - Math.max(from, a));
}

/* When the first IPU begins the superstep of a step. */
function begins(t: Trace, step: Step): number {
  const starts = t.supersteps[step.superstep]?.starts;
  if (!starts) return 0;
  let first = Infinity;
  for (const start of starts) if (start < first) first = start;
  return first;
}

/* Of each tile-cycle kind, exactly; `numTiles` tiles from `first` on. */
function addSuperstep(t: Trace, s: Superstep, ipu: number, a: number, b: number, into: Map<Kind, number>): void {
  const first = ipu * t.tilesPerIpu, end = Math.min(t.numTiles, first + t.tilesPerIpu);
  const start = s.starts[ipu] as number, whole = a <= start && (s.ends[ipu] as number) <= b;
  const add = (kind: Kind, cycles: number): void => void into.set(kind, (into.get(kind) ?? 0) + cycles);
  const waits = waitOf(t, s).kind;
  if (whole) {
    let sum = 0;
    for (let i = s.first; i < s.end; i++) {
      const step = t.steps[i] as Step;
      if (!step.cost) continue;
      add(step.kind, t.sum[i * t.numIpus + ipu] as number);
      sum += t.sum[i * t.numIpus + ipu] as number;
    }
    const ans = s.ansCycles[ipu] as number;
    if (ans) add('SyncAns', ans);
    add(waits, ((s.ends[ipu] as number) - start) * (end - first) - sum - ans);
    return;
  }
  for (let tile = first; tile < end; tile++) {
    let clock = start;
    for (let i = s.first; i < s.end; i++) {
      const step = t.steps[i] as Step, cycles = step.cost ? step.cost.cycles[tile] as number : 0;
      if (cycles) add(step.kind, clip(clock, clock + cycles, a, b));
      clock += cycles;
    }
    add(ansOf(t, s, tile)?.kind ?? waits, clip(clock, s.ends[ipu] as number, a, b));
  }
}

/* Bytes by IPU of each exchange of a kind, summed when they are first asked for. */
const movedBy = new WeakMap<Trace, Map<string, Moved[]>>();
export function movedOf(report: Report, t: Trace, step: Step): Moved[] | undefined {
  const key = step.kind === 'GlobalExchange' ? 'externalExchanges' : step.kind === 'DoExchange' ? 'exchanges' : 'hostExchanges';
  if (step.thing < 0 || asList(get(report.graph, key, 'names')).length <= step.thing) return undefined;
  let known = movedBy.get(t);
  if (!known) movedBy.set(t, known = new Map());
  const id = `${key}/${step.thing}`, found = known.get(id);
  if (found) return found;
  const made: Moved[] = Array.from({ length: t.numIpus }, () => ({ received: 0, sent: 0, steps: 1 }));
  const take = (field: string, into: 'received' | 'sent'): void => {
    asNumbers(asList(get(report.graph, key, field))[step.thing]).forEach((n, tile) => {
      const of = made[Math.floor(tile / t.tilesPerIpu)];
      if (of) of[into] += n;
    });
  };
  take('bytesReceivedByTile', 'received');
  take('bytesSentByTile', 'sent');
  known.set(id, made);
  return made;
}

function streamCopyOf(report: Report, step: Step, all: Map<string, Moved>): Moved {
  const category = asText(asList(get(report.graph, 'hostExchanges', 'category'))[step.thing]) ?? 'unknown';
  let of = all.get(category);
  if (!of) all.set(category, of = { received: 0, sent: 0, steps: 0 });
  return of;
}

export function figuresOf(report: Report, t: Trace, a: number, b: number, byTiles: boolean): WindowFigures {
  const ipus: WindowOfIpu[] = [];
  const first = firstStepAt(t, a);
  const counted = new Uint8Array(t.steps.length - first);
  let count = 0;
  for (let ipu = 0; ipu < t.numIpus; ipu++) {
    const of: WindowOfIpu = {
      proportions: new Map(), tileBalance: undefined, tileCycles: byTiles && t.hasCosts ? new Map() : undefined,
      utilisation: undefined, streamCopy: new Map(), globalExchange: { received: 0, sent: 0, steps: 0 },
    };
    let weight = 0, balance = 0;
    for (let i = first; i < t.steps.length; i++) {
      const step = t.steps[i] as Step, at = i * t.numIpus + ipu;
      if (begins(t, step) > b) break;
      /* Tiles that wait for syncs which they have acknowledged do so while others do their steps, which are counted. */
      if (!takesPart(t, i, ipu) || step.waiting) continue;
      const cycles = clip(t.from[at] as number, t.to[at] as number, a, b);
      if (!cycles) continue;
      if (!counted[i - first]) {
        counted[i - first] = 1;
        count++;
      }
      of.proportions.set(step.kind, (of.proportions.get(step.kind) ?? 0) + cycles);
      if (!isSync(step.kind) && step.cost) {
        weight += cycles;
        balance += cycles * balanceOn(t, i, ipu);
      }
      const moved = step.kind === 'GlobalExchange' || step.kind === 'StreamCopyMid' ? movedOf(report, t, step)?.[ipu] : undefined;
      if (moved) {
        const into = step.kind === 'GlobalExchange' ? of.globalExchange : streamCopyOf(report, step, of.streamCopy);
        into.received += moved.received;
        into.sent += moved.sent;
        into.steps++;
      }
    }
    if (weight > 0) of.tileBalance = balance / weight;
    if (of.tileCycles) {
      for (let s = t.steps[first]?.superstep ?? t.supersteps.length; s < t.supersteps.length; s++) {
        const superstep = t.supersteps[s] as Superstep;
        if ((superstep.starts[ipu] as number) >= b) break;
        if ((superstep.ends[ipu] as number) > a) addSuperstep(t, superstep, ipu, a, b, of.tileCycles);
      }
      let busy = 0;
      for (const [kind, cycles] of of.tileCycles) if (isBusy(kind)) busy += cycles;
      const tiles = Math.min(t.tilesPerIpu, t.numTiles - ipu * t.tilesPerIpu);
      of.utilisation = b > a ? busy / ((b - a) * tiles) : undefined;
    }
    ipus.push(of);
  }
  return { cycles: b - a, steps: count, ipus };
}

/* What names take in the window: by themselves, and with all below them. */
export interface Sandwich { name: string; self: number; total: number; steps: number }
export function sandwich(t: Trace, a: number, b: number): Sandwich[] {
  const rows = new Map<string, Sandwich>();
  const row = (name: string): Sandwich => {
    let r = rows.get(name);
    if (!r) rows.set(name, r = { name, self: 0, total: 0, steps: 0 });
    return r;
  };
  for (let i = firstStepAt(t, a); i < t.steps.length; i++) {
    const step = t.steps[i] as Step;
    if (begins(t, step) > b) break;
    if (!isWhole(step.kind)) continue;
    const cycles = clip(step.from, step.to, a, b);
    if (!cycles) continue;
    const own = row(step.path.join('/') || step.name || step.kind);
    own.self += cycles;
    own.steps++;
    let path = '';
    for (const part of step.path) row(path += path ? `/${part}` : part).total += cycles;
    if (!step.path.length) own.total += cycles;
  }
  return [...rows.values()].sort((x, y) => y.total - x.total || y.self - x.self);
}
