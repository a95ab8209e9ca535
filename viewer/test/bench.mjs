/* Figures of the page for a large report: bench.mjs <folder of node_modules> <chromium> <popview>. Prints a line "key value" each.
 *
 * 1,472 tiles; 10,000 compute sets that are executed one after the other, with cycles of each tile of its own: 14,720,000
 * intervals, each of which the BSP picture can show. Then 120 frames of zooming to a part and panning, with the flame view, the
 * BSP picture and the Summary tab there, as a person has them. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';

const [, , modules, chromium, popview] = process.argv;
const require = createRequire(`${modules}/package.json`);
const puppeteer = (await import(pathToFileURL(require.resolve('puppeteer-core')))).default;
const tiles = 1472, sets = 10000, syncCycles = 118;

let seed = 1;
const random = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor(seed / 2 ** 32 * n);
};

mkdirSync('large', { recursive: true });
const names = Array.from({ length: sets }, (_, i) => `model/layer${i % 96}/block${i % 7}/op${i}`);
const zeros = new Array(tiles).fill(0);
writeFileSync('large/graph.json', JSON.stringify({
  target: { type: 'IPU', architecture: 'ipu2', bytesPerIPU: tiles * 638976, bytesPerTile: 638976, clockFrequency: 1325000000, numIPUs: 1, numReplicas: 1, tilesPerIPU: tiles, numTiles: tiles, totalMemory: tiles * 638976, minSyncDelay: syncCycles },
  computeSets: { names, vertexCounts: names.map(() => [tiles]), vertexTypes: names.map(() => [0]) }, vertexTypes: { names: ['Op'], sizes: [8] },
  programs: [{ type: 'Sequence', children: names.map((_, i) => i + 1), name: 'main' }, ...names.map((name, i) => ({ type: 'OnTileExecute', computeSet: i, name }))],
  controlPrograms: [0], functionPrograms: [], memory: { byTile: { totalIncludingGaps: zeros, total: zeros } },
}));

/* Written in parts: as one string it would be too long. */
const out = createWriteStream('large/execution.json');
const put = async (text) => { if (!out.write(text)) await once(out, 'drain'); };
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
out.end();
await once(out, 'finish');
const began = performance.now();
execFileSync(popview, ['large', '-o', 'large.html']);
console.log(`write_page_s ${((performance.now() - began) / 1000).toFixed(2)}`);

/* Another page: 30 categories of memory, and 40 variables on each tile. */
function manyVariables() {
  mkdirSync('tiles', { recursive: true });
  const fill = (of) => Array.from({ length: tiles }, (_, t) => of(t)), graph = JSON.parse(readFileSync('large/graph.json', 'utf8'));
  const part = (n) => ({ nonOverlapped: fill((t) => n * 100 + t % 71 * n), overlapped: zeros });
  Object.assign(graph.memory, {
    byTile: { total: fill((t) => 300000 + t * 7 % 90000), totalIncludingGaps: fill((t) => 310000 + t * 7 % 90000), nonInterleaved: fill((t) => 300000 + t * 7 % 90000), interleaved: zeros, overflowed: zeros },
    byCategory: Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`category${n}`, { total: fill((t) => n * 100 + t % 71 * n), nonInterleaved: part(n), interleaved: part(0), overflowed: part(0) }])),
  });
  writeFileSync('tiles/graph.json', JSON.stringify(graph));
  writeFileSync('tiles/vars.json', JSON.stringify({ memoryBase: 311296, tiles: fill((t) => ({ tile: t, memoryBytes: 400000, variables: Array.from({ length: 40 }, (_, n) => ({ name: n < 20 ? `layer${n}/w` : `layer${n}/w${t}`, category: 'variable', address: 311296 + n * 8000, bytes: 7000 + t })) })) }));
  execFileSync(popview, ['tiles', '-o', 'tiles.html']);
  return 'tiles';
}

const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'], protocolTimeout: 240000 });
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 800 });
const client = await page.createCDPSession();
await client.send('Performance.enable');
const open = async (name = 'large') => {
  await page.goto('about:blank');
  await page.goto(`${pathToFileURL(`${process.cwd()}/${name}.html`)}#t.flame=1`, { timeout: 120000 });
  await page.waitForFunction(() => document.documentElement.dataset.ready || document.documentElement.dataset.failed, { timeout: 120000 });
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))));
};
await page.evaluateOnNewDocument(() => {
  window.longest = 0;
  new PerformanceObserver((list) => { for (const e of list.getEntries()) window.longest = Math.max(window.longest, e.duration); }).observe({ entryTypes: ['longtask'] });
});
const opened = [];
/* The longest time in which the page did not react, while it was opened. */
const blocked = [];
for (let i = 0; i < 3; i++) {
  opened.push(await open());
  await new Promise((later) => { setTimeout(later, 300); });
  blocked.push(await page.evaluate(() => window.longest));
}
console.log(`open_ms ${Math.min(...opened).toFixed(0)}`);
console.log(`blocked_ms ${Math.min(...blocked)}`);

/* The longest task of the page's own thread in an action, in its processor time: so long it reacts to nobody where it has a core. */
const longestTask = async (act) => {
  await page.tracing.start({ path: 'tasks.json', categories: ['toplevel', 'disabled-by-default-devtools.timeline'] });
  await act();
  await page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 400)));
  await page.tracing.stop();
  const events = JSON.parse(readFileSync('tasks.json', 'utf8')).traceEvents, of = (e) => `${e.pid}/${e.tid}`;
  const threads = new Set(events.filter((e) => e.name === 'thread_name' && e.args.name === 'CrRendererMain').map(of));
  return events.reduce((most, e) => (threads.has(of(e)) && e.name.endsWith('RunTask') && e.tdur > most ? e.tdur : most), 0) / 1000;
};
const press = (where, begins) => page.evaluate((w, b) => {
  const all = [...document.querySelectorAll(w)].filter((e) => e.textContent.trim().startsWith(b)), found = all.find((e) => e.offsetParent !== null) ?? all[0];
  if (!found) throw new Error(`there is no ${b} in ${w}`);
  found.click();
}, where, begins);
const key = (k, more = {}) => page.$eval('.lanes > canvas', (e, name, of) => e.dispatchEvent(new KeyboardEvent('keydown', { key: name, ...of })), k, more);
const goTo = (id) => () => page.click(`nav button[data-view="${id}"]`);
const type = (where, words) => async () => { await page.click(where); await page.type(where, words); };
const option = (menu, name) => async () => { await press('.toolbar button', menu); await press('.menu button', name); };
const actions = [
  ['open', () => open()],
  ...['insights', 'memory', 'liveness', 'programs', 'operations', 'summary', 'trace'].map((id) => [id, goTo(id)]),
  ...['Group Executions', 'Group Executions', 'Group Syncs', 'Separate', 'Use new BSP stats', 'Show Tile Balance'].map((name) => [name, option('Options', name)]),
  ...['Flat', 'BSP', 'BSP', 'Flame'].map((name) => [name, option('Execution View', name)]),
  ['search', async () => { await page.type('.searchbox input', 'layer5'); await page.keyboard.press('Enter'); }],
  ['search for all', async () => { await page.$eval('.searchbox input', (e) => { e.value = ''; }); await page.type('.searchbox input', 'o'); await page.keyboard.press('Enter'); }],
  ['search by expression', async () => { await page.$eval('.searchbox input', (e) => { e.value = ''; }); await page.type('.searchbox input', '/block[0-3].*9$/ kind:execute'); await page.keyboard.press('Enter'); }],
  ['next step', () => key('ArrowRight')],
  ['layer above', () => key('ArrowUp')],
  ['all of it as range', async () => { await key('ArrowUp'); await key('ArrowUp'); await key('ArrowUp'); await key('r'); }],
  ['click', () => page.mouse.click(700, 240)],
  ['Details', () => press('[role=tab]', 'Details')],
  ['Summary', () => press('[role=tab]', 'Summary')],
  ['by name', () => press('details.more > summary', 'By name')],
  ['sort', () => press('.panel th button', 'Name')],
  ['dark', () => press('nav button', '◐')],
];
/* Things that nobody has looked at to make them fast. */
const aside = [
  ['filter names', type('.panel input[type=search]', 'layer7/block3')],
  ['more names', () => press('.panel button.more', 'Show more')],
  ['fit', () => key('f')],
  ['one IPU', option('All IPUs', 'IPU 0')],
  ['no runs', option('Execution View', 'Runs')],
  ['magnify tiles', () => press('.bsptools button', '+')],
  ['sort operations', async () => { await goTo('operations')(); await press('.above th button', 'Debug Name'); }],
  ['third layer', option('Layer', 'Layer 3')],
  ['an operation', () => page.click('.above tbody tr')],
  ['search programs', async () => { await goTo('programs')(); await page.type('.toolbar input[type=search]', 'op77'); await page.keyboard.press('Enter'); }],
  ['units', () => page.select('nav select', 'bytes')],
];
/* The memory of 1,472 tiles, with 60,000 variables. */
const memoryActions = [
  ['memory of tiles', goTo('memory')],
  ...['By Region', 'By Category'].map((name) => [name, option('Breakdown', name)]),
  ['Variables tab', () => press('[role=tab]', 'Variables')],
  ['sort variables', () => press('.below th button', 'Variable')],
  ['Variables', option('Graph', 'Variables')],
  ['many tiles', () => page.$eval('input[aria-label="Select tiles"]', (e) => { e.value = '0-40'; e.dispatchEvent(new Event('input')); })],
  ['Details of tiles', () => press('[role=tab]', 'Details')],
];
const memoryAside = [
  ['filter variables', async () => { await press('.toolbar button', 'All'); await press('[role=tab]', 'Variables'); await page.type('.below input[type=search]', 'w17'); }],
  ['vertices', () => press('[role=tab]', 'Vertices')],
  ['zoom tiles', () => page.$eval('.plothost .main canvas', (e) => e.dispatchEvent(new WheelEvent('wheel', { deltaY: -300, bubbles: true, cancelable: true })))],
  ['gaps', option('Options', 'Include Gaps')],
  ['insights of tiles', goTo('insights')],
];
const tasks = {}, asideTasks = {};
const measure = async (list, into) => { for (const [name, act] of list) into[name] = Math.max(into[name] ?? 0, await longestTask(act)); };
const slowest = (of) => Object.entries(of).sort((a, b) => b[1] - a[1])[0];
await measure(actions, tasks);
await measure(aside, asideTasks);
console.log(`open_task_ms ${tasks.open.toFixed(1)}`);
delete tasks.open;
await open(manyVariables());
await measure(memoryActions, tasks);
await measure(memoryAside, asideTasks);
for (const [name, of] of [['action', tasks], ['aside', asideTasks]]) console.log(`${name}_task_ms ${slowest(of)[1].toFixed(1)} ${slowest(of)[0]}`);
if (process.env.VIEWER_ACTIONS) for (const [name, ms] of [...Object.entries(tasks), ...Object.entries(asideTasks)].sort((a, b) => b[1] - a[1])) console.log(`action ${ms.toFixed(1)} ${name}`);
await open();

const metric = async (name) => (await client.send('Performance.getMetrics')).metrics.find((m) => m.name === name).value;
const frames = async (move) => page.evaluate(async (source) => {
  const act = eval(source), canvas = document.querySelector('.lanes > canvas'), r = canvas.getBoundingClientRect();
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame();
  const times = [];
  for (let i = 0; i < 120; i++) {
    const at = performance.now();
    act(canvas, i, r);
    await frame();
    times.push(performance.now() - at);
  }
  return times;
}, move);
/* In 40 wheel turns, then panned by keys, then out again. */
const move = `(canvas, i, r) => {
  const wheel = (deltaY) => canvas.dispatchEvent(new WheelEvent('wheel', { deltaY, clientX: r.x + 500, clientY: r.y + 60, bubbles: true, cancelable: true }));
  if (i < 40) wheel(-100);
  else if (i < 80) canvas.dispatchEvent(new KeyboardEvent('keydown', { key: i % 20 < 10 ? 'd' : 'a', bubbles: true, cancelable: true }));
  else wheel(100);
}`;
await frames(move);
const rounds = [];
for (let i = 0; i < 3; i++) {
  const before = await metric('TaskDuration'), times = await frames(move), main = (await metric('TaskDuration')) - before;
  rounds.push({ mean: times.reduce((a, b) => a + b) / times.length, worst: Math.max(...times), main: main / times.length * 1000 });
}
const best = rounds.reduce((a, b) => (b.mean < a.mean ? b : a));
console.log(`frame_ms ${best.mean.toFixed(1)}`);
console.log(`frame_worst_ms ${best.worst.toFixed(1)}`);
console.log(`frame_main_ms ${best.main.toFixed(1)}`);

/* What the largest process of the browser has ever had: the page's. */
let most = 0;
const root = browser.process().pid;
const parent = (pid) => Number(/PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
const isOurs = (pid) => pid === root || (pid > 1 && isOurs(parent(pid)));
for (const pid of readdirSync('/proc').filter((n) => /^\d+$/.test(n))) {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8'), status = readFileSync(`/proc/${pid}/status`, 'utf8');
    if (!command.includes('--type=renderer') || !command.includes('chrom') || !isOurs(Number(pid))) continue;
    most = Math.max(most, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  } catch {
    /* it has ended */
  }
}
console.log(`memory_mib ${most.toFixed(0)}`);
await browser.close();
/* The page without its report. */
const html = readFileSync('large.html', 'latin1'), data = /<script type="application\/octet-stream"[^>]*>[^<]*<\/script>/g;
console.log(`page_kb ${(html.replace(data, '').length / 1000).toFixed(1)}`);
