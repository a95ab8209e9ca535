/* Bars of the trace's graph: rows of each IPU for the flat view, the flame view, with overlaps apart or not, with syncs grouped or
 * hidden. Rows are sorted by their beginnings, and know how far the bars up to each reach, so that drawing finds what is visible by
 * halving: within a superstep, tiles go from step to step by themselves, so that a bar may begin before, or end behind, many that follow it. */
import { isSync, takesPart, type Kind, type Step, type Trace } from './trace';

export interface LaneOptions {
  flame: boolean; groupExecutions: boolean; groupSyncs: boolean; separate: boolean; externalSyncs: boolean; syncAns: boolean;
}

/* A bar is a step, or a layer with all from its first to its last step. */
export interface Row {
  depth: number;
  first: Int32Array; last: Int32Array; /* steps */
  from: Float64Array; to: Float64Array;
  reach: Float64Array; /* the latest end of all bars up to this one */
  isLayer: boolean;
  count: number;
  names: string[] | undefined; /* of layers */
  kinds: Uint8Array | undefined; /* of layers: what takes longest in them, a number of `layerKinds` */
}

export const layerKinds: Kind[] = ['OnTileExecute', 'DoExchange', 'GlobalExchange', 'InternalSync', 'ExternalSync', 'SyncAns',
  'StreamCopyBegin', 'StreamCopyMid', 'StreamCopyEnd', 'Other'];

interface Bar { first: number; last: number; from: number; to: number; name: string; kind: number }

function rowOf(unsorted: Bar[], depth: number, isLayer: boolean): Row {
  const bars = [...unsorted].sort((a, b) => a.from - b.from), n = bars.length;
  let reach = 0;
  const row: Row = {
    depth, isLayer, count: n, first: new Int32Array(n), last: new Int32Array(n), from: new Float64Array(n), to: new Float64Array(n), reach: new Float64Array(n),
    names: isLayer ? [] : undefined, kinds: isLayer ? new Uint8Array(n) : undefined,
  };
  bars.forEach((b, i) => {
    row.first[i] = b.first;
    row.last[i] = b.last;
    row.from[i] = b.from;
    row.to[i] = b.to;
    row.reach[i] = reach = Math.max(reach, b.to);
    row.names?.push(b.name);
    if (row.kinds) row.kinds[i] = b.kind;
  });
  return row;
}

function stepBars(t: Trace, ipu: number, o: LaneOptions): Bar[] {
  const bars: Bar[] = [];
  for (const s of t.steps) {
    if (!takesPart(t, s.index, ipu) || s.waiting) continue;
    if (s.kind === 'ExternalSync' && !o.externalSyncs || s.kind === 'SyncAns' && !o.syncAns) continue;
    const at = s.index * t.numIpus + ipu, before = bars[bars.length - 1];
    const bar: Bar = {
      first: s.index, last: s.index, from: t.from[at] as number, to: t.to[at] as number, name: s.name,
      kind: layerKinds.indexOf(s.kind),
    };
    const follows = before && before.last === s.index - 1 && isSync((t.steps[before.last] as Step).kind);
    if (o.groupSyncs && isSync(s.kind) && before && follows) {
      before.last = s.index;
      before.to = bar.to;
    } else bars.push(bar);
  }
  return bars;
}

/* Of tiles that have acknowledged syncs in advance, beside the steps of the others. */
function ansBars(t: Trace, ipu: number): Bar[] {
  return t.steps.filter((s) => s.waiting && takesPart(t, s.index, ipu)).map((s) => {
    const at = s.index * t.numIpus + ipu;
    return { first: s.index, last: s.index, from: t.from[at] as number, to: t.to[at] as number, name: s.name, kind: layerKinds.indexOf(s.kind) };
  }).sort((a, b) => a.from - b.from || a.to - b.to);
}

/* So that none overlaps another in its row. */
function spread(bars: Bar[]): Bar[][] {
  const lanes: Bar[][] = [], ends: number[] = [];
  for (const b of bars) {
    let lane = ends.findIndex((end) => end <= b.from);
    if (lane < 0) lane = lanes.push([]) - 1;
    (lanes[lane] as Bar[]).push(b);
    ends[lane] = b.to;
  }
  return lanes;
}

/* How many parts of its path each bar shares with the one before. */
function sharedDepths(t: Trace, bars: Bar[]): Uint32Array {
  const shared = new Uint32Array(bars.length);
  let before: string[] = [];
  bars.forEach((b, i) => {
    const path = (t.steps[b.first] as Step).path;
    let n = 0;
    while (n < path.length && n < before.length && path[n] === before[n]) n++;
    shared[i] = n;
    before = path;
  });
  return shared;
}

/* Layers of a depth: neighbours with the same path so far. */
function layers(t: Trace, bars: Bar[], shared: Uint32Array, depth: number): Bar[] {
  const made: Bar[] = [], takes = new Map<number, number>();
  let last: Bar | undefined;
  const end = (): void => {
    if (last) last.kind = [...takes].sort((x, y) => y[1] - x[1])[0]?.[0] ?? 0;
    takes.clear();
    last = undefined;
  };
  for (const [i, b] of bars.entries()) {
    const of = (t.steps[b.first] as Step).path;
    if (of.length <= depth) {
      end();
      continue;
    }
    if (!last || (shared[i] as number) <= depth) {
      end();
      last = { first: b.first, last: b.last, from: b.from, to: b.to, name: of[depth] as string, kind: 0 };
      made.push(last);
    } else {
      last.last = b.last;
      last.to = Math.max(last.to, b.to);
    }
    const step = t.steps[b.first] as Step;
    takes.set(b.kind, (takes.get(b.kind) ?? 0) + (isSync(step.kind) ? 0 : b.to - b.from));
  }
  end();
  return made;
}

/* Neighbouring steps of the same call path, the last part of which says what they are for, as one. */
function grouped(t: Trace, bars: Bar[]): Bar[] {
  const made: Bar[] = [];
  for (const b of bars) {
    const step = t.steps[b.first] as Step, before = made[made.length - 1];
    const parent = step.path.slice(0, Math.max(1, step.path.length - 1)).join('/');
    if (before && parent && before.name === parent) {
      before.last = b.last;
      before.to = Math.max(before.to, b.to);
      if (before.to - before.from > 0 && isSync((t.steps[before.first] as Step).kind)) before.kind = b.kind;
    } else made.push({ ...b, name: parent });
  }
  return made;
}

export function rowsOf(t: Trace, ipu: number, o: LaneOptions): Row[] {
  const bars = stepBars(t, ipu, o);
  const rows: Row[] = [];
  if (o.flame) {
    let deepest = 0;
    for (const s of t.steps) if (s.path.length > deepest) deepest = s.path.length;
    const shared = sharedDepths(t, bars);
    for (let depth = 0; depth < Math.min(deepest, 64); depth++) rows.push(rowOf(layers(t, bars, shared, depth), depth, true));
  }
  if (o.groupExecutions && !o.flame) {
    rows.push(rowOf(grouped(t, bars), 0, true));
    return rows;
  }
  const steps = o.separate ? spread(bars) : [bars];
  if (o.syncAns) steps.push(...spread(ansBars(t, ipu)));
  for (const lane of steps) rows.push(rowOf(lane, rows.length, false));
  return rows;
}

/* The bar before the first of a row that ends behind a cycle. */
export function firstBar(row: Row, cycle: number): number {
  let low = 0, high = row.count;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((row.reach[mid] as number) > cycle) high = mid;
    else low = mid + 1;
  }
  return Math.max(0, low - 1);
}

export function barAt(row: Row, cycle: number): number {
  let found = -1;
  for (let i = firstBar(row, cycle); i < row.count && (row.from[i] as number) <= cycle; i++)
    if ((row.to[i] as number) > cycle) found = i;
  return found;
}
