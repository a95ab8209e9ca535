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

/* Undefined behind the trace. A tile that has done its part waits in the superstep's sync. */
export function stateOf(t: Trace, superstep: number, ipu: number, tile: number, cycle: number): TileState | undefined {
  const s = t.supersteps[superstep];
  if (!s) return undefined;
  let clock = s.starts[ipu] as number, sync = s.end - 1;
  for (let i = s.first; i < s.end; i++) {
    const step = t.steps[i] as Step;
    if (isSync(step.kind)) sync = i;
    else if (step.cost) {
      clock += step.cost.cycles[tile] as number;
      if (cycle < clock) return { kind: step.kind, step: i };
    } else if (step.to > step.from && cycle < step.to) return { kind: step.kind, step: i };
  }
  const last = t.steps[sync] as Step | undefined;
  return last ? { kind: isSync(last.kind) ? last.kind : 'ExternalSync', step: sync } : undefined;
}
