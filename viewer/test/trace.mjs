/* The detailed execution trace. */
import { at, box, choose, click, drag, equal, fact, has, holds, main, near, open, page, picture, pixel, press, settle, test, text, texts, tip, view, window_ } from './harness.mjs';
import { costs, tilesPerIpu } from './golden.mjs';

export async function traceTests(file, truth, big) {
  const end = truth.cycles, steps = truth.steps;
  const runs = 18, row = 20;
  const rowAt = (n) => 4 + runs + n * row + 9;
  const middle = (s) => (s.cyclesFrom + s.cyclesTo) / 2;
  const find = (type, n = 0) => steps.map((s, i) => ({ ...s, index: i })).filter((s) => s.type === type)[n];
  const exec = find('OnTileExecute'), exchange = find('DoExchange'), sync = find('Sync', 1);
  const fresh = (choices = '') => open(file, `view=trace${choices && '&'}${choices}`);
  const view_ = async () => {
    const w = await window_();
    return [Number(w['t.from'] ?? 0), Number(w['t.to'] ?? end)];
  };
  const select = async (s, from = 0, to = end) => click(await at(middle(s), rowAt(0), from, to));

  await fresh();
  await test('T1 a report with both traces shows the detailed one, and its options', async () => {
    equal(await has('[data-trace=detailed]'), true);
    await press('Options', '.toolbar');
    holds((await texts('.menu:not([hidden]) button')).join('\n'), 'Show Tile Balance', 'Show Terminals', 'Group Executions', 'Group Syncs', 'Show Text', 'Separate Overlapping Steps', 'Show External Syncs', 'Show SyncAns', 'Use new BSP stats');
    await page.keyboard.press('Escape');
    equal(await has('.menu:not([hidden])'), false);
  });
  await test('T2 U1 every step of all IPUs is there: cycles and steps of the whole trace', async () => {
    equal(await fact('Cycles'), end.toLocaleString('en-US'));
    equal((await texts('[data-ipu] h3')).join(), 'IPU 0,IPU 1');
  });
  await test('G1 the flat view shows steps with their cycles, one after the other', async () => {
    holds(await tip(await at(middle(exec), rowAt(0), 0, end)), 'OnTileExecute: layer1/conv');
    holds(await tip(await at(middle(exchange), rowAt(0), 0, end)), 'DoExchange', `${exchange.cyclesFrom.toLocaleString('en-US')} – ${exchange.cyclesTo}`);
    const [red, green, blue] = await pixel(await at(exec.cyclesFrom + 150, rowAt(0) + 6, 0, end));
    equal([red, green, blue], [0xf6, 0x62, 0x71], 'colour of OnTileExecute');
  });
  await test('G7 the callout has the compute set and its memory', async () => {
    holds(await tip(await at(middle(exec), rowAt(0), 0, end)), 'compute set 0, memory 892 B');
  });
  await test('G3 G13 runs are named bars over each IPU, numbered where they have no name', async () => {
    holds(await tip(await at(100, 10, 0, end)), 'Engine::run #1');
    holds(await tip(await at(end - 100, 10, 0, end)), '</script>', '\\u202e');
  });
  await test('G8 D1 D2 D3 D4 D5 D7 a click shows the step with the figures of all tiles', async () => {
    await select(exec);
    const of = costs.computeSets[0], sum = of.reduce((a, b) => a + b);
    equal(await fact('Cycles (active tiles)'), '330');
    equal(await fact('Active Tiles'), '8 / 8');
    holds(await fact('All Cycles'), 'min 200', `mean ${(sum / 8).toFixed(1)}`, 'max 330', 'standard deviation');
    equal(await fact('Tile Balance'), `${(sum / (330 * 8) * 100).toFixed(1)}%`);
    equal(await fact('Active Tile Balance'), `${(sum / (330 * 8) * 100).toFixed(1)}%`);
    equal(await fact('Cycles from'), exec.cyclesFrom.toLocaleString('en-US'));
    equal(await fact('Cycles to'), exec.cyclesTo.toLocaleString('en-US'));
    equal(await fact('Overlapped with previous'), String(exec.cyclesOverlapped));
    holds(await fact('Stack'), 'layer1 › conv');
    equal(await fact('Memory'), '892 B');
  });
  await test('D13 OnTileExecute: by vertex type, thread balance, cycles of each tile', async () => {
    equal(await fact('Thread Balance'), '50.0%');
    holds((await texts('.stepdetails tbody tr')).join('\n'), /Conv<float>\s+16\s+300/);
    equal(await has('.stepdetails canvas[aria-label^="Cycles of each tile"]'), true);
    await page.$eval('.stepdetails .plot', (e) => e.scrollIntoView());
    const p = await box('.stepdetails .plot .main canvas');
    await page.mouse.move(p.x + 76 + (p.width - 84) * 3.5 / 8, p.y + 60);
    await settle();
    holds(await text('.stepdetails .plot .tip'), 'tile 3', '330');
  });
  await test('D14 DoExchange: data, balance, code, source and destination variables, plots', async () => {
    await select(exchange);
    equal(await fact('Total Data'), '112 B');
    equal(await fact('Data Transmitted'), '112 B');
    equal(await fact('Data Received'), '112 B');
    equal(await fact('Data Balance'), '25.0%');
    equal(await fact('Exchange Code'), '128 B');
    holds(await fact('Source Variables'), 'weights', '</script>', 'and 2 more');
    equal(await fact('Destination Variables'), 'input');
    equal(await has('.stepdetails canvas[aria-label^="Data of each tile"]'), true);
  });
  await test('D15 GlobalExchange: data between IPUs, variables', async () => {
    await select(find('GlobalExchange'));
    equal(await fact('Total Data'), '4.0 KiB');
    holds(await fact('Source Variables'), 'weights');
    equal(await has('[data-fact="Exchange Code"]'), false);
  });
  await test('D16 StreamCopy: data, category, copies from and to the host; its three phases', async () => {
    await select(find('StreamCopy'));
    equal([await fact('Total Data'), await fact('Category'), await fact('Copies from host'), await fact('Copies to host')], ['1,024 B'.replace('1,024 B', '1.0 KiB'), 'Host', '2', '0']);
    for (const phase of ['StreamCopyBegin', 'StreamCopyMid', 'StreamCopyEnd']) {
      await select(find(phase));
      holds(await text('.stepdetails h3'), phase.replace('CopyMid', 'Copy (Mid)'));
    }
  });
  await test('D10 D11 D12 the three syncs say who waits for whom', async () => {
    await select(sync);
    holds(await text('.stepdetails'), 'Internal Sync', 'tiles of an IPU wait');
    equal(await has('.stepdetails [data-fact="Tile Balance"]'), false, 'a balance of a sync');
    await select(find('Sync', 2));
    holds(await text('.stepdetails'), 'External Sync', 'All IPUs wait');
    await select(find('SyncAns'));
    holds(await text('.stepdetails'), 'SyncAns', 'non-participatory');
  });
  await test('G9 a click on a run shows its execution parameters', async () => {
    await click(await at(end - 100, 10, 0, end));
    holds(await text('.details'), 'Execution parameters');
    equal(await fact('target.hostSyncTimeout'), '300');
    equal(await fact('Supersteps'), '3');
    await click(await at(100, 10, 0, end));
    holds(await text('.details'), 'Engine::run #1', 'This report has none for its runs');
  });
  await test('G4 the BSP picture shows what each tile does in each cycle', async () => {
    const bsp = 4 + runs + row + 4, each = Number(await page.$eval('.gutter', (e) => e.dataset.bsp)) / tilesPerIpu;
    let looked = 0;
    for (const i of truth.intervals.filter((_, n) => n % 3 === 0)) {
      if (i.tile >= tilesPerIpu || i.to - i.from < 12) continue;
      const lines = await tip(await at((i.from + i.to) / 2, bsp + (i.tile + 0.5) * each, 0, end));
      holds(lines, `tile ${i.tile}:`);
      const name = { InternalSync: 'Internal Sync', ExternalSync: /External Sync|StreamCopy|GlobalExchange/, StreamCopyMid: 'StreamCopy (Mid)' }[i.kind] ?? i.kind;
      holds(lines, name);
      looked++;
    }
    if (looked < 12) throw new Error(`only ${looked} intervals were looked at`);
    /* And it is drawn there: the colour just inside both ends of what works. */
    const fills = { OnTileExecute: [0xf6, 0x62, 0x71], DoExchange: [0xb1, 0xe0, 0xe7], GlobalExchange: [0x8f, 0xb8, 0xf0], StreamCopyMid: [0xf0, 0xb0, 0x93] };
    const perPixel = end / ((await box(main)).width - 84 - 6);
    let drawn = 0;
    await page.mouse.move(5, 5);
    for (const i of truth.intervals) {
      if (i.tile >= tilesPerIpu || !fills[i.kind] || i.to - i.from < 8 * perPixel) continue;
      for (const cycle of [i.from + 2 * perPixel, i.to - 2 * perPixel])
        equal(await pixel(await at(cycle, bsp + (i.tile + 0.5) * each, 0, end)), fills[i.kind], `colour of tile ${i.tile} in cycle ${cycle}, ${i.kind}`);
      drawn++;
    }
    if (drawn < 12) throw new Error(`only ${drawn} intervals were looked at in the picture`);
  });
  await test('G6 a click in the BSP picture selects the step above', async () => {
    await click(await at(middle(exec), 4 + runs + row + 4 + 60, 0, end));
    holds(await text('.stepdetails h3'), 'OnTileExecute', 'layer1/conv');
  });
  await test('G5 tiles of the BSP picture are magnified, moved and reset', async () => {
    const before = await picture();
    await press('Magnify the tiles of IPU 0');
    if (await picture() === before) throw new Error('nothing is magnified');
    await press('Shrink the tiles of IPU 0');
    await press('Magnify the tiles of IPU 0');
    await press('All tiles of IPU 0');
    equal(await picture(), before, 'the picture');
  });

  await test('N2 the bar between the halves is dragged, and moved by arrow keys', async () => {
    const before = (await box('.timeline')).height, bar = await box('[role=separator]');
    await drag({ x: bar.x + 300, y: bar.y + 4 }, { x: bar.x + 300, y: bar.y - 96 });
    near((await box('.timeline')).height, before - 100, 8, 'height of the graph');
    await page.focus('[role=separator]');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await settle();
    if ((await box('.timeline')).height < before - 60) throw new Error('keys do not move the bar');
  });
  await test('N3 the mini-map has two handles, and its middle moves the window', async () => {
    const m = await box('.minimap canvas'), x = (c) => m.x + 84 + c / end * (m.width - 90);
    await drag({ x: x(0), y: m.y + 20 }, { x: x(end / 4), y: m.y + 20 });
    await drag({ x: x(end), y: m.y + 20 }, { x: x(end / 2), y: m.y + 20 });
    await settle(260);
    let [from, to] = await view_();
    near(from, end / 4, end / 50, 'begin');
    near(to, end / 2, end / 50, 'end');
    await drag({ x: x(end * 0.375), y: m.y + 20 }, { x: x(end * 0.575), y: m.y + 20 });
    await settle(260);
    [from, to] = await view_();
    near(from, end * 0.45, end / 40, 'begin when moved');
    near(to - from, end / 4, end / 40, 'width when moved');
  });
  await test('N4 wheel, dragging, keys and the typed magnification', async () => {
    await fresh();
    const p = await at(exec.cyclesFrom, rowAt(0), 0, end);
    await page.mouse.move(p.x, p.y);
    await page.mouse.wheel({ deltaY: -600 });
    await settle(260);
    let [from, to] = await view_();
    if (to - from > end * 0.6) throw new Error('the wheel does not zoom');
    near((exec.cyclesFrom - from) / (to - from), exec.cyclesFrom / end, 0.02, 'place of what is below the pointer');
    await drag({ x: p.x + 100, y: p.y }, { x: p.x - 100, y: p.y });
    await settle(260);
    const moved = await view_();
    if (!(moved[0] > from)) throw new Error('dragging does not pan');
    await page.focus(main);
    await page.keyboard.press('f');
    await settle(260);
    equal(await view_(), [0, end]);
    await page.keyboard.press('w');
    await page.keyboard.press('d');
    await settle(260);
    [from, to] = await view_();
    near(to - from, end * 0.7, 3, 'width after w');
    if (from < end * 0.2) throw new Error('d does not pan');
    await page.focus('input.zoom');
    await page.$eval('input.zoom', (e) => { e.value = '8'; });
    await page.keyboard.press('Enter');
    await settle(260);
    [from, to] = await view_();
    near(to - from, end / 8, 3, 'width at magnification 8');
    await press('Show the whole trace', '.toolbar');
  });
  await test('G10 a double click fills the width with a layer', async () => {
    await fresh('t.flame=1');
    await click(await at(middle(exec), rowAt(0), 0, end), { double: true });
    await settle(260);
    const [from, to] = await view_(), relu = find('OnTileExecute', 1);
    near(from, 0, exchange.cyclesFrom, 'begin of layer1');
    near(to, relu.cyclesTo, 3, 'end of layer1');
  });
  await test('G11 Shift+click spans two layers', async () => {
    await fresh('t.flame=1');
    const a = exec, b = find('GlobalExchange');
    await click(await at(middle(a), rowAt(0), 0, end));
    await click(await at(middle(b), rowAt(0), 0, end), { shift: true });
    await settle(260);
    const [from, to] = await view_();
    if (from > exchange.cyclesFrom) throw new Error(`it begins at ${from}`);
    near(to, b.cyclesTo, 3, 'end');
    equal((await texts('.details section > h3')).length, 2, 'selected layers');
  });
  await test('G2 E2 flames: the stack of names; the button says what is shown', async () => {
    await fresh();
    holds(await text('.toolbar'), 'Execution View – Runs, Flat, BSP');
    await choose('Execution View', 'Flame');
    holds(await text('.toolbar'), 'Execution View – Runs, Flame, BSP');
    holds(await tip(await at(middle(exec), rowAt(0), 0, end)), /^layer1\n/);
    holds(await tip(await at(middle(exec), rowAt(1), 0, end)), /^conv\n/);
    holds(await tip(await at(middle(exchange), rowAt(2), 0, end)), /^ExchangePre\n/);
    holds(await tip(await at(middle(exec), rowAt(3), 0, end)), 'OnTileExecute: layer1/conv');
    const before = await picture();
    await choose('Execution View', 'BSP');
    await choose('Execution View', 'Runs');
    holds(await text('.toolbar'), 'Execution View – Flame');
    if (await picture() === before) throw new Error('nothing changes');
    await choose('Execution View', 'BSP');
    await choose('Execution View', 'Runs');
  });
  await test('D18 a layer lists its steps, which open', async () => {
    await click(await at(middle(exec), rowAt(0), 0, end));
    const rows = await texts('.details tbody tr');
    holds(rows.join('\n'), 'layer1/conv/ExchangePre', 'layer1/conv', 'layer1/relu');
    await page.$$eval('.details tbody tr', (all) => all.find((e) => e.innerText.includes('relu')).click());
    await settle();
    equal(await fact('Active Tiles'), '5 / 8');
  });
  await test('G12 a lane is collapsed to its top row, and opened again', async () => {
    const before = (await box('.spacer')).height;
    await press('▾ IPU 0');
    if (!((await box('.spacer')).height < before - 100)) throw new Error('it is as high as before');
    equal(await page.$eval('.fold', (e) => e.getAttribute('aria-expanded')), 'false');
    await press('▸ IPU 0');
    equal((await box('.spacer')).height, before);
  });
  await test('E1 one IPU or all', async () => {
    await choose('All IPUs', 'IPU 1');
    equal(await texts('.fold'), ['▾ IPU 1']);
    equal(await texts('[data-ipu] h3'), ['IPU 1'].slice(0, (await texts('[data-ipu] h3')).length));
    await choose('IPU 1', 'All IPUs');
    equal((await texts('.fold')).length, 2);
  });
  await test('E3 E4 E5 search greys what does not match, goes from match to match, and is cleared', async () => {
    await fresh();
    const before = await picture();
    await page.focus('input[aria-label="Search steps"]');
    await page.keyboard.type('layer1/conv');
    await page.keyboard.press('Enter');
    await settle();
    const matches = steps.filter((s) => s.name?.includes('layer1/conv')).length;
    holds(await text('.searchbox'), `1 of ${matches}`);
    holds(await text('.stepdetails h3'), 'DoExchange');
    equal(await pixel(await at(middle(find('GlobalExchange')), rowAt(0) + 6, 0, end)), [0xe2, 0xe2, 0xe2], 'colour of a step that does not match');
    const inMini = async () => {
      const r = await box('.minimap canvas');
      return pixel({ x: r.x + 84 + middle(find('GlobalExchange')) / end * (r.width - 84 - 6), y: r.y + 12 }, '.minimap canvas');
    };
    equal(await inMini(), [0xe2, 0xe2, 0xe2], 'its colour in the mini-map');
    await page.keyboard.press('Enter');
    await settle();
    holds(await text('.searchbox'), `2 of ${matches}`);
    await press('Next match', '.toolbar');
    holds(await text('.searchbox'), `3 of ${matches}`);
    await press('Previous match', '.toolbar');
    holds(await text('.searchbox'), `2 of ${matches}`);
    await press('Ten matches on', '.toolbar');
    holds(await text('.searchbox'), `${(1 + 10) % matches + 1} of ${matches}`);
    await press('Ten matches back', '.toolbar');
    holds(await text('.searchbox'), `2 of ${matches}`);
    await page.$eval('input[aria-label="Search steps"]', (e) => { e.value = ''; e.dispatchEvent(new Event('input')); });
    await page.keyboard.press('Escape');
    await settle();
    equal(await has('.arrows:not([hidden])'), false);
    if (await picture() === before) throw new Error('the selection should be drawn');
    equal((await pixel(await at(middle(find('GlobalExchange')), rowAt(0) + 8, 0, end)))[0] !== 0xe2, true, 'whether it has its colour again');
    equal(await inMini(), [0x8f, 0xb8, 0xf0], 'its colour in the mini-map again');
  });
  await test('B7 fields of the search: kind, tile, regular expression', async () => {
    for (const [what, n] of [['kind:GlobalExchange', 2], ['tile:7 kind:OnTileExecute', 4], ['/conv$|relu$/', 4], ['nothing-is-called-so', 0]]) {
      await page.$eval('input[aria-label="Search steps"]', (e, w) => { e.value = w; }, what);
      await page.focus('input[aria-label="Search steps"]');
      await page.keyboard.press('Enter');
      await settle();
      holds(await text('.searchbox'), n ? new RegExp(` of ${n}`) : 'no step');
    }
  });
  await test('E7 the key names the colours of what is in the trace', async () => {
    await press('Colour key', '.toolbar');
    holds(await text('.keybox'), 'Internal Sync', 'External Sync', 'SyncAns', 'OnTileExecute', 'DoExchange', 'GlobalExchange', 'StreamCopyBegin', 'StreamCopy (Mid)', 'StreamCopyEnd');
  });

  /* ---- options: each changes the picture, and again changes it back ---- */
  await test('E6 O1 O2 O5 tile balance, terminals and text are drawn or not', async () => {
    for (const option of ['Show Tile Balance', 'Show Terminals', 'Show Text']) {
      await fresh();
      const before = await picture();
      await choose('Options', option);
      const changed = await picture();
      if (changed === before) throw new Error(`${option} changes nothing`);
      await choose('Options', option);
      equal(await picture(), before, `the picture without ${option}`);
    }
  });
  await test('O3 Group Executions: one bar of the steps of a call path', async () => {
    await fresh();
    await choose('Options', 'Group Executions');
    holds(await tip(await at(middle(exec), rowAt(0), 0, end)), 'layer1');
    await click(await at(middle(exec), rowAt(0), 0, end));
    holds(await text('.details'), 'layer1/conv');
  });
  await test('O4 Group Syncs: two successive syncs are one bar', async () => {
    const first = steps.findIndex((s, i) => s.type === 'Sync' && steps[i + 1]?.type === 'Sync'), next = steps[first + 1];
    const from = steps[first].cyclesFrom - 20, to = next.cyclesTo + 20, choices = `t.from=${from}&t.to=${to}`;
    await fresh(choices);
    await click(await at(middle(next), rowAt(0), from, to));
    equal(await page.$eval('.stepdetails', (e) => e.dataset.step), String(first + 1));
    await choose('Options', 'Group Syncs');
    await click(await at(middle(next), rowAt(0), from, to));
    equal(await page.$eval('.stepdetails', (e) => e.dataset.step), String(find('SyncAns').index), 'the first of the bar');
  });
  await test('O6 Separate Overlapping Steps: lanes of their own', async () => {
    await fresh();
    const before = (await box('.spacer')).height;
    await choose('Options', 'Separate Overlapping Steps');
    if (!((await box('.spacer')).height >= before + row)) throw new Error('there is no lane more');
    holds(await tip(await at(exchange.cyclesFrom + 45, rowAt(0), 0, end)), 'ExchangePre');
    holds(await tip(await at(exchange.cyclesFrom + 45, rowAt(1), 0, end)), 'layer1/conv');
  });
  await test('O7 O8 external syncs and SyncAns are hidden', async () => {
    await fresh();
    for (const [option, s] of [['Show External Syncs', find('Sync', 2)], ['Show SyncAns', find('SyncAns')]]) {
      const p = await at(middle(s), rowAt(0), 0, end);
      holds(await tip(p), /Sync/);
      await choose('Options', option);
      equal(await tip(p), '', `what ${option} hides`);
    }
  });
  await test('G14 a pixel with many steps is like the longest of them', async () => {
    await open(big.mixed, 'view=trace');
    for (let i = 0; i < 40; i++) {
      const [red, green, blue] = await pixel(await at((0.1 + i / 50) * 18000000, rowAt(0) + 5 - runs, 0, 18000000));
      if (red < 230 || green > 150 || blue > 160) throw new Error(`colour ${red}, ${green}, ${blue} at ${0.1 + i / 50}`);
    }
  });
  await test('N4 a page that is opened with a window has its magnification', async () => {
    await fresh(`t.from=0&t.to=${end / 8}`);
    equal(await page.$eval('input.zoom', (e) => e.value), '8.0');
  });
  await test('E8 steps that are too narrow to be drawn are counted, until one zooms in', async () => {
    await open(big.file, 'view=trace');
    equal(await has('.note:not([hidden])'), true);
    holds(await text('.note'), /\d+ steps are too small/, 'zoom in');
    await page.focus('input.zoom');
    await page.$eval('input.zoom', (e) => { e.value = '1000'; });
    await page.keyboard.press('Enter');
    await settle(200);
    equal(await has('.note:not([hidden])'), false);
  });
  await test('D6 U1 more cycles than 32 bits hold are warned of', async () => {
    await open(big.wide, 'view=trace');
    holds(await text('.tracesummary .warning'), '32-bit');
    const s = big.truth.steps.findIndex((x) => x.name === 'layer1/conv' && x.type === 'OnTileExecute');
    await open(big.wide, `view=trace&t.step=${s}&t.tab=Details`);
    holds(await text('.stepdetails .warning'), '32-bit');
    holds(await fact('All Cycles', '.stepdetails'), 'min 4,000,000,000', 'max 6,600,000,000');
  });

  /* ---- figures of the window ---- */
  await test('U1 steps of the window are those of all IPUs', async () => {
    const s = steps.find((x) => x.type === 'OnTileExecute' && x.computeSet === 2);
    await fresh(`t.from=${s.cyclesFrom + 100}&t.to=${s.cyclesFrom + 200}`);
    equal(await fact('Steps'), '2'); /* of the second IPU; the first one waits in a sync */
  });
  const inWindow = (i, a, b) => Math.max(0, Math.min(i.to, b) - Math.max(i.from, a));
  const shares = async (ipu) => page.$$eval(`[data-ipu="${ipu}"] [data-kind]`, (all) => Object.fromEntries(all.map((e) => [e.dataset.kind, Number(/([\d.]+)%/.exec(e.innerText)[1])])));
  await test('U7 O9 tile utilisation and proportions are those of all tiles, in random windows', async () => {
    let seed = 20;
    const random = () => (seed = seed * 1103515245 + 12345 & 0x7fffffff) / 0x7fffffff;
    for (let n = 0; n < 4; n++) {
      const a = Math.floor(random() * end * 0.8), b = Math.floor(a + 20 + random() * (end - a - 20));
      await fresh(`t.bspStats=1&t.from=${a}&t.to=${b}`);
      for (const ipu of [0, 1]) {
        const own = truth.intervals.filter((i) => Math.floor(i.tile / tilesPerIpu) === ipu), sums = {};
        let whole = 0;
        for (const i of own) {
          sums[i.kind] = (sums[i.kind] ?? 0) + inWindow(i, a, b);
          whole += inWindow(i, a, b);
        }
        const got = await shares(ipu);
        for (const [kind, cycles] of Object.entries(sums)) near(got[kind] ?? 0, cycles / whole * 100, 0.06, `${kind} of IPU ${ipu} in ${a}–${b}`);
        const busy = own.filter((i) => !/Sync|StreamCopyBegin/.test(i.kind)).reduce((x, i) => x + inWindow(i, a, b), 0);
        near(Number(/([\d.]+)%/.exec(await text(`[data-ipu="${ipu}"] .balance`))[1]), busy / ((b - a) * tilesPerIpu) * 100, 0.06, `utilisation of IPU ${ipu} in ${a}–${b}`);
      }
    }
  });
  await test('U5 U6 cycle proportions and tile balance of the steps in view, in random windows', async () => {
    let seed = 7;
    const random = () => (seed = seed * 1103515245 + 12345 & 0x7fffffff) / 0x7fffffff;
    /* A step on an IPU: from its first tile's begin to its last one's end; a sync from the last tile that comes. */
    const bars = [0, 1].map((ipu) => steps.map((s, index) => {
      const of = truth.intervals.filter((i) => i.step === index && Math.floor(i.tile / tilesPerIpu) === ipu && !(keysOf(s) && i.kind === 'ExternalSync'));
      if (!of.length) return null;
      const from = s.type === 'Sync' ? Math.max(...of.map((i) => i.from)) : Math.min(...of.map((i) => i.from)), to = Math.max(...of.map((i) => i.to));
      const most = Math.max(...of.map((i) => i.to - i.from)), sum = of.reduce((x, i) => x + i.to - i.from, 0);
      return { kind: of[0].kind, from, to, balance: keysOf(s) ? sum / (most * tilesPerIpu) : null };
    }).filter(Boolean));
    for (let n = 0; n < 3; n++) {
      const a = Math.floor(random() * end * 0.7), b = Math.floor(a + 50 + random() * (end - a - 50));
      await fresh(`t.from=${a}&t.to=${b}`);
      for (const ipu of [0, 1]) {
        const sums = {};
        let whole = 0, weight = 0, balance = 0;
        for (const bar of bars[ipu]) {
          const c = inWindow(bar, a, b);
          sums[bar.kind] = (sums[bar.kind] ?? 0) + c;
          whole += c;
          if (bar.balance !== null) {
            weight += c;
            balance += c * bar.balance;
          }
        }
        const got = await shares(ipu);
        for (const [kind, cycles] of Object.entries(sums)) near(got[kind] ?? 0, cycles / whole * 100, 0.06, `${kind} of IPU ${ipu} in ${a}–${b}`);
        if (weight) near(Number(/([\d.]+)%/.exec(await text(`[data-ipu="${ipu}"] .balance`))[1]), balance / weight * 100, 0.06, `tile balance of IPU ${ipu} in ${a}–${b}`);
      }
    }
  });
  await test('U2 bytes that stream copies and exchanges between IPUs move, by IPU', async () => {
    await fresh();
    equal(await fact('Rx / Tx StreamCopy, host', '[data-ipu="0"]'), '2.0 KiB / 0 B');
    equal(await fact('Rx / Tx GlobalExchange', '[data-ipu="0"]'), '0 B / 8.0 KiB');
    equal(await fact('Rx / Tx GlobalExchange', '[data-ipu="1"]'), '8.0 KiB / 0 B');
  });
  await test('B2 the address shows the same to others: window, options, selection', async () => {
    await fresh('t.from=100&t.to=700&t.flame=1&t.step=4&t.tab=Details');
    holds(await text('.toolbar'), 'Flame');
    equal(await page.$eval('.stepdetails', (e) => e.dataset.step), '4');
  });
  await test('B3 a range: Shift+drag, its figures, the table of names', async () => {
    await fresh();
    await drag(await at(100, rowAt(0), 0, end), await at(600, rowAt(0), 0, end), true);
    holds(await text('.stats'), 'cycles of the selected range');
    near(Number((await fact('Cycles')).replace(',', '')), 500, 6, 'cycles of the range');
    await page.click('details.more summary');
    await page.waitForSelector('details.more table');
    const named = (await texts('details.more tbody tr')).find((row) => row.startsWith('layer1/conv\t'));
    holds(named ?? '', 'layer1/conv');
    await page.focus(main);
    await page.keyboard.press('Escape');
    await settle(200);
    holds(await text('.stats'), 'cycles in view');
  });
  await test('B8 keys go from step to step and say so', async () => {
    await fresh();
    await page.focus(main);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await settle();
    holds(await page.$eval('[aria-live=polite]', (e) => e.textContent), 'Step 1');
    await page.keyboard.press('?');
    equal(await page.$eval('dialog', (e) => e.open), true);
    await page.keyboard.press('Escape');
  });
  await test('B8 G9 G10 G11 B3 what the pointer does in the trace is done by keys', async () => {
    await fresh('t.flame=1');
    const said = () => page.$eval('[aria-live=polite]', (e) => e.textContent), keys = async (...all) => {
      for (const key of all) await page.keyboard.press(key);
      await settle();
    };
    await page.focus(main);
    await keys('ArrowDown');
    equal(await said(), await page.evaluate(() => document.querySelector('.details h3').innerText), 'the first run');
    holds(await text('.details'), 'Execution parameters');
    const first = await said();
    await keys('ArrowRight');
    equal((await said()) === first, false, 'the second run is another');
    await keys('ArrowLeft', 'ArrowDown');
    holds(await said(), 'Layer ');
    while ((await said()).startsWith('Layer ')) await keys('ArrowDown');
    holds(await said(), 'Step 0');
    await keys('ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight');
    equal(await said(), `Step 4: ${steps[4].name}`);
    await keys('Enter');
    await settle(260);
    near((await view_())[1], steps[4].cyclesTo, 2, 'the end of the step');
    await keys('f', 'r');
    await choose('Execution View', 'Flame');
    await press('Summary');
    holds(await text('.stats'), 'cycles of the selected range');
    near(Number((await fact('Cycles')).replace(',', '')), steps[4].cyclesTo - steps[4].cyclesFrom, 0, 'cycles of the range');
    await page.focus(main);
    await keys('Escape', 'ArrowUp');
    holds(await said(), 'Layer ');
    await page.keyboard.down('Shift');
    await keys('ArrowRight');
    await page.keyboard.up('Shift');
    await settle(260);
    equal((await texts('.details section > h3')).length, 2, 'selected layers');
    equal((await view_())[0] > 0, true, 'the graph spans both');
  });
  await test('W04 names of reports stay names: nothing of them is run or reorders others', async () => {
    const last = find('OnTileExecute', 2);
    await fresh(`t.step=${last.index}&t.tab=Details`);
    holds(await text('.stepdetails h3'), '<img src=x onerror=alert(1)>', '\\u202e', '\\n');
    equal(await has('main img'), false);
    if ((await text('.stepdetails h3')).length > 700) throw new Error('a name of 10 KB is shown whole');
    for (const id of ['summary', 'insights', 'memory', 'liveness', 'programs', 'operations']) await view(id);
    equal(await has('main img'), false);
    /* What is drawn, too. */
    for (const choices of ['t.flame=1', 't.kind=lightweight']) {
      await fresh(choices);
      const drawn = await page.evaluate(() => new Promise((done) => {
        const put = CanvasRenderingContext2D.prototype.fillText, texts = [];
        CanvasRenderingContext2D.prototype.fillText = function fillText(words, ...at) { texts.push(words); put.call(this, words, ...at); };
        document.querySelector('.lanes > canvas').dispatchEvent(new KeyboardEvent('keydown', { key: 'f' }));
        requestAnimationFrame(() => requestAnimationFrame(() => {
          CanvasRenderingContext2D.prototype.fillText = put;
          done(texts.join('|'));
        }));
      }));
      holds(drawn, /onerror|<\/script>|img src/);
      equal(/[\u0000-\u001f\u202a-\u202e]/.test(drawn), false, 'a name reorders what is drawn');
    }
  });
}

function keysOf(s) {
  return ['OnTileExecute', 'DoExchange', 'GlobalExchange', 'StreamCopy'].includes(s.type);
}
