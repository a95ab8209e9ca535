/* Two reports in one page, a report from a server, the report of a program that has just run. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { box, choose, equal, fact, has, holds, mayAsk, open, page, pixel, press, settle, test, text, texts, view } from './harness.mjs';

/* The golden report, and one in which a compute set takes longer and a category more. */
export async function compareTests(popview, truth) {
  cpSync('golden', 'slower', { recursive: true });
  const execution = JSON.parse(readFileSync('slower/execution.json', 'utf8')), graph = JSON.parse(readFileSync('slower/graph.json', 'utf8'));
  for (const s of execution.simulation.steps) if (s.name === 'layer1/relu') s.cycles += 10;
  execution.simulation.cycles += 100;
  graph.hostExchanges.category[0] = 'RemoteBuffer';
  graph.memory.byTile.totalIncludingGaps[3] += 500;
  graph.memory.byCategory.stack.total[3] += 500;
  writeFileSync('slower/execution.json', JSON.stringify(execution));
  writeFileSync('slower/graph.json', JSON.stringify(graph));
  execFileSync(popview, ['golden', 'slower', '-o', 'both.html']);
  execFileSync(popview, ['slower', '-o', 'slower.html']);
  /* Its first run alone. */
  cpSync('golden', 'once', { recursive: true });
  const once = JSON.parse(readFileSync('once/execution.json', 'utf8'));
  once.simulation.steps.length = once.simulation.runs[0].numSteps;
  once.simulation.runs.length = once.runs.length = 1;
  writeFileSync('once/execution.json', JSON.stringify(once));
  execFileSync(popview, ['once', '-o', 'once.html']);
  const both = `${process.cwd()}/both.html`;
  const row = async (table, name) => page.$$eval(`table[aria-label="${table}"] tbody tr`, (all, n) => all.map((r) => [...r.children].map((c) => [c.innerText, c.className])).find((r) => r[0][0] === n), name);
  await test('N9 V7 M13 two reports: figures, source, target, difference in red', async () => {
    await open(both);
    holds(await text('header h1'), 'Compare');
    const cycles = await row('figures of both reports', 'Cycles');
    equal(cycles.slice(1).map((c) => c[0]), [truth.cycles, truth.cycles + 100, '+100'].map((v) => v.toLocaleString('en-US')).concat(`+${(100 / truth.cycles * 100).toFixed(1)}%`));
    holds(cycles[3][1], 'bad');
    equal((await row('cycles by name in both reports', 'OnTileExecute layer1/relu'))[3][0], '+20');
    equal((await row('bytes by category in both reports', 'Stack'))[3][0], '+500 B');
    equal((await row('bytes by category in both reports', 'Variables'))[3][0], '0 B');
    await press('Memory', '[aria-label="Comparison"]');
    equal((await texts('table[aria-label="tiles that differ"] tbody tr')).length, 1);
    equal(await row('tiles that differ', '3').then((r) => r[3][0]), '+500 B');
    await press('Liveness', '[aria-label="Comparison"]');
    equal((await page.$$('.compare .plot')).length, 1);
    await choose('Change Layout', 'Liveness in two graphs');
    equal((await page.$$('.compare .plot')).length, 2);
  });
  await test('Q1 Q2 what a stream copy and what several programs share is counted once, also by odd names', async () => {
    const run = JSON.parse(readFileSync('golden/execution.json', 'utf8')), programs = JSON.parse(readFileSync('golden/graph.json', 'utf8'));
    run.simulation.steps = run.simulation.steps.flatMap((s) => s.type !== 'StreamCopy' ? [s]
      : [s, { type: 'StreamCopyEnd', program: s.program, name: s.name, cyclesFrom: s.cyclesTo - 20, cyclesTo: s.cyclesTo }]);
    for (const s of run.simulation.steps) if (s.name === 'layer1/relu') s.name = '/layer1//relu';
    programs.programs.push({ type: 'OnTileExecute', computeSet: 0, name: 'layer1/conv' });
    cpSync('golden', 'phases', { recursive: true });
    writeFileSync('phases/execution.json', JSON.stringify(run));
    writeFileSync('phases/graph.json', JSON.stringify(programs));
    execFileSync(popview, ['phases', '-o', 'phases.html']);
    execFileSync(popview, ['golden', '-o', 'whole.html']);
    const figures = async (name) => {
      await open(`${process.cwd()}/${name}.html`, 'view=operations');
      const operations = [await row('operations', 'next batch'), await row('operations', 'layer1')].map((r) => r.slice(2, 5).map((c) => c[0]));
      await open(`${process.cwd()}/${name}.html`, 'view=trace');
      await page.$$eval('details.more', (all) => { all.find((e) => e.innerText.startsWith('By name')).open = true; });
      await settle(50);
      return [operations, await row('cycles by name', 'next batch'), await row('cycles by name', 'layer1/relu')];
    };
    equal(await figures('phases'), await figures('whole'));
  });
  /* 64 IPUs; the last one has vertices of two bytes. */
  const wide = JSON.parse(readFileSync('golden/graph.json', 'utf8')), allTiles = 64 * 1472, nothing = new Array(allTiles).fill(0);
  Object.assign(wide.target, { numIPUs: 64, tilesPerIPU: 1472, numTiles: allTiles });
  wide.memory = {
    byTile: { total: new Array(allTiles).fill(1000), totalIncludingGaps: new Array(allTiles).fill(2000) },
    byVertexType: { totalBytes: [nothing.map((_, tile) => (tile < 63 * 1472 ? 1 : 2)), nothing], codeBytes: [nothing, nothing] },
  };
  writeFileSync('ipus.json', JSON.stringify(wide));
  execFileSync(popview, ['ipus.json', '-o', 'ipus.html']);
  await test('M1 the tile map of 94,208 tiles has a column and a row for each', async () => {
    await open(`${process.cwd()}/ipus.html`, 'view=memory&m.graph=map');
    await page.focus('.tilemap canvas');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await settle();
    const below = Number((await texts('.tree thead th'))[1].replace('Tile ', ''));
    equal(below > 10, true, `that the tile below the first one is ${below}`);
  });
  await test('I4 what is largest on each of 64 IPUs', async () => {
    await open(`${process.cwd()}/ipus.html`, 'view=insights');
    await press('One IPU', '[role=tablist]');
    const conv = async () => (await texts('.panel .cards tbody tr')).find((row) => row.includes('Conv'));
    holds(await conv(), '1.4 KiB');
    await page.select('.panel select', '63');
    await settle();
    holds(await conv(), '2.9 KiB');
  });
  await test('M2 a pixel of many tiles is as high as the fullest of them', async () => {
    const graph = JSON.parse(readFileSync('ipus.json', 'utf8')), numTiles = 64 * 1472;
    const half = (odd) => Array.from({ length: numTiles }, (_, i) => (i % 2 === odd ? 1000 : 0)), none = half(2);
    const category = (odd) => ({ nonInterleaved: { nonOverlapped: half(odd), overlapped: none }, total: half(odd) });
    graph.memory.byCategory = { variable: category(0), vertexCode: category(1) };
    writeFileSync('halves.json', JSON.stringify(graph));
    execFileSync(popview, ['halves.json', '-o', 'halves.html']);
    await open(`${process.cwd()}/halves.html`, 'view=memory&m.by=category');
    const { x, y, width, height } = await box('.plothost .main canvas');
    const low = await pixel({ x: x + width / 2, y: y + height * 0.75 }, '.plothost .main canvas'), high = await pixel({ x: x + width / 2, y: y + height * 0.25 }, '.plothost .main canvas');
    equal(low, high, 'the colour at a quarter and at three quarters of the height');
  });
  await test('P1 programs may lie very deep', async () => {
    const graph = JSON.parse(readFileSync('golden/graph.json', 'utf8')), deep = 20000;
    graph.programs = Array.from({ length: deep }, (_, i) => ({ type: 'Repeat', count: 1, children: i + 1 < deep ? [i + 1] : [] }));
    graph.controlPrograms = [0];
    writeFileSync('deep.json', JSON.stringify(graph));
    execFileSync(popview, ['deep.json', '-o', 'deep.html']);
    await open(`${process.cwd()}/deep.html`, 'view=programs');
    equal(await page.$eval('[role=tree]', (e) => e.style.height), `${22 * deep}px`);
  });
  await test('E9 traces side by side, and one above the other; each has its own window', async () => {
    await open(both, 'view=compare&c.tab=Execution Trace');
    const places = () => page.$$eval('.one', (all) => all.map((e) => { const r = e.getBoundingClientRect(); return [Math.round(r.x), Math.round(r.y)]; }));
    const beside = await places();
    equal([beside.length, beside[0][1] === beside[1][1], beside[0][0] < beside[1][0]], [2, true, true]);
    await choose('Change Layout', 'One above the other');
    const stacked = await places();
    equal([stacked[0][0] === stacked[1][0], stacked[0][1] < stacked[1][1]], [true, true]);
    await page.focus('.one:nth-child(2) .lanes > canvas');
    await page.keyboard.press('w');
    await settle(260);
    const hash = await page.evaluate(() => location.hash);
    holds(hash, 'r1.t.from');
    equal(/[&#]t\.from/.test(hash), false, 'the window of the source has changed');
  });
  await test('N9 each view shows the report that is chosen', async () => {
    await open(both, 'view=summary');
    holds(await text('main'), 'golden');
    await page.select('.which select', '1');
    await settle();
    holds(await text('main'), 'slower');
    await view('trace');
    holds(await fact('Cycles'), (truth.cycles + 100).toLocaleString('en-US'));
  });
}

/* What is drawn, and what is saved of it. */
export async function pictureTests(file) {
  await test('U3 stream copies by whose memory they are from or to', async () => {
    await open(`${process.cwd()}/slower.html`, 'view=trace');
    equal(await fact('Rx / Tx StreamCopy, remote buffer', '[data-ipu="0"]'), '2.0 KiB / 0 B');
    await open(file, 'view=trace');
    equal(await fact('Rx / Tx StreamCopy, host', '[data-ipu="0"]'), '2.0 KiB / 0 B');
    equal(await has('[data-fact="Rx / Tx StreamCopy, remote buffer"]'), false);
  });
  await test('T3 the limits of a detailed trace are noted, where they matter', async () => {
    await open(file, 'view=trace');
    holds(await text('[data-note="limits"]'), 'executed several times', 'last execution');
    await open(`${process.cwd()}/once.html`, 'view=trace');
    equal(await has('[data-note="limits"]'), false);
  });
  await test('N5 the graph is saved as a picture of what is shown', async () => {
    await open(file, 'view=trace');
    await page.evaluate(() => {
      window.saved = [];
      URL.createObjectURL = (blob) => { window.saved.push(blob); return 'blob:none'; };
      HTMLAnchorElement.prototype.click = function click() { window.savedAs = this.download; };
    });
    await press('Save the graph as a picture');
    await page.waitForFunction(() => window.saved.length > 0);
    const [name, type, head, width] = await page.evaluate(async () => {
      const bytes = new Uint8Array(await window.saved[0].arrayBuffer());
      return [window.savedAs, window.saved[0].type, [...bytes.slice(0, 4)], new DataView(bytes.buffer).getUint32(16)];
    });
    equal([name, type, head, width], ['trace.png', 'image/png', [0x89, 0x50, 0x4e, 0x47], await page.$eval('.lanes > canvas', (e) => e.width)]);
  });
  await test('G15 labels that do not fit are cut to the last part of the path', async () => {
    await open(file, 'view=trace');
    await page.evaluate(() => {
      window.drawn = [];
      const fill = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function fillText(text, ...at) { window.drawn.push(text); fill.call(this, text, ...at); };
    });
    await page.focus('.lanes > canvas');
    const drawn = async (key) => {
      await page.evaluate(() => { window.drawn = []; });
      await page.keyboard.press(key);
      await settle(50);
      return page.evaluate(() => [...new Set(window.drawn)]);
    };
    let cut = false, whole = false;
    for (let i = 0; i < 14; i++) {
      const names = await drawn('w');
      cut ||= names.includes('…relu') || names.includes('…conv');
      whole ||= names.some((n) => /^layer1\/(conv|relu)$/.test(n));
      if (i === 6) for (let n = 0; n < 8; n++) await page.keyboard.press('a');
    }
    equal([cut, whole], [true, true]);
  });
}

export async function servedTests(popview) {
  cpSync('golden', 'served', { recursive: true });
  const server = spawn(popview, ['--serve', 'served'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((done) => server.stdout.once('data', (d) => done(String(d).trim())));
  mayAsk(url);
  await test('N1 N11 a page of popview --serve shows the report, and anew when it is written again', async () => {
    await open(url, 'view=trace&t.flame=1');
    const before = await fact('Cycles');
    const execution = JSON.parse(readFileSync('served/execution.json', 'utf8'));
    execution.simulation.cycles += 1000;
    writeFileSync('served/execution.json', JSON.stringify(execution));
    await page.waitForFunction((old) => document.documentElement.dataset.ready && document.querySelector('[data-fact="Cycles"]')?.innerText !== old, { timeout: 20000 }, before);
    equal(Number((await fact('Cycles')).replace(/,/g, '')), Number(before.replace(/,/g, '')) + 1000);
    holds(await page.evaluate(() => location.hash), 't.flame=1');
  });
  await page.goto('about:blank');
  mayAsk('');
  server.kill();
}

/* Programs of the tutorials, each in all views, nothing amiss. */
export async function exampleTests(popview, reports) {
  for (const name of reports) {
    await test(`X1 N1 ${name} is shown in all views`, async () => {
      execFileSync(popview, [name, '-o', `${name}.html`]);
      await open(`${process.cwd()}/${name}.html`, 'view=trace&t.flame=1');
      const execution = JSON.parse(readFileSync(`${name}/execution.json`, 'utf8')), detailed = Boolean(execution.simulation);
      if (detailed) {
        equal(Number((await fact('Cycles')).replace(/,/g, '')), execution.simulation.cycles);
        equal((await page.$$('.fold')).length, (await page.$$('[data-ipu]')).length, 'lanes');
      }
      for (const id of ['summary', 'insights', 'memory', 'liveness', 'programs', 'operations']) {
        await view(id);
        equal((await text('main')).length > 50, true, `${id} is empty`);
        equal((await texts('.absent')).filter((words) => /report has no/.test(words)), [], `what ${id} lacks`);
      }
      if (!execution.lightweightProfile) return;
      await open(`${process.cwd()}/${name}.html`, 'view=trace&t.kind=lightweight');
      equal(await has('[data-trace="lightweight"]'), true);
      /* Every type that a tile has noted is in the key. */
      const types = new Set(execution.lightweightProfile.tiles.flatMap((tile) => tile.blocks.map((b) => (b.type === 'BlockFlush' ? 'Buffer Flush' : b.type))));
      holds(await text('.inlinekey'), ...types);
    });
  }
}

/* What the engine writes is what the page shows. */
export async function demoTests(popview) {
  execFileSync(popview, ['--demo', '-o', 'demo.html']);
  const demo = `${process.cwd()}/demo.html`;
  await test('G9 D16 of a program that has run: parameters of its runs, three phases of its stream copies', async () => {
    await open(demo, 'view=trace');
    const phases = ['StreamCopyBegin', 'StreamCopy (Mid)', 'StreamCopyEnd'];
    await page.type('input[type=search]', 'next');
    await page.keyboard.press('Enter');
    for (const phase of phases) {
      holds(await text('.stepdetails h3'), phase, 'next batch');
      if (phase === phases[1]) holds(await text('.stepdetails'), '6.0 KiB', 'Host');
      await page.keyboard.press('Enter');
      await settle();
    }
    await open(demo, 'view=trace');
    const r = await page.$eval('.lanes > canvas', (e) => { const b = e.getBoundingClientRect(); return { x: b.x, y: b.y }; });
    await page.mouse.click(r.x + 100, r.y + 30);
    await settle();
    holds(await text('.details'), 'first epoch', 'Execution parameters');
    equal(await fact('target.hostSyncTimeout'), '300');
    equal(await has('[data-fact="debug.floatPointOpException"]'), true);
  });
  await test('N3 the mini-map shows work, not the wait of another IPU for it', async () => {
    await open(demo, 'view=trace');
    const { x, y, width } = await box('.minimap canvas'), words = await page.$eval('[data-fact="Cycles"]', (e) => Number(e.innerText.replace(/,/g, '')));
    for (const cycle of [1500, 2500, 3500]) equal(await pixel({ x: x + 84 + cycle / words * (width - 84 - 6), y: y + 15 }, '.minimap canvas'), [0xf6, 0x62, 0x71], `colour at cycle ${cycle}`);
  });
  /* README.md's: VIEWER_SCREENSHOT=$PWD/viewer/screenshot.png ctest -R e2e-viewer */
  await test('N1 a report is called by the end of its path', async () => {
    await open(demo, 'view=trace');
    equal(await text('header .weak'), 'demo');
    equal(await page.title(), 'Execution Trace – demo – Populus');
    holds(await page.$eval('header .weak bdi', (e) => e.title), '/demo');
  });
  await test('G2 G3 G4 the picture of the README', async () => {
    await open(demo, 'view=trace&t.flame=1&t.to=60000');
    const shot = process.env.VIEWER_SCREENSHOT ?? 'screenshot.png';
    await page.screenshot({ path: shot });
    equal(readFileSync(shot).length > 20000, true, 'the picture is blank');
  });
}
