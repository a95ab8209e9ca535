/* Tests of the page: run.mjs <folder of node_modules> <chromium> <popview> <folder with a real report> <more of them>...
 * With VIEWER_PART=others those of programs that have run, of large reports, of other readers; otherwise all the rest: both at once, each with its browser. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { axePath, equal, fact, finish, has, holds, open, page, settle, test, text, typed } from './harness.mjs';
import { ansTests } from './ans.mjs';
import { codeTests, damagedCodeTests } from './code.mjs';
import { cornerTests } from './corners.mjs';
import { faultTests } from './faults.mjs';
import { golden } from './golden.mjs';
import { compareTests, demoTests, exampleTests, pictureTests, servedTests } from './compare.mjs';
import { importerTests } from './importers.mjs';
import { lightweightTests, reportTests } from './reports.mjs';
import { parseTests } from './parse.mjs';
import { scaleTests } from './scale.mjs';
import { traceTests } from './trace.mjs';

const [, , modules, , popview, real, ...examples] = process.argv;
const pageOf = (folder) => {
  execFileSync(popview, [folder, '-o', `${folder}.html`]);
  return `${process.cwd()}/${folder}.html`;
};

if (process.env.VIEWER_PART === 'others') {
  await demoTests(popview);
  await exampleTests(popview, examples);
  await scaleTests(pageOf);
  await parseTests();
  await importerTests(modules, real);
  await finish();
}

const truth = golden('golden'), file = pageOf('golden');
const wideTruth = golden('wide', { scale: 20000000 }), wide = pageOf('wide');
/* Many steps, most of them far below a pixel. */
mkdirSync('many', { recursive: true });
const steps = [];
for (let i = 0; i < 20000; i++) steps.push({ type: 'OnTileExecute', program: 3, name: `s${i}`, computeSet: 2, cycles: 900, activeTiles: 1, tileBalance: 0.1, activeTileBalance: 1, cyclesFrom: i * 900, cyclesTo: (i + 1) * 900, cyclesOverlapped: 0 });
const execution = JSON.parse(readFileSync('golden/execution.json', 'utf8'));
delete execution.lightweightProfile;
Object.assign(execution.simulation, { steps, cycles: 20000 * 900, runs: [] });
writeFileSync('many/execution.json', JSON.stringify(execution));
writeFileSync('many/graph.json', readFileSync('golden/graph.json'));
const many = pageOf('many');
/* A pixel has many steps: short ones and, behind each, a long one. */
mkdirSync('mixed', { recursive: true });
Object.assign(execution.simulation, { steps: steps.flatMap((s, i) => [{ type: 'Sync', syncType: 'Internal', cyclesFrom: i * 900, cyclesTo: i * 900 + 90 }, { ...s, cyclesFrom: i * 900 + 90 }]) });
delete execution.simulation.costs;
writeFileSync('mixed/execution.json', JSON.stringify(execution));
writeFileSync('mixed/graph.json', readFileSync('golden/graph.json'));

await traceTests(file, truth, { file: many, wide, truth: wideTruth, mixed: pageOf('mixed') });
const ansTruth = golden('ans', { ans: true });
await ansTests(pageOf('ans'), ansTruth);
await lightweightTests(file);
await reportTests(file);
await compareTests(popview, truth);
await pictureTests(file);
await cornerTests(pageOf, file, truth, `${process.cwd()}/both.html`);
await servedTests(popview);

const faulted = pageOf('faulted'), plain = pageOf('real');
await faultTests(faulted, 'faulted', plain);
await codeTests(file, truth, faulted, plain, many);
await damagedCodeTests(pageOf, file, truth);

/* ---- the same figures as the text, of a program that ran ---- */

const number = (words, name) => Number(new RegExp(`${name}:\\s+([\\d,]+)`).exec(words)?.[1]?.replace(/,/g, ''));
await test('X1 a real report: figures are those of the text report', async () => {
  const summary = readFileSync(`${real}/execution.txt`, 'utf8'), memory = readFileSync(`${real}/graph.txt`, 'utf8');
  await open(pageOf(real), 'view=trace');
  equal(Number((await fact('Cycles')).replace(/,/g, '')), number(summary, 'Total cycles'));
  const words = await page.$$eval('.facts dd', (all) => Object.fromEntries(all.map((e) => [e.dataset.fact, e.textContent])));
  for (const [key, name] of [['compute', 'Total compute cycles \\(including idle threads\\)'], ['doExchange', 'Total IPU exchange cycles'], ['sync', 'Total sync cycles']])
    equal(Number(words[`Tile-cycles: ${key}`].replace(/,/g, '')), number(summary, name), key);
  const execution = JSON.parse(readFileSync(`${real}/execution.json`, 'utf8'));
  for (const [i, s] of execution.simulation.steps.entries()) {
    if (s.type !== 'OnTileExecute') continue;
    await open(pageOf(real), `view=trace&t.step=${i}&t.tab=Details`);
    const line = summary.split(`: ${s.name}\n`).find((part) => part.includes('OnTileExecute')) ? summary.slice(summary.indexOf(`OnTileExecute (cycles ${s.cyclesFrom.toLocaleString('en-US')} - `)) : '';
    holds(line, await fact('Cycles (active tiles)'), await fact('Active Tiles'), await fact('Tile Balance'), await fact('Active Tile Balance'), await fact('Thread Balance'));
  }
  await typed('view=memory');
  const gaps = await page.$eval('[data-line="Including gaps"] .number', (e) => Number(e.title.replace(/[, B]/g, '')));
  equal(gaps, number(memory, 'Including Gaps'));
});
await test('B2 an address that is typed while the last choice waits to be written is not lost', async () => {
  await open(pageOf(real), 'view=trace');
  /* The choice is written 250 ms after it was made. When the page has time again, both are due: the address is typed, the choice is written, the address is read. */
  await page.evaluate(() => new Promise((done) => {
    addEventListener('hashchange', done, { once: true });
    setTimeout(() => { location.hash = 'view=memory'; }, 100);
    document.querySelector('nav button[data-view="insights"]').click();
    for (const late = performance.now() + 400; performance.now() < late;);
  }));
  await settle(260);
  equal(await page.evaluate(() => location.hash), '#view=memory');
  equal(await page.$eval('nav button[aria-current]', (e) => e.dataset.view), 'memory');
});
await test('I4 M6 tables of the insights are not cut; tiles have numbers as they are typed', async () => {
  await open(`${process.cwd()}/real.html`, 'view=insights');
  const cut = await page.$$eval('.card.roomy .scroll', (all) => all.filter((e) => e.scrollWidth > e.clientWidth || [...e.querySelectorAll('td.text')].some((td) => td.clientHeight > 40)).map((e) => e.getAttribute('aria-label')));
  equal(cut, [], 'tables that are cut, or names that are broken');
  const tiles = await page.$$eval('table[aria-label="fullest tiles"] tbody tr', (all) => all.map((r) => r.firstElementChild.innerText));
  equal(tiles.length === 5 && tiles.every((t) => /^\d+$/.test(t)), true, tiles.join());
});
await test('G1 X1 the page places the steps of a real report where the profile has them', async () => {
  await open(pageOf(real), 'view=trace');
  const { cycles, steps } = JSON.parse(readFileSync(`${real}/execution.json`, 'utf8')).simulation;
  const [width, drawn] = await page.evaluate(() => new Promise((done) => {
    const fill = CanvasRenderingContext2D.prototype.fillRect, rects = [], canvas = document.querySelector('.lanes > canvas');
    CanvasRenderingContext2D.prototype.fillRect = function fillRect(x, y, w, h) { if (this.canvas === canvas) rects.push([x, x + w]); fill.call(this, x, y, w, h); };
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'f' }));
    requestAnimationFrame(() => requestAnimationFrame(() => done([canvas.getBoundingClientRect().width, rects])));
  }));
  const x = (cycle) => 84 + cycle / cycles * (width - 84 - 6);
  let looked = 0;
  for (const s of steps) {
    if (x(s.cyclesTo) - x(s.cyclesFrom) < 3) continue;
    looked++;
    if (!drawn.some(([a, b]) => Math.abs(a - x(s.cyclesFrom)) < 1.5 && Math.abs(b - x(s.cyclesTo)) < 1.5)) throw new Error(`there is no bar from cycle ${s.cyclesFrom} to ${s.cyclesTo}`);
  }
  equal(looked >= 3, true, 'bars that were looked for');
});
await test('N8 R5 a report with nothing in it says what is missing and how to get it', async () => {
  mkdirSync('bare', { recursive: true });
  writeFileSync('bare/graph.json', '{"target": {"numTiles": "many"}, "programs": 7, "memory": {"byTile": {"total": [null]}}}');
  const bare = pageOf('bare');
  for (const id of ['summary', 'insights', 'memory', 'memory&m.graph=map', 'liveness', 'programs', 'operations', 'trace']) {
    await open(bare, `view=${id}`);
    equal(await has('html[data-failed]'), false, `${id} failed`);
  }
  holds(await text('main'), 'no execution trace', 'debug.instrument');
});
await test('W02 damaged pages and values of other types: a sentence, no blank page', async () => {
  const whole = readFileSync(file, 'utf8'), begin = whole.indexOf('id="report">') + 12, end = whole.indexOf('</script>', begin);
  writeFileSync('cut.html', whole.slice(0, begin + 400) + whole.slice(end));
  writeFileSync('no.html', whole.slice(0, begin) + whole.slice(end));
  for (const name of ['cut', 'no']) {
    await open(`${process.cwd()}/${name}.html`);
    holds(await text('#app'), 'This report cannot be shown');
  }
  /* A large report is in several elements: one that is away, or not whole. */
  mkdirSync('large', { recursive: true });
  writeFileSync('large/graph.json', readFileSync('golden/graph.json'));
  writeFileSync('large/execution.json', readFileSync('golden/execution.json'));
  writeFileSync('large/debug.json', JSON.stringify({ noise: randomBytes(2000000).toString('base64') }));
  const large = pageOf('large'), pieces = readFileSync(large, 'utf8').split('<script type="application/octet-stream"');
  equal(pieces.length > 3, true, 'several elements');
  await open(large, 'view=trace');
  equal(await has('html[data-failed]'), false, 'a page in several elements failed');
  const change = (how) => pieces.map((piece, i) => (i === 2 ? how(piece) : piece));
  const damages = { away: pieces.filter((_, i) => i !== 2), half: change((piece) => piece.slice(0, 400000) + piece.slice(piece.indexOf('</script>'))), digit: change((piece) => piece.replace('>', '>*')) };
  for (const [name, damaged] of Object.entries(damages)) {
    writeFileSync(`${name}.html`, damaged.join('<script type="application/octet-stream"'));
    await open(`${process.cwd()}/${name}.html`);
    holds(await text('#app'), 'This report cannot be shown', 'The report is damaged: it');
  }
  /* Every value of the golden report, in turn of some, replaced by something else. */
  const twist = (v, n) => {
    let at = 0;
    const walk = (x) => {
      if (at++ === n) return [null, 'word', -1, 1e300, [], {}][n % 6];
      if (Array.isArray(x)) return x.map(walk);
      if (x && typeof x === 'object') return Object.fromEntries(Object.entries(x).map(([k, y]) => [k, walk(y)]));
      return x;
    };
    return walk(v);
  };
  mkdirSync('twisted', { recursive: true });
  const graph = JSON.parse(readFileSync('golden/graph.json', 'utf8')), run = JSON.parse(readFileSync('golden/execution.json', 'utf8'));
  for (let n = 1; n < 12; n++) {
    writeFileSync('twisted/graph.json', JSON.stringify(twist(graph, n * 83)));
    writeFileSync('twisted/execution.json', JSON.stringify(twist(run, n < 6 ? n : n * 37)));
    const twisted = pageOf('twisted');
    await open(twisted, 'view=trace');
    for (const id of ['summary', 'insights', 'memory', 'liveness', 'programs', 'operations', 'trace']) {
      await page.evaluate((v) => document.querySelector(`nav button[data-view="${v}"]`)?.click(), id);
    }
    await settle();
    if (!(await text('#app'))) throw new Error(`blank page for change ${n}`);
  }
});
/* Each in turn is taken from the browser before the page's script runs. */
await test('W05 a browser that lacks something is told what; WebGL is not asked for', async () => {
  const lacks = {
    DecompressionStream: () => { delete window.DecompressionStream; },
    'the 2D canvas': () => { HTMLCanvasElement.prototype.getContext = () => null; },
    WebGL: () => {
      const real = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...more) { return kind === '2d' ? real.call(this, kind, ...more) : null; };
    },
  };
  for (const [name, take] of Object.entries(lacks)) {
    const { identifier } = await page.evaluateOnNewDocument(take);
    try {
      await open(file, 'view=trace');
      if (name === 'WebGL') holds(await text('main'), 'All IPUs');
      else holds(await text('#app'), 'This report cannot be shown', `lacks ${name}`);
      equal(await has('html[data-failed]'), name !== 'WebGL', name);
    } finally {
      await page.removeScriptToEvaluateOnNewDocument(identifier);
    }
  }
  await open(file, 'view=trace');
  equal(await has('html[data-failed]'), false, 'afterwards');
});
await test('B9 axe finds nothing serious in any view, light and dark', async () => {
  for (const scheme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    for (const id of scheme === 'light' ? ['summary', 'insights', 'memory', 'memory&m.graph=map', 'liveness', 'programs', 'operations', 'trace', 'trace&t.kind=lightweight', 'compare', 'compare&c.tab=Execution Trace'] : ['memory', 'trace', 'compare']) {
      await open(id.startsWith('compare') ? `${process.cwd()}/both.html` : file, `view=${id}&t.step=4`);
      await page.evaluate(readFileSync(axePath, 'utf8'));
      const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ['violations'] })).violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join('; ')}`));
      equal(found, [], `${id} (${scheme})`);
    }
  }
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
});
await finish();
