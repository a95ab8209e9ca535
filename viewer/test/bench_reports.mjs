/* Large reports for bench.mjs, each in a folder of its own. What is long is written in parts: as one string it would be too long. */
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';

const tiles = 1472, sets = 10000, syncCycles = 118;

let seed = 1;
const random = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor(seed / 2 ** 32 * n);
};

const zeros = new Array(tiles).fill(0);
const target = { type: 'IPU', architecture: 'ipu2', bytesPerIPU: tiles * 638976, bytesPerTile: 638976, clockFrequency: 1325000000, numIPUs: 1, numReplicas: 1, tilesPerIPU: tiles, numTiles: tiles, totalMemory: tiles * 638976, minSyncDelay: syncCycles };
const fill = (of) => Array.from({ length: tiles }, (_, t) => of(t));

function writer(path) {
  const out = createWriteStream(path);
  return { put: async (text) => { if (!out.write(text)) await once(out, 'drain'); }, end: async () => { out.end(); await once(out, 'finish'); } };
}

/* 1,472 tiles; 10,000 compute sets, executed one after the other, with cycles of each tile of its own. */
export async function manyIntervals() {
  mkdirSync('large', { recursive: true });
  const names = Array.from({ length: sets }, (_, i) => `model/layer${i % 96}/block${i % 7}/op${i}`);
  writeFileSync('large/graph.json', JSON.stringify({
    target,
    computeSets: { names, vertexCounts: names.map(() => [tiles]), vertexTypes: names.map(() => [0]) }, vertexTypes: { names: ['Op'], sizes: [8] },
    programs: [{ type: 'Sequence', children: names.map((_, i) => i + 1), name: 'main' }, ...names.map((name, i) => ({ type: 'OnTileExecute', computeSet: i, name }))],
    controlPrograms: [0], functionPrograms: [], memory: { byTile: { totalIncludingGaps: zeros, total: zeros } },
  }));

  const { put, end } = writer('large/execution.json');
  const steps = [];
  let clock = 0;
  await put('{"profilerMode":"COMPUTE_SETS","runs":[{"program":0,"name":"main","cycles":1,"instructions":1,"supersteps":1}],"simulation":{"costs":{"computeSets":[');
  for (let i = 0; i < sets; i++) {
    const base = 200 + random(3000), spread = 1 + random(1500), cycles = new Array(tiles);
    let most = 0, sum = 0;
    for (let t = 0; t < tiles; t++) {
      const c = base + random(spread);
      cycles[t] = c;
      sum += c;
      if (c > most) most = c;
    }
    await put(`${i ? ',' : ''}{"tiles":[0,${tiles}],"cycles":[${cycles}]}`);
    steps.push({ type: 'OnTileExecute', program: i + 1, name: names[i], computeSet: i, tileBalance: sum / most / tiles, activeTiles: tiles, activeTileBalance: sum / most / tiles, cycles: most, cyclesFrom: clock, cyclesTo: clock + most, cyclesOverlapped: 0 });
    steps.push({ type: 'Sync', syncType: 'Internal', cyclesFrom: clock + most, cyclesTo: clock + most + syncCycles });
    clock += most + syncCycles;
  }
  await put(`]},"steps":${JSON.stringify(steps)},"runs":[{"cyclesFrom":0,"cyclesTo":${clock},"firstStep":0,"numSteps":${steps.length}}],"cycles":${clock},"tileCycles":{}}}`);
  await end();
  return 'large';
}

/* 30 categories of memory, and 40 variables on each tile; behind manyIntervals, whose graph it is. */
export function manyVariables() {
  mkdirSync('tiles', { recursive: true });
  const graph = JSON.parse(readFileSync('large/graph.json', 'utf8'));
  const part = (n) => ({ nonOverlapped: fill((t) => n * 100 + t % 71 * n), overlapped: zeros });
  Object.assign(graph.memory, {
    byTile: { total: fill((t) => 300000 + t * 7 % 90000), totalIncludingGaps: fill((t) => 310000 + t * 7 % 90000), nonInterleaved: fill((t) => 300000 + t * 7 % 90000), interleaved: zeros, overflowed: zeros },
    byCategory: Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`category${n}`, { total: fill((t) => n * 100 + t % 71 * n), nonInterleaved: part(n), interleaved: part(0), overflowed: part(0) }])),
  });
  writeFileSync('tiles/graph.json', JSON.stringify(graph));
  writeFileSync('tiles/vars.json', JSON.stringify({ memoryBase: 311296, tiles: fill((t) => ({ tile: t, memoryBytes: 400000, variables: Array.from({ length: 40 }, (_, n) => ({ name: n < 20 ? `layer${n}/w` : `layer${n}/w${t}`, category: 'variable', address: 311296 + n * 8000, bytes: 7000 + t })) })) }));
  return 'tiles';
}

/* Tables with a number of every tile: of 1,500 compute sets and 500 exchanges; 4,000 programs, 200 variables live at each. */
export async function manySets() {
  const sets = 1500, exchanges = 500, programs = 4000, variables = 5000;
  mkdirSync('sets', { recursive: true });
  const { put, end } = writer('sets/graph.json'), used = fill((t) => 300000 + t * 7 % 90000);
  const rows = async (head, n, of) => {
    await put(`${head}[`);
    for (let i = 0; i < n; i++) await put(`${i ? ',' : ''}[${fill((t) => of(i, t))}]`);
    await put(']');
  };
  const names = Array.from({ length: sets }, (_, i) => `model/layer${i % 96}/block${i % 7}/op${i}`), copies = Array.from({ length: exchanges }, (_, i) => `model/layer${i % 96}/copy${i}`);
  const steps = [...names.map((name, i) => ({ type: 'OnTileExecute', computeSet: i, name })), ...copies.map((name, i) => ({ type: 'DoExchange', exchange: i, name, memoryByInstruction: { total: 1000 + i } })),
    ...Array.from({ length: programs - sets - exchanges }, () => ({ type: 'Sync', syncType: 'Internal' }))];
  const all = { target, vertexTypes: { names: Array.from({ length: 40 }, (_, i) => `Op${i}<float>`), sizes: new Array(40).fill(8) }, computeSets: { names, vertexCounts: names.map(() => [tiles]), vertexTypes: names.map((_, i) => [i % 40]) },
    programs: [{ type: 'Sequence', children: steps.map((_, i) => i + 1), name: 'main' }, ...steps], controlPrograms: [0], functionPrograms: [] };
  await put(`${JSON.stringify(all).slice(0, -1)},"exchanges":{"names":${JSON.stringify(copies)}`);
  await rows(',"bytesReceivedByTile":', exchanges, (i, t) => i * t % 4001);
  await rows(',"bytesSentByTile":', exchanges, (i, t) => (i + t) % 4001);
  await rows('},"memory":{"byComputeSet":{"totalBytes":', sets, (i, t) => 100 + i * t % 301);
  await rows(',"codeBytes":', sets, (i, t) => (i + t) % 91);
  await rows('},"byVertexType":{"totalBytes":', 40, (i, t) => i * 10 + t % 7);
  await rows(',"codeBytes":', 40, (i) => i * 4);
  const live = { names: Array.from({ length: variables }, (_, i) => `model/layer${i % 96}/v${i}`), categories: new Array(variables).fill('variable'), bytes: Array.from({ length: variables }, (_, i) => 100 + i) };
  await put(`},"byTile":${JSON.stringify({ total: used, totalIncludingGaps: used, nonInterleaved: used, interleaved: zeros, overflowed: zeros })},"liveness":{"variables":${JSON.stringify(live)},"alwaysLive":{"variables":[${Array.from({ length: 1000 }, (_, i) => i)}],"bytes":1000000},"programs":[`);
  for (let i = 0; i < programs; i++) await put(`${i ? ',' : ''}${JSON.stringify({ program: i + 1, bytes: 100000 + i % 997 * 100, variables: Array.from({ length: 200 }, (_, n) => 1000 + (i + n * 17) % 4000) })}`);
  await put('],"maxBytes":2000000}}}');
  await end();
  return 'sets';
}
