/* A report as popview has put it into the page:
 *
 *   {name, source, graph?, execution?, vars?, debug?, code?, files: [{name, status}]}
 *
 * graph and execution are the guide's profiles (populus/profile.h), vars, debug and code what the engine writes beside them. */
import { asList, asNumber, asNumbers, asText, get, type Json } from './json';

export interface ReportFile { name: string; status: string }

export interface Target {
  type: string; architecture: string; numTiles: number; numIpus: number; numReplicas: number; tilesPerIpu: number;
  bytesPerTile: number; systemBytes: number; bytesPerIpu: number; totalMemory: number; clock: number; syncCycles: number;
}

export interface Program { type: string; name: string; children: number[]; raw: Json }

export interface Report {
  name: string;
  version: string;
  written: string;
  graph: Json | undefined;
  execution: Json | undefined;
  vars: Json | undefined;
  debug: Json | undefined;
  code: Json | undefined;
  files: ReportFile[];
  target: Target;
  programs: Program[];
}

/* How many tiles an execution profile speaks of. */
function tilesOf(execution: Json | undefined): number {
  let tiles = 1;
  for (const of of asList(get(execution, 'computeSetCyclesByTile'))) tiles = Math.max(tiles, asList(of).length);
  for (const kind of ['computeSets', 'exchanges', 'externalExchanges', 'hostExchanges', 'syncAns'])
    for (const of of asList(get(execution, 'simulation', 'costs', kind))) {
      const ranges = asNumbers(get(of, 'tiles')), last = ranges.length - ranges.length % 2;
      if (last) tiles = Math.max(tiles, (ranges[last - 2] as number) + (ranges[last - 1] as number));
    }
  for (const of of asList(get(execution, 'lightweightProfile', 'tiles'))) tiles = Math.max(tiles, (asNumber(get(of, 'tile')) ?? 0) + 1);
  return tiles;
}

function targetOf(graph: Json | undefined, execution: Json | undefined): Target {
  const n = (key: string): number => asNumber(get(graph, 'target', key)) ?? 0;
  /* Without a graph profile all tiles are as those of one IPU, and syncs as long as the steps say. */
  const tilesPerIpu = n('tilesPerIPU') || n('numTiles') || (graph === undefined ? tilesOf(execution) : 1);
  const replicas = n('numReplicas') || 1;
  /* A profile is one replica's. */
  const numTiles = (n('numTiles') || tilesPerIpu * (n('numIPUs') || 1)) / replicas;
  return {
    type: asText(get(graph, 'target', 'type')) ?? '', architecture: asText(get(graph, 'target', 'architecture')) ?? '',
    numTiles, numIpus: Math.max(1, Math.ceil(numTiles / tilesPerIpu)), numReplicas: replicas, tilesPerIpu,
    bytesPerTile: n('bytesPerTile'), systemBytes: n('systemBytesPerTile'), bytesPerIpu: n('bytesPerIPU'),
    totalMemory: n('totalMemory'), clock: n('clockFrequency'), syncCycles: asNumber(get(graph, 'target', 'minSyncDelay')) ?? Infinity,
  };
}

function programOf(raw: Json): Program {
  return {
    type: asText(get(raw, 'type')) ?? 'Unknown', name: asText(get(raw, 'name')) ?? '',
    children: asNumbers(get(raw, 'children')), raw,
  };
}

export function reportOf(raw: Json): Report {
  const graph = get(raw, 'graph');
  return {
    name: asText(get(raw, 'name')) ?? 'report',
    version: asText(get(raw, 'version')) ?? asText(get(raw, 'debug', 'version')) ?? '',
    written: asText(get(raw, 'written')) ?? '',
    graph, execution: get(raw, 'execution'), vars: get(raw, 'vars'), debug: get(raw, 'debug'), code: get(raw, 'code'),
    files: asList(get(raw, 'files')).map((f) => ({ name: asText(get(f, 'name')) ?? '', status: asText(get(f, 'status')) ?? '' })),
    target: targetOf(graph, get(raw, 'execution')),
    programs: asList(get(graph, 'programs')).map(programOf),
  };
}

export function computeSetName(r: Report, index: number): string {
  return asText(asList(get(r.graph, 'computeSets', 'names'))[index]) ?? `compute set ${index}`;
}
