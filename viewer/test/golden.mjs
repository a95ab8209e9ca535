/* Reports with everything that a report may have, and what is true of them by another way: every tile's intervals, one by one.
 * 2 IPUs of 4 tiles; two runs; all types of steps; names that would like to be markup; timed blocks with an overflow. */
import { mkdirSync, writeFileSync } from 'node:fs';

export const hostile = '</script><img src=x onerror=alert(1)>&"\'\n\u202eevil\u{1f600}';
export const tilesPerIpu = 4, numTiles = 8, syncCycles = 10;

/* What each thing takes on each tile; 0: no part. */
export const costs = {
  computeSets: [[300, 310, 320, 330, 200, 210, 220, 230], [50, 60, 70, 80, 0, 0, 40, 0], [0, 0, 0, 0, 0, 0, 0, 900]],
  exchanges: [[40, 44, 48, 52, 30, 34, 38, 42], [50, 60, 0, 0, 70, 0, 0, 20]],
  externalExchanges: [[100, 0, 0, 0, 100, 0, 0, 0]],
  hostExchanges: [[70, 70, 0, 0, 0, 0, 0, 0], [90, 0, 0, 0, 0, 0, 0, 0]],
};
const names = { computeSets: ['layer1/conv', 'layer1/relu', hostile + 'n'.repeat(10240)], exchanges: ['layer1/conv/ExchangePre', 'layer3/gather'], externalExchanges: ['layer2/all/GlobalExchange'], hostExchanges: ['next batch', 'fetch weights'] };
const keys = { OnTileExecute: ['computeSet', 'computeSets'], DoExchange: ['exchange', 'exchanges'], GlobalExchange: ['externalExchange', 'externalExchanges'], StreamCopy: ['hostExchange', 'hostExchanges'] };
export const bytes = {
  exchanges: { received: [64, 0, 0, 32, 0, 16, 0, 0], sent: [0, 64, 16, 0, 32, 0, 0, 0] },
  externalExchanges: { received: [0, 0, 0, 0, 4096, 0, 0, 0], sent: [4096, 0, 0, 0, 0, 0, 0, 0] },
  hostExchanges: { received: [1000, 24, 0, 0, 0, 0, 0, 0], sent: [0, 0, 0, 0, 0, 0, 0, 0] },
};

/* Of Conv<float> the source is known, of what it calls the file is not there; Relu has no symbol. The third is long. */
const nops = 1000;
const code = {
  functions: [
    { name: '__runCodelet_Conv___float', tile: 0, address: 0x4c100, bytes: 20, instructions: ['lw a1, 0(a0)', 'jal ra, 0x4c200', 'fmadd.s fa0, fa1, fa2, fa3', 'jal ra, 0x4d000', 'ret'], cycles: [6, 6, 12, 6, 6], lines: [2, 0, 12, 1, 0, 14, 1, -1, 0, 1, 0, 12], calls: [1, 1, 3, 2] },
    { name: hostile, tile: 0, address: 0x4c200, bytes: 8, instructions: [hostile, 'ret'], cycles: [6, 6], lines: [2, 1, 7], calls: [0, 99] },
    { name: 'long', tile: 0, address: 0x4d000, bytes: 4 * nops + 40, instructions: new Array(nops).fill('nop'), cycles: new Array(nops).fill(6), lines: [5000, 0, 13], calls: [7] },
  ],
  vertexTypes: [{ name: 'Conv<float>', tile: 0, function: 0 }, { name: 'Relu', tile: 1 }],
  files: [{ name: 'lib/conv.cpp', parts: [[10, '// layer', 'bool compute() {', `\tfloat x = *in; ${hostile}`, '  // between', '  x += *weights;', '}']] }, { name: hostile, missing: 'the file could not be read when the report was written' }],
};

const one = [['Sync', 'External'], ['StreamCopy', 0, 1], ['Sync', 'Internal'], ['DoExchange', 0, 2], ['OnTileExecute', 0, 3], ['OnTileExecute', 1, 4], ['Sync', 'External'],
  ['GlobalExchange', 0, 5], ['StreamCopyBegin', 30], ['StreamCopyMid', 60], ['StreamCopyEnd', 20], ['SyncAns', 15], ['Sync', 'Internal'], ['Sync', 'Internal'], ['OnTileExecute', 2, 6], ['Sync', 'External']];

/* What tiles 2, 3, 5 and 6 have no part in, from the first sync to the second: they have acknowledged both. Behind it they are there again. */
const acknowledged = [2, 3, 5, 6];
const alone = [['Sync', 'Internal', 'first'], ['DoExchange', 1, 2], ['OnTileExecute', 2, 6], ['Sync', 'Internal', 'last'], ['SyncAns'], ['DoExchange', 1, 2], ['OnTileExecute', 0, 3], ['Sync', 'External']];

/* The steps on a clock, tile by tile: another way than the viewer's. */
function simulate(scale, one) {
  const clocks = new Array(numTiles).fill(0), steps = [], intervals = [], runs = [];
  let latest = 0;
  const wait = (first, n, end, kind, step, inRow) => {
    for (let t = first; t < first + n; t++) {
      const ans = inRow && acknowledged.includes(t);
      if (end > clocks[t]) intervals.push({ tile: t, kind: ans ? 'SyncAns' : kind, from: clocks[t], to: end, step: ans ? undefined : step });
      clocks[t] = end;
    }
  };
  for (const run of [0, 1]) {
    const begin = { cyclesFrom: Math.max(...clocks), firstStep: steps.length };
    let row; /* of acknowledged syncs: when its tiles began to wait */
    for (const [type, a, program] of one) {
      const index = steps.length;
      if (type === 'SyncAns' && a === undefined) {
        const cyclesFrom = Math.min(...row.begins), cyclesTo = Math.max(...acknowledged.map((t) => clocks[t]));
        steps.push({ type, syncAns: 0, syncs: 2, activeTiles: acknowledged.length, cycles: Math.max(...acknowledged.map((t, i) => clocks[t] - row.begins[i])), cyclesFrom, cyclesTo });
        intervals.filter((i) => i.kind === 'SyncAns' && i.step === undefined).forEach((i) => { i.step = index; });
        row = undefined;
      } else if (type === 'Sync') {
        let from = Infinity, to = 0;
        if (program === 'first') row = { begins: acknowledged.map((t) => clocks[t]) };
        const groups = a === 'Internal' ? [[0, 4], [4, 4]] : [[0, 8]];
        for (const [first, n] of groups) {
          const asked = Math.max(...clocks.slice(first, first + n)), end = asked + syncCycles;
          wait(first, n, end, a + 'Sync', index, row !== undefined);
          from = Math.min(from, asked);
          to = Math.max(to, end);
        }
        steps.push({ type, syncType: a, cyclesFrom: from, cyclesTo: to });
      } else if (keys[type]) {
        const [field, list] = keys[type], of = costs[list][a].map((c) => c * scale), kind = type === 'StreamCopy' ? 'StreamCopyMid' : type;
        let from = Infinity, to = 0;
        of.forEach((c, t) => {
          if (!c) return;
          intervals.push({ tile: t, kind, from: clocks[t], to: clocks[t] + c, step: index });
          from = Math.min(from, clocks[t]);
          clocks[t] += c;
          to = Math.max(to, clocks[t]);
        });
        const active = of.filter((c) => c), most = Math.max(...of), sum = of.reduce((x, y) => x + y);
        const moved = bytes[list];
        steps.push({
          type, program, name: names[list][a], tileBalance: sum / (most * numTiles), activeTiles: active.length, activeTileBalance: sum / (most * active.length), cycles: most,
          cyclesFrom: from, cyclesTo: to, ...(type === 'OnTileExecute' || type === 'DoExchange' ? { cyclesOverlapped: Math.max(0, Math.min(latest, to) - from) } : {}),
          ...(type === 'OnTileExecute' ? { threadBalance: 0.5 } : { totalData: moved.received.reduce((x, y) => x + y), dataBalance: 0.25 }), [field]: a,
        });
        if (type === 'GlobalExchange' || type === 'StreamCopy') wait(0, numTiles, to, 'ExternalSync', index);
        latest = Math.max(latest, to);
      } else {
        /* Types that other machines have: as long as they say, on all tiles. */
        const from = Math.max(...clocks), to = from + a;
        for (let t = 0; t < numTiles; t++) {
          intervals.push({ tile: t, kind: type, from, to, step: index });
          clocks[t] = to;
        }
        steps.push({ type, name: `io/${type}`, cyclesFrom: from, cyclesTo: to, cycles: a, activeTiles: numTiles, tileBalance: 1, activeTileBalance: 1 });
      }
    }
    runs.push({ ...begin, cyclesTo: Math.max(...clocks), numSteps: steps.length - begin.firstStep });
    void run;
  }
  return { steps, intervals, runs, cycles: Math.max(...clocks) };
}

const sparse = (of) => {
  const tiles = [], cycles = [];
  of.forEach((c, t) => {
    if (!c) return;
    if (tiles.length && tiles[tiles.length - 2] + tiles[tiles.length - 1] === t) tiles[tiles.length - 1]++;
    else tiles.push(t, 1);
    cycles.push(c);
  });
  return { tiles, cycles };
};

const zeros = () => new Array(numTiles).fill(0);
const part = (a, b) => ({ nonOverlapped: a, overlapped: b });
function category(a, overlapped = zeros(), interleaved = zeros()) {
  return { nonInterleaved: part(a, overlapped), interleaved: part(interleaved, zeros()), overflowed: part(zeros(), zeros()), total: a.map((v, i) => v + overlapped[i] + interleaved[i]) };
}
const fill = (f) => Array.from({ length: numTiles }, (_, i) => f(i));
export const everyCategory = ['variable', 'constant', 'message', 'hostMessage', 'globalMessage', 'rearrangement', 'outputEdge', 'multiple', 'hostExchangePacketHeader', 'globalExchangePacketHeader',
  'stack', 'vertexInstanceState', 'copyDescriptor', 'vectorListDescriptor', 'vertexFieldData', 'controlTable', 'controlCode', 'controlId', 'vertexCode', 'internalExchangeCode', 'hostExchangeCode',
  'globalExchangeCode', 'instrumentationResults', 'sharedCodeStorage', 'sharedDataStorage'];

function graph() {
  const byCategory = Object.fromEntries(everyCategory.map((c, n) => [c, category(fill((i) => 10 * (n + 1) + i), c === 'message' ? fill(() => 100) : zeros(), c === 'variable' ? fill(() => 1000) : zeros())]));
  const alone = fill((i) => everyCategory.reduce((a, _, n) => a + 10 * (n + 1) + i, 0)), total = alone.map((v) => v + 1000 + 50);
  const exchanges = (list) => ({
    names: names[list], bytesReceivedByTile: costs[list].map(() => bytes[list].received), bytesSentByTile: costs[list].map(() => bytes[list].sent),
    [list === 'exchanges' ? 'cyclesByTile' : 'estimatedCyclesByTile']: costs[list],
    ...(list === 'hostExchanges' ? { category: ['Host', 'RemoteBuffer'], copiesFromHost: [2, 1], copiesToHost: [0, 0], variables: [['batch'], ['weights']] }
      : { sourceVariables: [['weights', hostile, '0', '1', '2', '3', '4'], []], destinationVariables: [['input'], []] }),
  });
  const sets = (f) => [fill(f), fill((i) => 2 * f(i)), zeros()];
  return {
    target: { type: 'IPU', architecture: 'ipu2', bytesPerIPU: 4 * 10000, bytesPerTile: 10000, clockFrequency: 1000000000, systemBytesPerTile: 100, numIPUs: 2, numReplicas: 1, tilesPerIPU: 4, numTiles: 8, totalMemory: 80000, minSyncDelay: syncCycles, relativeSyncDelayByTile: zeros() },
    optimizationInfo: {}, graph: { numComputeSets: 3, numEdges: 77, numVars: 55, numVertices: 66 },
    vertexTypes: { names: ['Conv<float>', 'Relu'], sizes: [20, 12] },
    computeSets: { names: names.computeSets, vertexCounts: [[16], [10], [1]], vertexTypes: [[0], [1], [1]] },
    exchanges: exchanges('exchanges'), externalExchanges: exchanges('externalExchanges'), hostExchanges: exchanges('hostExchanges'),
    programs: [{ type: 'Sequence', children: [1, 2, 3, 4, 7, 15], name: 'main' }, { type: 'StreamCopy', exchange: 0, name: 'next batch' },
      { type: 'DoExchange', exchange: 0, name: 'layer1/conv/ExchangePre', memoryByInstruction: { delay: 100, other: 20, send: 8, total: 128 } }, { type: 'OnTileExecute', computeSet: 0, name: 'layer1/conv' },
      { type: 'OnTileExecute', computeSet: 1, name: 'layer1/relu' }, { type: 'GlobalExchange', exchange: 0, name: 'layer2/all/GlobalExchange' }, { type: 'OnTileExecute', computeSet: 2, name: names.computeSets[2] },
      { type: 'Repeat', count: 3, children: [8] }, { type: 'Sequence', children: [9, 10, 11, 12, 13, 14] }, { type: 'If', children: [5] }, { type: 'Switch', children: [6] }, { type: 'RepeatWhileTrue', children: [16, 6] },
      { type: 'RepeatWhileFalse', children: [16, 6] }, { type: 'Call', target: 0 }, { type: 'WriteUndef', name: 'undef' }, { type: 'Sync', syncType: 'External' }, { type: 'SetLocalConsensusFromVar' },
      { type: 'Sequence', children: [18, 19, 20, 21, 22], name: 'function' }, { type: 'StreamCopyBegin' }, { type: 'StreamCopyMid' }, { type: 'StreamCopyEnd' }, { type: 'IfElse', children: [16, 16] }, { type: 'Abort' }],
    controlPrograms: [0], functionPrograms: [17],
    memory: {
      byTile: { nonInterleaved: total.map((v) => v - 1000), nonInterleavedIncludingGaps: total.map((v) => v - 800), interleaved: fill(() => 1000), interleavedIncludingGaps: fill(() => 1000), overflowed: zeros(), overflowedIncludingGaps: zeros(), total, totalIncludingGaps: total.map((v) => v + 200), mostLive: total, leastIncludingGaps: total },
      byCategory,
      byComputeSet: { vertexDataBytes: sets((i) => i), edgePtrBytes: sets(() => 8), copyPtrBytes: sets(() => 0), paddingBytes: sets(() => 0), descriptorBytes: sets(() => 0), codeBytes: sets(() => 100), totalBytes: sets((i) => 108 + i) },
      byVertexType: { vertexDataBytes: [fill((i) => i), fill((i) => 2 * i)], edgePtrBytes: [fill(() => 8), fill(() => 16)], copyPtrBytes: [zeros(), zeros()], paddingBytes: [zeros(), zeros()], descriptorBytes: [zeros(), zeros()], codeBytes: [fill(() => 100), fill(() => 200)], totalBytes: [fill((i) => 108 + i), fill((i) => 216 + 2 * i)] },
      liveness: { variables: { names: ['weights', 'batch', hostile], categories: ['variable', 'variable', 'message'], bytes: [4000, 1024, 512] }, alwaysLive: { variables: [0], bytes: 4000 },
        programs: [{ program: 1, bytes: 1024, variables: [1] }, { program: 2, bytes: 1536, variables: [1, 2] }, { program: 3, bytes: 512, variables: [2] }, { program: 5, bytes: 0, variables: [] }], maxBytes: 5536 },
    },
  };
}

const blocks = [
  { tile: 0, blocks: [{ type: 'Common', name: 'outer', cyclesFrom: 1000, cyclesTo: 3000 }, { type: 'Common', name: 'inner', cyclesFrom: 1100, cyclesTo: 1500 },
    { type: 'StreamCopyBegin', name: 'batch', cyclesFrom: 1600, cyclesTo: 1700 }, { type: 'StreamCopyMid', name: 'batch', cyclesFrom: 1700, cyclesTo: 2000, category: 'Host', tiles: [0, 1, 2, 6] },
    { type: 'StreamCopyEnd', name: 'batch', cyclesFrom: 2000, cyclesTo: 2050 }, { type: 'StreamCopyMid', name: 'weights', cyclesFrom: 2100, cyclesTo: 2300, category: 'RemoteBuffer', tiles: [0, 3] },
    { type: 'StreamCopyMid', name: 'both', cyclesFrom: 2400, cyclesTo: 2500, category: 'Mixed', tiles: [0] }, { type: 'BlockFlush', cyclesFrom: 3200, cyclesTo: 3400 },
    { type: 'Common', name: 'cut', cyclesFrom: 3500, cyclesTo: 4000, endUnknown: true }, { type: 'Overflow', cyclesFrom: 3800, cyclesTo: 4400 }, { type: 'Unknown', cyclesFrom: 4200, cyclesTo: 4700 }] },
  { tile: 5, blocks: [{ type: 'Common', name: hostile, cyclesFrom: 1200, cyclesTo: 4800 }] },
];

export function golden(folder, { scale = 1, ans = false } = {}) {
  mkdirSync(folder, { recursive: true });
  const s = simulate(scale, ans ? [...one, ...alone, ...alone] : one), write = (name, what) => writeFileSync(`${folder}/${name}`, JSON.stringify(what));
  write('graph.json', graph());
  write('execution.json', {
    profilerMode: 'VERTICES', computeSetCyclesByTile: costs.computeSets, vertexCycles: [100, 200, 30], vertexComputeSet: [0, 0, 1], vertexType: [0, 0, 1], externalExchangeCycles: [], hostExchangeCycles: [],
    runs: [{ program: 0, name: 'main', cycles: s.runs[0].cyclesTo, instructions: 1234, supersteps: 5 }, { program: 0, name: 'main', runName: hostile, parameters: { 'target.hostSyncTimeout': '300' }, cycles: 1, instructions: 2, supersteps: 3 }],
    lightweightProfile: { droppedBlocks: 0, tiles: blocks }, programTrace: [], programTraceComplete: true,
    simulation: {
      steps: s.steps, runs: s.runs, costs: { ...Object.fromEntries(Object.entries(costs).map(([k, v]) => [k, v.map((of) => sparse(of.map((c) => c * scale)))])), ...(ans ? { syncAns: [{ tiles: [2, 2, 5, 2] }] } : {}) }, cycles: s.cycles,
      tileCycles: { activeCompute: 1, compute: 2, copySharedStructure: 0, doExchange: 3, globalExchange: 4, streamCopy: 5, sync: 6 },
    },
  });
  write('vars.json', { target: 'ipu2', memoryBase: 311296, memoryBytesPerTile: 10000, tiles: fill((tile) => ({ tile, memoryBytes: 2000, variables: [{ name: 'weights', category: 'variable', address: 311296 + 200, bytes: 500 + tile }, { name: hostile, category: 'stack', address: 311296, bytes: 100 }] })) });
  write('code.json', code);
  write('debug.json', { version: '0.1.0', target: 'ipu2', options: { 'debug.instrument': 'true', 'autoReport.directory': hostile } });
  return s;
}
