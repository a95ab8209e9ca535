/* Memory of tiles, from a graph profile: by region, category, vertex type. */
import { asList, asNumber, asNumbers, get, isMap, type Json } from './json';
import type { Report } from './report';

export const regions = ['nonInterleaved', 'interleaved', 'overflowed'] as const;
export const regionLabels: Record<(typeof regions)[number], string> = {
  nonInterleaved: 'Non-interleaved', interleaved: 'Interleaved', overflowed: 'Overflowed',
};

/* As the text summary calls them. */
const labels: Record<string, string> = {
  variable: 'Variables', constant: 'Constants', message: 'Internal Exchange Message Buffers', hostMessage: 'Host Exchange Message Buffers',
  globalMessage: 'Global Exchange Message Buffers', rearrangement: 'Data Rearrangement Buffers', outputEdge: 'Output Edge Buffers', multiple: 'Shared By Several Categories',
  hostExchangePacketHeader: 'Host Exchange Packet Headers', globalExchangePacketHeader: 'Global Exchange Packet Headers', stack: 'Stack',
  vertexInstanceState: 'Vertex Instances', copyDescriptor: 'Copy Descriptors', vectorListDescriptor: 'VectorList Descriptors',
  vertexFieldData: 'Vertex Field Data', controlTable: 'Control Table', controlCode: 'Control Code', controlId: 'Control IDs', vertexCode: 'Vertex Code',
  internalExchangeCode: 'Internal Exchange Code', hostExchangeCode: 'Host Exchange Code', globalExchangeCode: 'Global Exchange Code',
  instrumentationResults: 'Instrumentation Results', sharedCodeStorage: 'Shared Code Storage', sharedDataStorage: 'Shared Data Storage',
};

export function categoryLabel(key: string): string {
  return labels[key] ?? key;
}

export function byTile(r: Report, key: string): number[] {
  return asNumbers(get(r.graph, 'memory', 'byTile', key));
}

export function categories(r: Report): string[] {
  const of = get(r.graph, 'memory', 'byCategory');
  return isMap(of) ? Object.keys(of) : [];
}

export function categoryTotal(r: Report, category: string): number[] {
  return asNumbers(get(r.graph, 'memory', 'byCategory', category, 'total'));
}

/* Bytes of a category that have their place for themselves, or share it with others, in all regions. */
export function categoryPart(r: Report, category: string, part: 'nonOverlapped' | 'overlapped'): number[] {
  let sum: number[] = [];
  for (const region of regions) {
    const of = asNumbers(get(r.graph, 'memory', 'byCategory', category, region, part));
    sum = sum.length ? sum.map((v, i) => v + (of[i] ?? 0)) : of;
  }
  return sum;
}

export function total(of: ArrayLike<number>, tiles?: number[]): number {
  let sum = 0;
  if (tiles) for (const t of tiles) sum += of[t] ?? 0;
  else for (let i = 0; i < of.length; i++) sum += of[i] as number;
  return sum;
}

/* Of rows that each have a number of every tile: what those of these tiles are together, or of all, which is kept since rows may be many. */
const sums = new WeakMap<Json[], number[]>();
export function rowSums(raw: Json | undefined, tiles?: number[]): number[] {
  const rows = asList(raw), known = tiles ? undefined : sums.get(rows);
  if (known) return known;
  const made = rows.map((of) => {
    const row = asList(of);
    let sum = 0;
    if (tiles) for (const t of tiles) sum += asNumber(row[t]) ?? 0;
    else for (let i = 0; i < row.length; i++) sum += asNumber(row[i]) ?? 0;
    return sum;
  });
  if (!tiles) sums.set(rows, made);
  return made;
}

export function table2(raw: Json | undefined): number[][] {
  return Array.isArray(raw) ? raw.map((row) => asNumbers(row)) : [];
}

/* "0, 3, 7-9": numbers of tiles, as many as a table has columns for; what is none is left out. */
export const mostTiles = 64;
export function tilesOf(text: string, numTiles: number, most = mostTiles): number[] {
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const range = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(part);
    if (!range) continue;
    const first = Number(range[1]), last = Math.min(numTiles - 1, Number(range[2] ?? range[1]));
    for (let t = first; t <= last && found.size < most; t++) found.add(t);
  }
  return [...found];
}

/* Where tiles lie: in the order of their numbers, up one column of the chip and down the next, as in the published
 * pictures. Our machine's tiles have no other place, so both orders are the same. */
export interface Placed { name: string; category: string; address: number; bytes: number }

export function placedOn(r: Report, tile: number): Placed[] | undefined {
  const tiles = get(r.vars, 'tiles');
  if (!Array.isArray(tiles)) return undefined;
  const of = tiles.find((t) => get(t, 'tile') === tile), list = get(of, 'variables');
  if (!Array.isArray(list)) return undefined;
  return list.map((v) => ({
    name: String(get(v, 'name') ?? ''), category: String(get(v, 'category') ?? ''), address: Number(get(v, 'address') ?? 0), bytes: Number(get(v, 'bytes') ?? 0),
  })).sort((a, b) => a.address - b.address);
}
