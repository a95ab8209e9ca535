/* Figures of the page for large reports (bench_reports.mjs): bench.mjs <folder of node_modules> <chromium> <popview>. Prints a line "key value" each.
 *
 * 14,720,000 intervals, each of which the BSP picture can show; then actions in this page and in others, with many variables and many compute sets; 120 frames of zooming to a part and panning, with the flame view, the
 * BSP picture and the Summary tab there, as a person has them. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { manyIntervals, manySets, manyVariables } from './bench_reports.mjs';

const [, , modules, chromium, popview] = process.argv;
const require = createRequire(`${modules}/package.json`);
const puppeteer = (await import(pathToFileURL(require.resolve('puppeteer-core')))).default;
const write = (folder) => {
  execFileSync(popview, [folder, '-o', `${folder}.html`]);
  return folder;
};
const folder = await manyIntervals(), began = performance.now();
write(folder);
console.log(`write_page_s ${((performance.now() - began) / 1000).toFixed(2)}`);

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
/* Tables with a row of all tiles for each compute set and exchange, and what is live at each program. */
const setsActions = [
  ...['insights', 'memory', 'liveness', 'programs', 'operations'].map((id) => [`${id} of sets`, goTo(id)]),
  ...['Program Tree', 'Code'].map((name) => [`${name} of operations`, () => press('[role=tab]', name)]),
  ['memory of sets again', goTo('memory')],
  ...['Compute sets', 'Exchanges'].map((name) => [name, () => press('[role=tab]', name)]),
  ['one tile', () => page.$eval('input[aria-label="Select tiles"]', (e) => { e.value = '7'; e.dispatchEvent(new Event('input')); })],
  ['liveness of sets again', goTo('liveness')],
  ...['Always Live', 'Not Always Live'].map((name) => [name, () => press('[role=tab]', name)]),
  ['a live step', () => page.mouse.click(700, 300)],
  ['filter live steps', type('.toolbar input[type=search]', 'layer7')],
];
const setsAside = [
  ['sort live variables', () => press('.below th button', 'Variable')],
  ['vertices of sets', async () => { await goTo('memory')(); await press('[role=tab]', 'Vertices'); }],
  ['compute sets of all tiles', async () => { await press('.toolbar button', 'All'); await press('[role=tab]', 'Compute sets'); }],
  ['sort compute sets', () => press('.below th button', 'Compute set')],
];
const tasks = {}, asideTasks = {};
const measure = async (list, into) => { for (const [name, act] of list) into[name] = Math.max(into[name] ?? 0, await longestTask(act)); };
const slowest = (of) => Object.entries(of).sort((a, b) => b[1] - a[1])[0];
await measure(actions, tasks);
await measure(aside, asideTasks);
console.log(`open_task_ms ${tasks.open.toFixed(1)}`);
delete tasks.open;
await open(write(manyVariables()));
await measure(memoryActions, tasks);
await measure(memoryAside, asideTasks);
await open(write(await manySets()));
await measure(setsActions, tasks);
await measure(setsAside, asideTasks);
console.log(`action_task_ms ${slowest(tasks)[1].toFixed(1)} ${slowest(tasks)[0]}`);
console.log(`aside_task_ms ${slowest(asideTasks)[1].toFixed(1)}`); /* which it is, nobody is told */
if (process.env.VIEWER_ACTIONS) for (const [name, ms] of Object.entries(tasks).sort((a, b) => b[1] - a[1])) console.log(`action ${ms.toFixed(1)} ${name}`);
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
