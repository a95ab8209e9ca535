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
}
