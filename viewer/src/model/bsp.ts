/* What one tile does in one cycle: the BSP pattern. */
import { isSync, type Kind, type Step, type Superstep, type Trace } from './trace';

export function superstepAt(t: Trace, ipu: number, cycle: number): number {
  let low = 0, high = t.supersteps.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (((t.supersteps[mid] as Superstep).ends[ipu] as number) > cycle) high = mid;
    else low = mid + 1;
  }
  return low;
}

export interface TileState { kind: Kind; step: number }

/* The SyncAns in which the tile waits; undefined: in none. */
export function ansOf(t: Trace, s: Superstep, tile: number): TileState | undefined {
  for (const step of s.ans) if ((t.steps[step] as Step).waiting?.[tile]) return { kind: 'SyncAns', step };
  return undefined;
}

/* What other tiles do when they have done their part: they wait in the sync at the end, or for the end of an exchange with the
 * host or between IPUs; of a step whose tiles nobody has measured, all do it to its end. */
export function waitOf(t: Trace, s: Superstep): TileState {
  const last = t.steps[s.end - 1] as Step;
  return { kind: isSync(last.kind) && last.kind !== 'SyncAns' || !last.cost ? last.kind : 'ExternalSync', step: last.index };
}

/* Undefined behind the trace. */
export function stateOf(t: Trace, superstep: number, ipu: number, tile: number, cycle: number): TileState | undefined {
  const s = t.supersteps[superstep];
  if (!s) return undefined;
  let clock = s.starts[ipu] as number;
  for (let i = s.first; i < s.end; i++) {
    const step = t.steps[i] as Step;
    if (step.cost) clock += step.cost.cycles[tile] as number;
    if (cycle < clock) return { kind: step.kind, step: i };
  }
  return ansOf(t, s, tile) ?? waitOf(t, s);
}
