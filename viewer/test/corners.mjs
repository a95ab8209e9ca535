/* Reports and addresses of unusual kinds, of which the figures must be right, too. Each is made of the golden report. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { at, box, click, equal, fact, holds, open, page, press, settle, test, text, texts, tip, typed, view } from './harness.mjs';

const read = (name) => JSON.parse(readFileSync(`golden/${name}.json`, 'utf8'));

/* A report of these parts of the golden one, as `change` makes them. */
function made(pageOf, folder, parts, change = () => undefined) {
  const of = Object.fromEntries(parts.map((name) => [name, read(name)]));
  change(of);
  mkdirSync(folder, { recursive: true });
  for (const [name, what] of Object.entries(of)) writeFileSync(`${folder}/${name}.json`, JSON.stringify(what));
  return pageOf(folder);
}

/* What the first table of a part of the page saves. */
const csvOf = (inside) => page.evaluate((where) => new Promise((done) => {
  const create = URL.createObjectURL, go = HTMLAnchorElement.prototype.click;
  URL.createObjectURL = (b) => { void b.text().then((words) => { URL.createObjectURL = create; HTMLAnchorElement.prototype.click = go; done(words); }); return create(b); };
  HTMLAnchorElement.prototype.click = () => undefined;
  [...document.querySelectorAll(`${where} button`)].find((b) => b.innerText === 'CSV').click();
}), inside);

export async function cornerTests(pageOf, file, truth, both) {
  await test('P3 Q2 what another view chooses is shown, also where the view was before', async () => {
    await open(file, 'view=trace');
    await view('programs');
    await page.click('[data-program="2"]');
    await settle();
    await press('Show in the execution trace');
    holds(await text('.stepdetails h3'), 'DoExchange');
    await view('operations');
    await press('Program Tree', '.below');
    await page.$$eval('.below tbody tr', (all) => all.find((e) => e.innerText.includes('layer1/relu') || e.innerText.includes('layer1')).click());
    await settle();
    const name = await fact('Debug name');
    holds(name, 'layer1');
    equal(await page.$eval('[role=treeitem][aria-selected=true]', (e) => e.innerText.includes('layer1')), true, 'the chosen program');
  });
  await test('B2 an address that is typed is shown, whatever was chosen before', async () => {
    await open(file, 'view=trace');
    await typed('view=trace&t.step=4&t.tab=Details&unit=bytes&theme=dark&narrow=1');
    holds(await text('.stepdetails h3'), 'OnTileExecute', 'layer1/conv');
    equal(await fact('Memory'), '892 B');
    equal([await page.$eval('nav select', (e) => e.value), await page.$eval('html', (e) => e.dataset.theme), await page.$eval('body', (e) => e.className)], ['bytes', 'dark', 'narrow']);
    await typed('view=summary');
    equal([await fact('Memory per tile'), await page.$eval('html', (e) => e.dataset.theme ?? ''), await page.$eval('body', (e) => e.className)], ['9.8 KiB', '', '']);
  });
  await test('B2 an address of a longer trace with more IPUs shows the whole of this one', async () => {
    for (const choices of ['t.from=90000000&t.to=95000000', 't.from=500&t.to=20', 't.ipu=7', 'report=0.5']) {
      await open(file, `view=trace&${choices}`);
      equal([await fact('Cycles'), (await texts('[data-ipu] h3')).join()], [truth.cycles.toLocaleString('en-US'), 'IPU 0,IPU 1'], choices);
    }
    await open(file, 'view=trace&t.kind=lightweight&l.from=90000000&l.to=95000000');
    equal(await fact('Cycles'), '3,800');
  });
  await test('G1 a step that ends behind many that follow it, or begins before, is drawn and found', async () => {
    const sets = [[1000, 0], [100, 0], ...new Array(30).fill([0, 20])], steps = [], clocks = [0, 0];
    sets.forEach((of, i) => {
      const tile = of[0] ? 0 : 1, cycles = of[tile];
      steps.push({ type: 'OnTileExecute', program: 3, name: `s${i}`, computeSet: i, cycles, cyclesFrom: clocks[tile], cyclesTo: clocks[tile] += cycles });
    });
    const overlap = made(pageOf, 'overlap', ['graph', 'execution'], ({ execution }) => {
      delete execution.lightweightProfile;
      execution.simulation = { steps, runs: [], cycles: 1100, costs: { computeSets: sets.map((of) => (of[0] ? { tiles: [0, 1], cycles: [of[0]] } : { tiles: [1, 1], cycles: [of[1]] })) } };
    });
    const row = 4 + 9;
    await open(overlap, 'view=trace&t.from=700&t.to=800&t.bsp=0');
    holds(await tip(await at(750, row, 700, 800)), 's0');
    await open(overlap, 'view=trace&t.from=0&t.to=60&t.bsp=0');
    holds(await tip(await at(30, row, 0, 60)), 's3');
    await open(overlap, 'view=trace&t.flame=1&t.bsp=0');
    holds(await tip(await at(1090, row, 0, 1100)), 's1');
  });
  await test('N8 U1 without a graph profile the trace has all tiles, and syncs as long as they are', async () => {
    const alone = made(pageOf, 'alone', ['execution']);
    await open(alone, 'view=trace&t.step=4');
    holds(await text('.tracesummary'), 'This report has no graph profile');
    equal((await texts('[data-ipu] h3')).join(), 'IPU 0');
    equal(await fact('Steps'), String(truth.steps.filter((s) => s.type !== 'SyncAns' || s.cyclesTo > s.cyclesFrom).length), 'steps');
    await press('Details', '.below');
    holds(await fact('Active Tiles'), '/ 8');
    holds(await fact('All Cycles'), 'min 200', 'max 330');
  });
  await test('B10 D13 what is not known is empty in CSV, and behind all others in each order', async () => {
    await open(file, `view=trace&t.step=${truth.steps.findIndex((s) => s.computeSet === 2)}&t.tab=Details`);
    equal(await csvOf('.stepdetails'), 'Vertex type,Instances,Cycles\r\nRelu,1,\r\n');
    await open(file, 'view=memory');
    await press('Exchanges', '.below');
    const order = async () => {
      await press('Code', '.below thead');
      return (await texts('.below tbody tr td:last-child')).join();
    };
    equal([await order(), await order()], ['128 B,–,–,–,–', '128 B,–,–,–,–']);
    await page.type('.below input[type=search]', 'nan');
    await settle();
    equal((await texts('.below tbody tr')).length, 0, 'rows with what is not known');
    await open(both, 'view=compare');
    for (const line of (await csvOf('.card table, .compare')).split('\r\n').slice(1)) {
      const [, before, after, , percent] = line.split(',');
      if (Number(before) && after !== '' && line) equal(Math.abs(Number(percent) - (after - before) / before * 100) < 1e-6, true, line);
    }
  });
  await test('V4 liveness: what is below is of the steps that the filter finds, also when the view comes back', async () => {
    await open(file, 'view=liveness');
    await page.type('.toolbar input[type=search]', 'ExchangePre');
    await settle();
    const r = await box('.plothost .main canvas');
    await click({ x: r.x + 76 + (r.width - 84) / 2, y: r.y + 60 });
    holds(await text('.stack'), 'DoExchange');
    await view('summary');
    await view('liveness');
    holds(await text('.stack'), 'DoExchange');
  });
  await test('M7 few tiles: no place is shown that is not there; the browser has its own keys', async () => {
    const few = made(pageOf, 'few', ['graph'], ({ graph }) => {
      const cut = (v) => (Array.isArray(v) && v.length === 8 && v.every((n) => typeof n === 'number') ? v.slice(0, 2) : Array.isArray(v) ? v.map(cut) : v && typeof v === 'object' ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, cut(x)])) : v);
      Object.assign(graph, cut(graph), { target: { ...graph.target, numTiles: 2, tilesPerIPU: 2, numIPUs: 1 } });
    });
    await open(few, 'view=memory');
    const r = await box('.plothost .main canvas');
    await page.mouse.move(r.x + 200, r.y + 50);
    await page.mouse.wheel({ deltaY: 500 });
    await settle();
    await page.mouse.move(r.x + 76 + (r.width - 84) * 0.9, r.y + 50);
    await settle();
    holds(await text('.plothost .main .tip'), 'tile 1');
    for (const graph of ['total', 'map']) {
      await open(few, `view=memory&m.graph=${graph}`);
      const taken = await page.$eval('.plothost .main canvas', (e) => ['f', '0', '-', 'ArrowLeft'].filter((key) => !e.dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey: true, cancelable: true, bubbles: true }))));
      equal(taken, [], graph);
    }
  });
  await test('M8 the list of variables says which it has; what an address cannot mean is as if it were not there', async () => {
    const many = made(pageOf, 'many', ['graph', 'vars'], ({ vars }) => {
      vars.tiles[0].variables = Array.from({ length: 601 }, (_, i) => ({ name: `v${i}`, category: 'variable', address: vars.memoryBase + 8 * i, bytes: 8 }));
      vars.tiles.length = 1;
    });
    await open(many, 'view=memory&m.graph=variables');
    equal(await text('.plothost ~ div select option'), 'Add a variable… (the 500 largest of 601)');
    await open(many, 'view=memory&m.graph=nothing&m.by=nobody');
    equal((await texts('.toolbar .drop')).slice(0, 2), ['Graph: Total memory', 'Breakdown: none']);
  });
  await test('R2 nothing is said of the control flow of what was not traced', async () => {
    await open(made(pageOf, 'untraced', ['graph', 'execution'], (of) => { of.execution = { profilerMode: 'NONE' }; }), 'view=summary');
    equal([await fact('Control flow'), await fact('Runs')], ['not in this report', '0']);
  });
  await test('M12 the map of memory ends where the last byte is', async () => {
    const inside = made(pageOf, 'inside', ['graph', 'vars'], ({ vars }) => {
      vars.tiles[0].variables = [{ name: 'all', category: 'variable', address: vars.memoryBase, bytes: 1000 }, { name: 'part', category: 'message', address: vars.memoryBase + 400, bytes: 100 }];
    });
    await open(inside, 'view=memory&m.tiles=0');
    await press('Variables', '.below');
    await press('Memory map', '.below');
    equal(await page.$$eval('.map span', (all) => all.map((e) => [e.style.left, e.style.width])), [['0%', '100%'], ['40%', '10%']]);
  });
  await test('D3 U1 cycles of hundreds of millions: spread and time are exact', async () => {
    const long = made(pageOf, 'long', ['graph', 'execution'], ({ graph, execution }) => {
      const of = execution.simulation;
      graph.target.clockFrequency = 1e9;
      of.costs.computeSets = [{ tiles: [0, 8], cycles: new Array(8).fill(999999999) }];
      Object.assign(of, { steps: [{ type: 'OnTileExecute', computeSet: 0, program: 3, name: 'long', cyclesFrom: 0, cyclesTo: 999999999, cycles: 999999999 }], runs: [], cycles: 999999999 });
      delete execution.lightweightProfile;
    });
    await open(long, 'view=trace&t.step=0&t.tab=Details');
    holds(await fact('All Cycles'), 'standard deviation 0.0');
    await open(long, 'view=trace');
    holds(await text('.stats'), '1.00 s');
  });
  await test('T4 L3 stream copies of IPUs without a profiled tile are shown', async () => {
    const one = made(pageOf, 'one', ['graph', 'execution'], ({ execution }) => { execution.lightweightProfile.tiles.length = 1; });
    await open(one, 'view=trace&t.kind=lightweight');
    equal(await texts('.lanehead'), ['IPU 0', 'IPU 1']);
  });
  await test('W01 names are escaped wherever they are shown: legend, list, details, map', async () => {
    const named = made(pageOf, 'named', ['graph', 'vars'], ({ graph }) => { graph.vertexTypes.names[0] = 'Conv\u202efloat'; });
    await open(named, 'view=memory&m.graph=variables&m.tiles=0');
    const bad = () => page.$eval('main', (e) => [...e.querySelectorAll('*')].filter((one) => /\u202e/.test(one.title ?? '') || [...one.childNodes].some((n) => n.nodeType === 3 && n.data.includes('\u202e'))).map((one) => one.outerHTML.slice(0, 80)));
    equal(await bad(), []);
    await press('Variables', '.below');
    await press('Memory map', '.below');
    equal(await bad(), []);
  });
  await test('M6 more tiles than the table has columns for: it is said which are selected', async () => {
    const wide = made(pageOf, 'tiles', ['graph'], ({ graph }) => { Object.assign(graph.memory.byTile, { total: new Array(100).fill(5), totalIncludingGaps: new Array(100).fill(6) }); });
    await open(wide, 'view=memory');
    const type = async (words) => {
      await page.$eval('input[aria-label="Select tiles"]', (e, typed_) => { e.value = typed_; e.dispatchEvent(new Event('input')); }, words);
      await settle();
      return text('.toolbar');
    };
    holds(await type('0-99'), 'the first 64 of these 100 tiles');
    equal((await type('0-9')).includes('of these'), false);
  });
  await test('B9 the focus stays: in the tree that is folded, on a menu after a choice', async () => {
    await open(file, 'view=programs');
    await page.focus('[data-program="7"]');
    for (const key of ['ArrowLeft', 'ArrowRight']) {
      await page.keyboard.press(key);
      await settle();
      equal(await page.evaluate(() => document.activeElement.dataset.program), '7', key);
    }
    await open(file, 'view=memory');
    await page.$$eval('.toolbar .drop', (all) => all[1].focus());
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await settle();
    holds(await page.evaluate(() => document.activeElement.innerText), 'Breakdown: region');
  });
  await test('Q1 an operation is selected in the filtered table', async () => {
    await open(file, 'view=operations');
    await page.type('.above input[type=search]', 'layer1');
    await settle();
    await page.click('.above tbody tr');
    await settle();
    equal([(await texts('.above tbody tr')).length, await page.$eval('.above input', (e) => e.value), (await texts('.above tr.selected')).length], [1, 'layer1', 1]);
    await page.click('.above tbody tr');
    await settle();
    equal((await texts('.above tr.selected')).length, 0);
  });
  await test('B9 names on steps have a contrast of 4.5 or more, in the dark, too', async () => {
    for (const choices of ['theme=dark', 'theme=light', 'theme=dark&t.kind=lightweight', 'theme=dark&t.flame=1']) {
      await open(file, `view=trace&t.bsp=0&${choices}`);
      const low = await page.evaluate(() => new Promise((done) => {
        const { fillRect, fillText } = CanvasRenderingContext2D.prototype, canvas = document.querySelector('.lanes > canvas'), rects = [], found = [];
        const light = (c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((a, v, i) => a + v * [0.2126, 0.7152, 0.0722][i], 0.05);
        CanvasRenderingContext2D.prototype.fillRect = function rect(x, y, w, h) { if (this.canvas === canvas && this.globalAlpha === 1) rects.push([x, y, w, h, this.fillStyle]); fillRect.call(this, x, y, w, h); };
        CanvasRenderingContext2D.prototype.fillText = function words(t, x, y, ...more) {
          const under = rects.findLast((r) => x >= r[0] && x < r[0] + r[2] && y >= r[1] && y < r[1] + r[3]);
          if (this.canvas === canvas && under && t) { const [a, b] = [light(under[4]), light(this.fillStyle)], ratio = Math.max(a, b) / Math.min(a, b); if (ratio < 4.5) found.push(`${t.slice(0, 20)}: ${this.fillStyle} on ${under[4]}`); }
          fillText.call(this, t, x, y, ...more);
        };
        canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'f' }));
        requestAnimationFrame(() => requestAnimationFrame(() => done(found)));
      }));
      equal(low, [], choices);
    }
  });
}
