/* Lightweight profiling: the blocks that chosen tiles have timed, in rows that stack what overlaps. */
import { breathe } from '../ui/dom';
import { asList, asNumber, asNumbers, asText, get } from './json';
import type { Report } from './report';

export const blockTypes = ['Common', 'StreamCopyBegin', 'StreamCopyMid', 'StreamCopyEnd', 'BlockFlush', 'Overflow', 'Unknown'] as const;
export type BlockType = (typeof blockTypes)[number];

/* Of a row, in the order of their beginnings. */
export interface BlockRow { from: Float64Array; to: Float64Array; type: Uint8Array; name: Uint32Array; flags: Uint8Array }
export const endUnknown = 1, isHost = 2, isRemote = 4;

export interface TileBlocks { tile: number; rows: BlockRow[]; count: number }
export interface Participant { from: number; to: number; name: number; category: string; tiles: number[] }
export interface Blocks {
  tiles: TileBlocks[];
  names: string[];
  participants: Participant[]; /* stream copies with tiles that were not chosen */
  from: number; to: number;
  count: number; dropped: number;
  has: Set<BlockType>;
}

interface Building { from: number[]; to: number[]; type: number[]; name: number[]; flags: number[]; end: number }

export async function blocksOf(report: Report, progress: (done: number) => void): Promise<Blocks | undefined> {
  const raw = get(report.execution, 'lightweightProfile');
  if (raw === undefined) return undefined;
  const made: Blocks = {
    tiles: [], names: [''], participants: [], from: Infinity, to: 0, count: 0, dropped: asNumber(get(raw, 'droppedBlocks')) ?? 0,
    has: new Set(),
  };
  const numbers = new Map<string, number>([['', 0]]);
  const numberOf = (name: string): number => {
    let n = numbers.get(name);
    if (n === undefined) {
      numbers.set(name, n = made.names.length);
      made.names.push(name);
    }
    return n;
  };
  const tiles = asList(get(raw, 'tiles'));
  let begun = performance.now();
  for (let i = 0; i < tiles.length; i++) {
    const rows: Building[] = [], blocks = asList(get(tiles[i], 'blocks'));
    for (const b of blocks) {
      const type = blockTypes.indexOf((asText(get(b, 'type')) ?? 'Unknown') as BlockType);
      const from = asNumber(get(b, 'cyclesFrom')) ?? 0, to = Math.max(from, asNumber(get(b, 'cyclesTo')) ?? from);
      const name = numberOf(asText(get(b, 'name')) ?? ''), category = asText(get(b, 'category')) ?? '';
      let at = rows.findIndex((r) => r.end <= from);
      /* What is inside another goes below it, also where a row above is free again. */
      for (let r = rows.length - 1; r >= 0; r--) if ((rows[r] as Building).end > from) { at = r + 1; break; }
      if (at < 0) at = rows.length;
      const row = rows[at] ??= { from: [], to: [], type: [], name: [], flags: [], end: 0 };
      row.from.push(from);
      row.to.push(to);
      row.type.push(type < 0 ? 6 : type);
      row.name.push(name);
      row.flags.push((get(b, 'endUnknown') === true ? endUnknown : 0) | (category === 'Host' || category === 'Mixed' ? isHost : 0) |
        (category === 'RemoteBuffer' || category === 'Mixed' ? isRemote : 0));
      row.end = to;
      made.has.add(blockTypes[type < 0 ? 6 : type] as BlockType);
      made.from = Math.min(made.from, from);
      made.to = Math.max(made.to, to);
      const parts = asList(get(b, 'tiles'));
      if (parts.length) made.participants.push({ from, to, name, category, tiles: asNumbers(parts) });
    }
    made.count += blocks.length;
    made.tiles.push({
      tile: asNumber(get(tiles[i], 'tile')) ?? 0, count: blocks.length,
      rows: rows.map((r) => ({
        from: Float64Array.from(r.from), to: Float64Array.from(r.to), type: Uint8Array.from(r.type), name: Uint32Array.from(r.name),
        flags: Uint8Array.from(r.flags),
      })),
    });
    if (performance.now() - begun > 30) {
      progress(i / tiles.length);
      await breathe();
      begun = performance.now();
    }
  }
  if (!made.count) made.from = 0;
  return made;
}
