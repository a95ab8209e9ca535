/* W03: 14.7 million intervals, 1,472 tiles x 10,000 executions. What is drawn depends on the pixels, not on them; frames take no longer than
 * 30 a second allow. The compute sets are few, so that the report is made quickly; tests/bench/viewer.sh has them all different. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { equal, fact, has, open, page, settle, test, window_ } from './harness.mjs';

const tiles = 1472, executions = 10000, sets = 16, syncCycles = 100;

function huge(pageOf) {
  mkdirSync('huge', { recursive: true });
  const costs = Array.from({ length: sets }, (_, set) => ({ tiles: [0, tiles], cycles: Array.from({ length: tiles }, (_, t) => 200 + set * 37 + t * 7919 % 1500) }));
  const longest = costs.map((c) => Math.max(...c.cycles)), names = longest.map((_, set) => `model/layer${set % 5}/op${set}`), steps = [];
  let clock = 0;
  for (let i = 0; i < executions; i++) {
    const set = i * 7 % sets, cycles = longest[set];
    steps.push({ type: 'OnTileExecute', program: set + 1, name: names[set], computeSet: set, cycles, cyclesFrom: clock, cyclesTo: clock + cycles }, { type: 'Sync', syncType: 'Internal', cyclesFrom: clock + cycles, cyclesTo: clock + cycles + syncCycles });
    clock += cycles + syncCycles;
  }
  const json = (name, what) => writeFileSync(`huge/${name}.json`, JSON.stringify(what));
  json('graph', {
    target: { type: 'IPU', bytesPerTile: 638976, clockFrequency: 1e9, numIPUs: 1, tilesPerIPU: tiles, numTiles: tiles, minSyncDelay: syncCycles },
    computeSets: { names, vertexCounts: names.map(() => [tiles]), vertexTypes: names.map(() => [0]) }, vertexTypes: { names: ['Op'], sizes: [8] },
    programs: [{ type: 'Repeat', count: executions, children: names.map((_, i) => i + 1) }, ...names.map((name, i) => ({ type: 'OnTileExecute', computeSet: i, name }))], controlPrograms: [0], functionPrograms: [],
  });
  json('execution', { profilerMode: 'COMPUTE_SETS', runs: [{ program: 0 }], simulation: { costs: { computeSets: costs }, steps, runs: [{ cyclesFrom: 0, cyclesTo: clock, firstStep: 0, numSteps: steps.length }], cycles: clock } });
  return { file: pageOf('huge'), cycles: clock };
}

/* Rectangles of each frame, of 12 in which `move` is done. */
const rectangles = (move) => page.evaluate(async (source) => {
  const act = eval(source), canvas = document.querySelector('.lanes > canvas'), real = CanvasRenderingContext2D.prototype.fillRect;
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  let drawn = 0, most = 0;
  CanvasRenderingContext2D.prototype.fillRect = function fillRect(...of) { drawn++; real.apply(this, of); };
  for (let i = 0; i < 12; i++) {
    drawn = 0;
    act(canvas, i);
    await frame();
    most = Math.max(most, drawn);
  }
  CanvasRenderingContext2D.prototype.fillRect = real;
  return most;
}, move);

/* Milliseconds of processor time that the page's thread takes for a frame. */
async function frameTime(move) {
  await page.tracing.start({ path: 'frames.json', categories: ['toplevel'] });
  await page.evaluate(async (source) => {
    const act = eval(source), canvas = document.querySelector('.lanes > canvas');
    for (let i = 0; i < 20; i++) {
      act(canvas, i);
      await new Promise((done) => requestAnimationFrame(done));
    }
  }, move);
  await page.tracing.stop();
  const events = JSON.parse(readFileSync('frames.json', 'utf8')).traceEvents, of = (e) => `${e.pid}/${e.tid}`;
  const threads = new Set(events.filter((e) => e.name === 'thread_name' && e.args.name === 'CrRendererMain').map(of));
  const taken = new Map();
  for (const e of events) if (threads.has(of(e)) && e.name.endsWith('RunTask') && e.tdur) taken.set(of(e), (taken.get(of(e)) ?? 0) + e.tdur);
  return Math.max(...taken.values()) / 1000 / 20;
}

const moves = {
  zoomed: `(canvas, i) => canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: i < 6 ? -150 : 150, clientX: 700, clientY: 200, bubbles: true, cancelable: true }))`,
  panned: `(canvas, i) => canvas.dispatchEvent(new KeyboardEvent('keydown', { key: i < 6 ? 'd' : 'a', bubbles: true, cancelable: true }))`,
};

export async function scaleTests(pageOf) {
  await test('P1 P4 of 20,000 programs any is found; those that are seen are elements', async () => {
    mkdirSync('programs', { recursive: true });
    const n = 20000;
    writeFileSync('programs/graph.json', JSON.stringify({
      target: { numTiles: 1, tilesPerIPU: 1 }, memory: { byTile: { total: [1] } }, controlPrograms: [0], functionPrograms: [],
      programs: [{ type: 'Sequence', children: Array.from({ length: n }, (_, i) => i + 1) }, ...Array.from({ length: n }, (_, i) => ({ type: 'OnTileExecute', computeSet: 0, name: `layer/op${i}.` }))],
    }));
    await open(pageOf('programs'), 'view=programs');
    const rows = () => page.$$eval('[role=treeitem]', (all) => all.length), seen = () => page.$eval('[aria-selected=true]', (e) => {
      const r = e.getBoundingClientRect(), box = e.closest('.longlist').getBoundingClientRect();
      return [e.dataset.program, r.top >= box.top - 1 && r.bottom <= box.bottom + 1];
    });
    equal(await rows() < 200, true, 'rows that are elements');
    await page.type('input[type=search]', 'op17654.');
    await page.keyboard.press('Enter');
    await settle();
    equal(await seen(), ['17655', true]);
    await page.focus('[aria-selected=true]');
    for (let i = 0; i < 30; i++) await page.keyboard.press('ArrowDown');
    await settle();
    equal(await seen(), ['17685', true]);
    equal(await page.evaluate(() => document.activeElement.dataset.program), '17685');
    const order = await page.$$eval('[role=treeitem]', (all) => all.map((e) => Number(e.dataset.program)));
    equal(order, [...order].sort((a, b) => a - b), 'the order of elements');
    equal(await rows() < 200, true, 'rows that are elements, further on');
  });
  let made;
  const large = () => (made ??= huge(pageOf));
  await test('W03 14.7 million intervals: what is drawn depends on the pixels, 30 frames a second', async () => {
    const { file, cycles } = large();
    for (const window of [[0, cycles], [Math.round(cycles * 0.4), Math.round(cycles * 0.6)]]) {
      await open(file, `view=trace&t.flame=1&t.from=${window[0]}&t.to=${window[1]}`);
      equal([await has('html[data-failed]'), await fact('Cycles')], [false, (window[1] - window[0]).toLocaleString('en-US')]);
      if (!window[0]) equal(await fact('Steps'), (2 * executions).toLocaleString('en-US'));
      const width = await page.$eval('.lanes > canvas', (e) => e.clientWidth), rows = 4;
      for (const [name, move] of Object.entries(moves)) {
        const most = await rectangles(move);
        if (most > 4 * rows * width) throw new Error(`${most} rectangles of ${width} pixels when it is ${name}`);
        const taken = await frameTime(move);
        if (taken > 33) throw new Error(`a frame takes ${taken.toFixed(1)} ms when it is ${name}`);
      }
    }
    await settle();
  });
  await test('W03 U1 the Summary is made anew when the window stays, not with each frame', async () => {
    const { file, cycles } = large();
    await open(file, `view=trace&t.flame=1&t.from=${Math.round(cycles * 0.4)}&t.to=${Math.round(cycles * 0.6)}`);
    const { inEvents, inFrames, took } = await page.evaluate(async () => {
      const canvas = document.querySelector('.lanes > canvas'), watcher = new MutationObserver((all) => { inFrames += all.length; });
      let inEvents = 0, inFrames = 0;
      watcher.observe(document.querySelector('[role=tabpanel]'), { childList: true });
      const began = performance.now();
      for (let i = 0; i < 30; i++) {
        for (let n = 0; n < 3; n++) canvas.dispatchEvent(new KeyboardEvent('keydown', { key: i % 2 ? 'a' : 'd', bubbles: true, cancelable: true }));
        inEvents += watcher.takeRecords().length;
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
      }
      const took = performance.now() - began;
      return { inEvents, inFrames: inFrames + watcher.takeRecords().length, took };
    });
    equal(inEvents, 0, 'times that it was made while keys were pressed');
    if (inFrames > 2 * took / 120) throw new Error(`it was made ${inFrames / 2} times in ${took.toFixed(0)} ms`);
    await page.evaluate(() => document.querySelector('.lanes > canvas').dispatchEvent(new KeyboardEvent('keydown', { key: 'w', bubbles: true, cancelable: true })));
    await settle(260);
    const { 't.from': from, 't.to': to } = await window_();
    equal(Math.abs(Number((await fact('Cycles')).replace(/,/g, '')) - (to - from)) <= 1, true, 'whether its cycles are those of the window');
  });
}
