/* The detailed execution trace: the simulated steps of an execution profile, on each IPU and each tile.
 *
 *   steps, costs -> supersteps: between two places where all tiles of an IPU go on together
 *                -> of each step and IPU: when its first tile begins and its last is done, what its tiles take
 *
 * Within a superstep a tile begins a step when it is done with the one before. So when any tile does what follows from
 * the superstep's begin and the tile's costs, and nothing has to be kept for each step and tile. Tiles that have acknowledged
 * several syncs at once (SyncAns) have no part in what lies between them: all supersteps to the last of them know that. */
import { breathe } from '../ui/dom';
import { overflows } from '../ui/format';
import { asList, asNumber, asNumbers, asText, get, type Json } from './json';
import type { Report } from './report';

export type Kind =
  | 'InternalSync' | 'ExternalSync' | 'SyncAns' | 'OnTileExecute' | 'DoExchange' | 'GlobalExchange'
  | 'StreamCopyBegin' | 'StreamCopyMid' | 'StreamCopyEnd' | 'Other';

export const kindLabels: Record<Kind, string> = {
  InternalSync: 'Internal Sync', ExternalSync: 'External Sync', SyncAns: 'SyncAns', OnTileExecute: 'OnTileExecute',
  DoExchange: 'DoExchange', GlobalExchange: 'GlobalExchange', StreamCopyBegin: 'StreamCopyBegin',
  StreamCopyMid: 'StreamCopy (Mid)', StreamCopyEnd: 'StreamCopyEnd', Other: 'Other',
};

export function isSync(kind: Kind): boolean {
  return kind === 'InternalSync' || kind === 'ExternalSync' || kind === 'SyncAns';
}

/* Other than a sync, and counted once: the beginning and the end of a stream copy are phases of its transfer, whose cycles have the end's
 * in them. */
export function isWhole(kind: Kind): boolean {
  return !isSync(kind) && kind !== 'StreamCopyBegin' && kind !== 'StreamCopyEnd';
}

/* Work or transfer, not waiting. */
export function isBusy(kind: Kind): boolean {
  return !isSync(kind) && kind !== 'StreamCopyBegin' && kind !== 'Other';
}

/* Cycles by tile. What is measured has 32 bits; what is estimated may have more. */
export type Cycles = Uint32Array | Float64Array;

/* Cycles of each tile of a compute set or exchange. */
export interface Cost { cycles: Cycles /* 0: no part */; active: number }

export interface Step {
  index: number;
  kind: Kind;
  name: string;
  path: string[]; /* of the flame graph, outermost first; the step itself is not in it */
  program: number; /* -1: the sync of another step */
  thing: number; /* compute set or exchange by its number; -1 */
  from: number; to: number; cycles: number;
  cost: Cost | undefined;
  waiting: Uint8Array | undefined; /* of a SyncAns: by tile, 1: it waits there */
  superstep: number;
  fault: Json | undefined; /* of the run that ended in this step: {message, kind?, tile?, cycle, superstep} */
  raw: Json;
}

export interface Run { name: string; program: number; from: number; to: number; firstStep: number; numSteps: number; parameters: Json | undefined; fault: Json | undefined; raw: Json }

export interface Superstep {
  first: number; end: number;
  starts: Float64Array /* by IPU */; ends: Float64Array;
  ans: number[]; /* steps: the SyncAns that tiles wait in, when they have done their part */
  ansCycles: Float64Array; /* by IPU: what its tiles wait there */
}

export interface Trace {
  steps: Step[];
  runs: Run[];
  cycles: number;
  complete: boolean;
  numIpus: number; numTiles: number; tilesPerIpu: number;
  hasCosts: boolean;
  supersteps: Superstep[];
  /* By step * numIpus + ipu; from > to: the IPU has no part. */
  from: Float64Array; to: Float64Array; longest: Float64Array; sum: Float64Array; active: Uint32Array;
  work: Float64Array; /* by tile: cycles of all its steps */
}

function kindOf(step: Json): Kind {
  const type = asText(get(step, 'type')) ?? '';
  switch (type) {
    case 'Sync': return asText(get(step, 'syncType')) === 'External' ? 'ExternalSync' : 'InternalSync';
    case 'StreamCopy': return 'StreamCopyMid';
    case 'SyncAns': case 'OnTileExecute': case 'DoExchange': case 'GlobalExchange':
    case 'StreamCopyBegin': case 'StreamCopyMid': case 'StreamCopyEnd': return type;
    default: return 'Other';
  }
}

const numbered: Partial<Record<Kind, [string, string]>> = {
  OnTileExecute: ['computeSet', 'computeSets'], DoExchange: ['exchange', 'exchanges'],
  GlobalExchange: ['externalExchange', 'externalExchanges'], StreamCopyMid: ['hostExchange', 'hostExchanges'],
};

function waitingOf(raw: Json | undefined, numTiles: number): Uint8Array | undefined {
  const tiles = asNumbers(get(raw, 'tiles'));
  if (tiles.length < 2) return undefined;
  const waiting = new Uint8Array(numTiles);
  for (let i = 0; i + 1 < tiles.length; i += 2) waiting.fill(1, tiles[i], (tiles[i] as number) + (tiles[i + 1] as number));
  return waiting;
}

function costOf(raw: Json | undefined, numTiles: number): Cost | undefined {
  if (raw === undefined) return undefined;
  const tiles = asNumbers(get(raw, 'tiles')), cycles = asNumbers(get(raw, 'cycles'));
  const cost: Cost = { cycles: cycles.some(overflows) ? new Float64Array(numTiles) : new Uint32Array(numTiles), active: cycles.length };
  let at = 0;
  for (let i = 0; i + 1 < tiles.length; i += 2)
    for (let n = 0; n < (tiles[i + 1] as number) && at < cycles.length; n++) {
      const tile = (tiles[i] as number) + n;
      if (tile < numTiles) cost.cycles[tile] = cycles[at] as number;
      at++;
    }
  return cost;
}

/* What the tile of a fault took is said by the step: the others measured what they did, it did not. */
function withFault(cost: Cost | undefined, raw: Json): Cost | undefined {
  const tile = asNumber(get(raw, 'faultedTile')), cycles = asNumber(get(raw, 'faultedTileCycles'));
  if (!cost || tile === undefined || cycles === undefined || tile >= cost.cycles.length) return cost;
  const changed = overflows(cycles) ? Float64Array.from(cost.cycles) : cost.cycles.slice();
  changed[tile] = cycles;
  return { cycles: changed, active: cost.active };
}

export function pathOf(name: string): string[] {
  return name.split('/').filter((part) => part !== '');
}

/* Lasts; `progress` is called with a share of 1. */
export async function traceOf(report: Report, progress: (done: number) => void): Promise<Trace | undefined> {
  const simulation = get(report.execution, 'simulation');
  const raws = asList(get(simulation, 'steps'));
  if (simulation === undefined || raws.length === 0) return undefined;
  const { numTiles, numIpus, tilesPerIpu, syncCycles } = report.target;
  const costs = get(simulation, 'costs');
  const made = new Map<string, Cost | undefined>();
  /* What has been taken is let go: as JSON it would need several times the room. */
  const cost = (key: string, index: number): Cost | undefined => {
    const id = `${key}/${index}`, all = asList(get(costs, key));
    if (!made.has(id)) {
      made.set(id, costOf(all[index], numTiles));
      if (index < all.length) all[index] = null;
    }
    return made.get(id);
  };

  const acknowledged = asList(get(costs, 'syncAns')).map((raw) => waitingOf(raw, numTiles));

  const steps: Step[] = [];
  let begun = performance.now();
  for (let i = 0; i < raws.length; i++) {
    const raw = raws[i] as Json, kind = kindOf(raw), name = asText(get(raw, 'name')) ?? '';
    const [field, key] = numbered[kind] ?? ['', ''];
    const thing = field ? asNumber(get(raw, field)) ?? -1 : -1;
    const from = asNumber(get(raw, 'cyclesFrom')) ?? 0, to = Math.max(from, asNumber(get(raw, 'cyclesTo')) ?? from);
    steps.push({
      index: i, kind, name, path: pathOf(name), program: asNumber(get(raw, 'program')) ?? -1, thing, from, to,
      cycles: asNumber(get(raw, 'cycles')) ?? to - from, cost: thing >= 0 ? withFault(cost(key, thing), raw) : undefined,
      waiting: kind === 'SyncAns' ? acknowledged[asNumber(get(raw, 'syncAns')) ?? -1] : undefined, superstep: 0, fault: undefined, raw,
    });
    if (performance.now() - begun > 30) {
      progress(0.4 * i / raws.length);
      await breathe();
      begun = performance.now();
    }
  }
  /* A sync without a program is that of the step behind it. */
  for (let i = steps.length - 2; i >= 0; i--) {
    const s = steps[i] as Step, next = steps[i + 1] as Step;
    if (isSync(s.kind) && s.program < 0 && !s.path.length) s.path = next.path;
  }

  const n = steps.length * numIpus;
  const t: Trace = {
    steps, runs: runsOf(report, simulation), cycles: asNumber(get(simulation, 'cycles')) ?? 0,
    complete: get(report.execution, 'programTraceComplete') !== false,
    numIpus, numTiles, tilesPerIpu, hasCosts: costs !== undefined, supersteps: [],
    from: new Float64Array(n), to: new Float64Array(n), longest: new Float64Array(n), sum: new Float64Array(n),
    active: new Uint32Array(n), work: new Float64Array(numTiles),
  };
  for (const s of steps) t.cycles = Math.max(t.cycles, s.to);
  for (const run of t.runs) {
    const last = steps[run.firstStep + run.numSteps - 1];
    if (run.fault !== undefined && run.numSteps > 0 && last) last.fault = run.fault;
  }
  await place(t, syncCycles, (done) => progress(0.4 + 0.6 * done));
  return t;
}

function runsOf(report: Report, simulation: Json): Run[] {
  const names = asList(get(report.execution, 'runs'));
  return asList(get(simulation, 'runs')).map((raw, i) => {
    const of = names[i], name = asText(get(of, 'runName')) ?? '';
    return {
      name: name || `Engine::run #${i + 1}`, program: asNumber(get(of, 'program')) ?? 0,
      from: asNumber(get(raw, 'cyclesFrom')) ?? 0, to: asNumber(get(raw, 'cyclesTo')) ?? 0,
      fault: get(of, 'fault'), parameters: get(of, 'parameters') ?? get(report.execution, 'runParameters'), firstStep: asNumber(get(raw, 'firstStep')) ?? 0, numSteps: asNumber(get(raw, 'numSteps')) ?? 0, raw: of ?? null,
    };
  });
}

function superstepFrom(first: number, starts: Float64Array): Superstep {
  return { first, end: first, starts, ends: starts, ans: [], ansCycles: new Float64Array(starts.length) };
}

/* A SyncAns: from the superstep of its first sync to that of its last, which has just ended. */
function placeAns(t: Trace, s: Step): void {
  const waiting = s.waiting as Uint8Array, { numIpus, tilesPerIpu, numTiles } = t;
  let syncs = asNumber(get(s.raw, 'syncs')) ?? 1, at = s.index;
  while (syncs > 0 && --at >= 0) {
    const kind = (t.steps[at] as Step).kind;
    if (kind === 'InternalSync' || kind === 'ExternalSync') syncs--;
  }
  const first = at < 0 ? 0 : (t.steps[at] as Step).superstep;
  for (let n = first; n < t.supersteps.length; n++) (t.supersteps[n] as Superstep).ans.push(s.index);
  for (let ipu = 0; ipu < numIpus; ipu++) {
    let active = 0, longest = 0;
    const base = s.index * numIpus + ipu, waits = new Float64Array(t.supersteps.length - first);
    for (let tile = ipu * tilesPerIpu; tile < Math.min(numTiles, (ipu + 1) * tilesPerIpu); tile++) {
      if (!waiting[tile]) continue;
      active++;
      let sum = 0;
      for (let n = first; n < t.supersteps.length; n++) {
        const of = t.supersteps[n] as Superstep;
        let cycles = (of.ends[ipu] as number) - (of.starts[ipu] as number);
        for (let i = of.first; i < of.end && n === first; i++) cycles -= (t.steps[i] as Step).cost?.cycles[tile] ?? 0;
        waits[n - first] = (waits[n - first] as number) + cycles;
        sum += cycles;
      }
      if (sum > longest) longest = sum;
    }
    waits.forEach((cycles, n) => { const of = (t.supersteps[first + n] as Superstep).ansCycles; of[ipu] = (of[ipu] as number) + cycles; });
    const end = (t.supersteps[t.supersteps.length - 1] as Superstep | undefined)?.ends[ipu] ?? s.to;
    t.from[base] = active ? end - longest : Infinity;
    t.to[base] = active ? end : -Infinity;
    t.longest[base] = longest;
    t.active[base] = active;
  }
}

/* When each IPU does each step. */
async function place(t: Trace, syncCycles: number, progress: (done: number) => void): Promise<void> {
  const { steps, numIpus, tilesPerIpu, numTiles } = t;
  const clocks = new Float64Array(numTiles);
  let superstep = superstepFrom(0, new Float64Array(numIpus));
  let begun = performance.now();
  const latest = (ipu: number): number => {
    let most = 0;
    for (let tile = ipu * tilesPerIpu; tile < Math.min(numTiles, (ipu + 1) * tilesPerIpu); tile++)
      if ((clocks[tile] as number) > most) most = clocks[tile] as number;
    return most;
  };
  /* All tiles of an IPU go on at its `ends`. */
  const close = (next: number, ends: Float64Array): void => {
    superstep.end = next;
    superstep.ends = ends;
    t.supersteps.push(superstep);
    superstep = superstepFrom(next, ends.slice());
    for (let ipu = 0; ipu < numIpus; ipu++) clocks.fill(ends[ipu] as number, ipu * tilesPerIpu, (ipu + 1) * tilesPerIpu);
  };
  for (const s of steps) {
    const base = s.index * numIpus;
    s.superstep = t.supersteps.length;
    if (s.kind === 'InternalSync' || s.kind === 'ExternalSync') {
      const ends = new Float64Array(numIpus);
      for (let ipu = 0; ipu < numIpus; ipu++) {
        const asked = Math.min(latest(ipu), s.to);
        const end = s.kind === 'InternalSync' && t.hasCosts ? Math.min(asked + syncCycles, s.to) : s.to;
        t.from[base + ipu] = t.hasCosts ? Math.min(asked, end) : s.from;
        t.to[base + ipu] = ends[ipu] = end;
        t.longest[base + ipu] = end - (t.from[base + ipu] as number);
        t.active[base + ipu] = Math.min(tilesPerIpu, numTiles - ipu * tilesPerIpu);
      }
      close(s.index + 1, ends);
    } else if (s.waiting) {
      placeAns(t, s);
    } else if (s.cost) {
      for (let ipu = 0; ipu < numIpus; ipu++) {
        let from = Infinity, to = -Infinity, longest = 0, sum = 0, active = 0;
        for (let tile = ipu * tilesPerIpu; tile < Math.min(numTiles, (ipu + 1) * tilesPerIpu); tile++) {
          const cycles = s.cost.cycles[tile] as number;
          if (!cycles) continue;
          const clock = clocks[tile] as number;
          if (clock < from) from = clock;
          if (clock + cycles > to) to = clock + cycles;
          if (cycles > longest) longest = cycles;
          sum += cycles;
          active++;
          clocks[tile] = clock + cycles;
          t.work[tile] = (t.work[tile] as number) + cycles;
        }
        t.from[base + ipu] = from;
        t.to[base + ipu] = to;
        t.longest[base + ipu] = longest;
        t.sum[base + ipu] = sum;
        t.active[base + ipu] = active;
      }
      if (s.kind !== 'OnTileExecute' && s.kind !== 'DoExchange') close(s.index + 1, new Float64Array(numIpus).fill(s.to));
    } else {
      /* Nobody has measured its tiles: it is as long as the profile says, everywhere. */
      for (let ipu = 0; ipu < numIpus; ipu++) {
        t.from[base + ipu] = s.from;
        t.to[base + ipu] = s.to;
        t.longest[base + ipu] = s.to - s.from;
      }
      if (s.to > s.from) close(s.index + 1, new Float64Array(numIpus).fill(s.to));
    }
    if (s.index % 64 === 0 && performance.now() - begun > 30) {
      progress(s.index / steps.length);
      await breathe();
      begun = performance.now();
    }
  }
  if (superstep.first < steps.length) {
    const ends = new Float64Array(numIpus);
    for (let ipu = 0; ipu < numIpus; ipu++) ends[ipu] = latest(ipu);
    superstep.end = steps.length;
    superstep.ends = ends;
    t.supersteps.push(superstep);
  }
}

/* Has the IPU a part in the step? */
export function takesPart(t: Trace, step: number, ipu: number): boolean {
  return (t.to[step * t.numIpus + ipu] as number) > (t.from[step * t.numIpus + ipu] as number);
}

/* How evenly the tiles of the IPU are used. */
export function balanceOn(t: Trace, step: number, ipu: number): number {
  const at = step * t.numIpus + ipu, longest = t.longest[at] as number;
  const tiles = Math.min(t.tilesPerIpu, t.numTiles - ipu * t.tilesPerIpu);
  return longest > 0 ? (t.sum[at] as number) / (longest * tiles) : 0;
}

/* The first step that ends behind the cycle; steps are in the order of their ends, but for overlaps of one superstep. */
export function firstStepAt(t: Trace, cycle: number): number {
  let low = 0, high = t.supersteps.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (Math.max(...(t.supersteps[mid] as Superstep).ends) > cycle) high = mid;
    else low = mid + 1;
  }
  return t.supersteps[low]?.first ?? t.steps.length;
}
