/* Lightweight traces, memory, liveness, programs, operations, summary, insights. */
import { readFileSync } from 'node:fs';
import { at, box, choose, click, equal, fact, has, holds, open, page, picture, press, settle, test, text, texts, tip, view } from './harness.mjs';
import { everyCategory, hostile } from './golden.mjs';

export async function lightweightTests(file) {
  const from = 1000, to = 4800, size = 18;
  /* IPU 0: its head, then tile 0. */
  const y = (n) => 2 + size + n * size + 8;
  const fresh = (choices = '') => open(file, `view=trace&t.kind=lightweight${choices && '&'}${choices}`);
  const p = (cycle, n) => at(cycle, y(n), from, to);
  await fresh();
  await test('T1 T4 W1 a lightweight trace shows blocks of profiled tiles, by IPU', async () => {
    equal(await has('[data-trace=lightweight]'), true);
    equal(await texts('.lanehead'), ['IPU 0', 'IPU 1']);
    holds(await tip(await p(1050, 0)), 'outer', 'tile 0');
    await press('Options', '.toolbar');
    equal((await texts('.menu:not([hidden]) button')).map((s) => s.trim()), ['Show Text', 'Show Buffer Flushes', 'Aggregate StreamCopy Blocks', 'Show Relative Cycles']);
    await page.keyboard.press('Escape');
  });
  await test('W2 W3 W4 blocks stack; a callout has name and cycles; what is not timed is a gap', async () => {
    holds(await tip(await p(1300, 0)), 'outer', '2,000 cycles');
    holds(await tip(await p(1300, 1)), 'inner', 'Common', '400 cycles (1,100 – 1,500)');
    equal(await tip(await p(3100, 0)), '');
  });
  await test('W5 stream copies have three phases, and say between whom', async () => {
    holds(await tip(await p(1650, 1)), 'StreamCopyBegin');
    holds(await tip(await p(1800, 1)), 'StreamCopyMid (Host)');
    holds(await tip(await p(2020, 1)), 'StreamCopyEnd');
    holds(await tip(await p(2200, 1)), 'StreamCopyMid (RemoteBuffer)');
    holds(await tip(await p(2450, 1)), 'StreamCopyMid (Mixed)');
  });
  await test('B8 W3 keys go from block to block, and from tile to tile', async () => {
    await open(file, 'view=trace&t.kind=lightweight');
    const said = () => page.$eval('[aria-live=polite]', (e) => e.textContent);
    await page.focus('.lanes > canvas');
    for (const [key, ...words] of [['ArrowRight', 'outer', 'tile 0'], ['ArrowRight', 'cut', 'tile 0'], ['ArrowLeft', 'outer'], ['ArrowDown', 'inner', 'tile 0'], ['ArrowUp', 'outer']]) {
      await page.keyboard.press(key);
      await settle();
      holds(await said(), ...words);
    }
    for (let i = 0; i < 12 && !(await said()).includes('tile 5'); i++) await page.keyboard.press('ArrowDown');
    holds(await said(), 'tile 5');
    await page.keyboard.press('Enter');
    await settle(260);
    holds(await text('.panel'), 'onerror');
  });
  await test('W6 L2 buffer flushes are hidden until they are wanted', async () => {
    equal(await tip(await p(3300, 0)), '');
    await choose('Options', 'Show Buffer Flushes');
    holds(await tip(await p(3300, 0)), 'Buffer Flush', '200 cycles');
    await choose('Options', 'Show Buffer Flushes');
  });
  await test('W7 a block that ends in an overflow has no known end; the overflow is shown', async () => {
    holds(await tip(await p(3600, 0)), 'cut', 'its end was lost');
    holds(await tip(await p(4100, 1)), 'Overflow');
    await click(await p(3600, 0));
    equal([await fact('Cycles'), await fact('Cycles to')], ['unknown', 'lost in an overflow']);
  });
  await test('W8 a block that began in an overflow is unknown', async () => {
    holds(await tip(await p(4500, 0)) + await tip(await p(4500, 1)) + await tip(await p(4500, 2)), 'Unknown', 'when it began, and what it was, was lost');
  });
  await test('L1 names are shown or not', async () => {
    await fresh();
    const before = await picture();
    await choose('Options', 'Show Text');
    if (await picture() === before) throw new Error('nothing changes');
  });
  await test('L3 stream copies of other tiles in a lane of each IPU', async () => {
    await fresh();
    const before = (await box('.spacer')).height;
    await choose('Options', 'Aggregate StreamCopy Blocks');
    if (!((await box('.spacer')).height < before)) throw new Error('there are as many lanes');
    holds(await tip(await at(1800, y(0), from, to)), 'batch', 'I/O Events');
  });
  await test('L4 the axis begins with the first block', async () => {
    await fresh();
    const before = await picture();
    await choose('Options', 'Show Relative Cycles');
    if (await picture() === before) throw new Error('nothing changes');
  });
  await test('W1 figures of the blocks in view', async () => {
    holds((await texts('.below tbody tr')).join('\n'), /outer\s+Common\s+1\s+2,000/);
  });
  await test('W1 W7 E1 figures are those of the IPU that is shown, without blocks of which something was lost', async () => {
    await fresh();
    const rows = async () => (await texts('.below tbody tr')).map((row) => row.replace(/\s+/g, ' ').trim()), stats = () => texts('.below .stats b');
    holds((await rows()).join('\n'), /^cut Common 1 unknown unknown unknown$/m, /^– Unknown 1 unknown unknown unknown$/m, /onerror.* 1 3,600/);
    equal((await stats()).slice(1), ['2', '12']);
    await choose('All IPUs', 'IPU 1');
    equal((await rows()).length, 1);
    holds((await rows()).join('\n'), /onerror.* 1 3,600/);
    equal((await stats()).slice(1), ['1', '1']);
    await choose('IPU 1', 'IPU 0');
    equal((await stats()).slice(1), ['1', '11']);
    equal((await rows()).join('\n').includes('onerror'), false);
  });
}

export async function reportTests(file) {
  await open(file, 'view=summary');
  await test('R1 target', async () => {
    equal([await fact('Type'), await fact('Architecture'), await fact('Tiles per IPU'), await fact('IPUs per replica'), await fact('Replicas'), await fact('Total tiles'), await fact('Total IPUs')], ['IPU', 'ipu2', '4', '2', '1', '8', '2']);
    equal([await fact('Memory per tile'), await fact('Memory per IPU'), await fact('Total memory')], ['9.8 KiB', '39.1 KiB', '78.1 KiB']);
    holds(await fact('Written'), /^\d{4}-\d\d-\d\d/);
  });
  await test('R2 instrumentation', async () => {
    equal([await fact('Compute set instrumentation'), await fact('External exchange instrumentation')], ['Vertex', 'On']);
  });
  await test('R3 graph', async () => {
    equal([await fact('Compute sets'), await fact('Edges'), await fact('Variables'), await fact('Vertices')], ['3', '77', '55', '66']);
  });
  await test('R4 engine options are filtered and folded', async () => {
    holds(await text('.wide'), 'debug.instrument', 'autoReport.directory', '\\u202e');
    await page.type('.wide input', 'instrument');
    await settle();
    equal((await texts('.wide tbody tr')).length, 1);
    await page.click('.wide > summary');
    await settle(260);
    await view('memory');
    await view('summary');
    equal(await page.$eval('.wide', (e) => e.open), false);
  });
  await test('R6 N12 R7 files with marks, version', async () => {
    holds(await text('.files'), '✓ graph.json', '✓ vars.json');
    equal(await fact('Populus'), '0.1.0');
  });
  await test('N7 bytes in KiB, kB or bytes', async () => {
    await page.select('nav select', 'bytes');
    await settle();
    equal(await fact('Memory per tile'), '10,000 B');
    await page.select('nav select', 'kB');
    await settle();
    equal(await fact('Memory per tile'), '10.0 kB');
    await page.select('nav select', 'KiB');
  });
  await test('N1 the side menu, as icons only, too', async () => {
    equal(await page.$$eval('nav button[data-view]', (all) => all.map((e) => e.dataset.view)), ['summary', 'insights', 'memory', 'liveness', 'programs', 'operations', 'trace']);
    const before = (await box('nav')).width;
    await press('⇤', 'nav');
    if (!((await box('nav')).width < before / 2)) throw new Error('it is as wide as before');
    await press('⇤', 'nav');
  });

  await test('I1 I2 I3 I4 I5 insights: fits, worst tiles, histogram, largest, the peak', async () => {
    await view('insights');
    holds(await text('.banner'), 'fits into the memory');
    const rows = await texts('[aria-label="fullest tiles"] tbody tr');
    equal([rows.length, /^7\s+1\s/.test(rows[0])], [5, true]);
    const tiles = await page.$$eval('.histogram tbody tr', (all) => all.map((e) => Number(e.children[1].innerText)));
    equal(tiles.reduce((a, b) => a + b), 8, 'tiles of the histogram');
    holds(await text('main'), 'Conv<float>', 'layer1/conv/ExchangePre', 'Only there at the peak: program 2', 'weights');
    await press('IPU 1');
    equal(await page.$eval('[role=tab][aria-selected=true]', (e) => e.innerText), 'IPU 1');
  });

  const alone = everyCategory.reduce((a, _, n) => a + 10 * (n + 1), 0);
  const line = (name) => page.$eval(`[data-line="${name}"]`, (e) => [...e.children].slice(1).map((c) => Number((c.title || '').replace(/[, B]/g, ''))));
  await test('M10 M11 M14 memory details: regions, every category, overlapped, vertices', async () => {
    await open(file, 'view=memory&m.tiles=0,7');
    equal(await page.$$eval('[role=tab]', (all) => all.map((e) => e.innerText)), ['Details', 'Vertices', 'Compute sets', 'Exchanges', 'Variables']);
    const total = [alone + 1050, alone + 25 * 7 + 1050];
    equal(await line('Excluding gaps'), total);
    equal(await line('Including gaps'), total.map((v) => v + 200));
    equal(await line('Interleaved'), [1000, 1000]);
    equal(await line('Not overlapped'), [alone + 1000, alone + 25 * 7 + 1000]);
    equal(await line('Overlapped'), [100, 100]);
    equal(await line('Total after overlapping'), [50, 50]);
    equal((await page.$$('tr [class=depth3]')).length, everyCategory.length + 1, 'lines of categories');
    equal(await line('Edge pointers'), [24, 24]);
    equal(await line('Conv<float>'), [108, 115]);
  });
  await test('M13 M6 tiles are typed, clicked, added with Shift, and kept', async () => {
    equal(await page.$$eval('.tree thead th', (all) => all.map((e) => e.innerText)), ['Memory of the selected tiles', 'Tile 0', 'Tile 7']);
    await page.$eval('input[aria-label="Select tiles"]', (e) => { e.value = '1, 3-4, 99'; e.dispatchEvent(new Event('input')); });
    await settle();
    equal((await texts('.tree thead th')).slice(1), ['Tile 1', 'Tile 3', 'Tile 4']);
    const r = await box('.plothost .main canvas'), x = (t) => r.x + 76 + (t + 0.5) / 8 * (r.width - 84);
    await click({ x: x(2), y: r.y + 60 });
    await click({ x: x(5), y: r.y + 60 }, { shift: true });
    equal((await texts('.tree thead th')).slice(1), ['Tile 2', 'Tile 5']);
    await view('summary');
    await view('memory');
    equal((await texts('.tree thead th')).slice(1), ['Tile 2', 'Tile 5']);
  });
  await test('M1 the tile map: a square for each tile, by pointer and keys', async () => {
    await open(file, 'view=memory&m.graph=map');
    holds(await text('.plothost + div'), 'A full square is the fullest tile');
    const find = async (tile) => page.evaluate(async (n) => {
      const e = document.querySelector('.tilemap canvas'), r = e.getBoundingClientRect();
      for (let y = 2; y < r.height; y += 4) for (let x = 2; x < r.width; x += 4) {
        e.dispatchEvent(new PointerEvent('pointermove', { clientX: r.x + x, clientY: r.y + y, bubbles: true }));
        const tip = document.querySelector('.tilemap .tip');
        if (!tip.hidden && tip.textContent.startsWith(`tile ${n}\n`)) return { x: r.x + x + 2, y: r.y + y + 2, words: tip.textContent };
      }
      return undefined;
    }, tile);
    const second = await find(2), last = await find(7);
    holds(last.words, 'tile 7', 'Tile memory');
    await click(second);
    await click(last, { shift: true });
    equal((await texts('.tree thead th')).slice(1), ['Tile 2', 'Tile 7']);
    await page.focus('.tilemap canvas');
    await page.keyboard.press('ArrowLeft');
    await settle();
    equal((await texts('.tree thead th')).slice(1), ['Tile 6']);
    const before = await picture('.tilemap canvas');
    await choose('Options', 'Show Max Memory');
    equal(await picture('.tilemap canvas') === before, false, 'what a full square is changes nothing');
  });
  await test('M1 M2 M3 M4 M7 graph, breakdown, gaps, limit, zoom', async () => {
    await open(file, 'view=memory');
    holds(await text('.legend'), 'Tile memory (w/o gaps)');
    equal(await has('.plothost .minimap canvas'), true);
    let last = await picture('.plothost .main canvas');
    const changes = async (what, menu, choice) => {
      await choose(menu, choice);
      const now = await picture('.plothost .main canvas');
      if (now === last) throw new Error(`${what} changes nothing`);
      last = now;
    };
    await changes('region', 'Breakdown', 'By Region');
    holds(await text('.legend'), 'Non-interleaved', 'Interleaved', 'Overflowed');
    await changes('category', 'Breakdown', 'By Category');
    holds(await text('.legend'), 'Variables', 'Shared Data Storage', 'Overlapped');
    const colours = await page.$$eval('.legend .box', (all) => all.map((e) => e.style.background));
    equal([colours.length > 20, new Set(colours).size], [true, colours.length], 'colours that are told apart');
    await changes('gaps', 'Options', 'Include Gaps');
    holds(await text('.legend'), 'Gaps');
    await changes('limit', 'Options', 'Show Max Memory');
    await choose('Options', 'Show Max Memory');
    last = await picture('.plothost .main canvas');
    const r = await box('.plothost .main canvas');
    await page.mouse.move(r.x + 300, r.y + 50);
    await page.mouse.wheel({ deltaY: -500 });
    await settle();
    if (await picture('.plothost .main canvas') === last) throw new Error('the wheel does not zoom');
    await changes('variables', 'Graph', 'Variables');
    holds(await text('.legend'), 'weights');
  });
  await test('M8 M12 variables: over tiles, as a table with addresses, as a map', async () => {
    await press('Variables', '.below');
    holds((await texts('.below tbody tr')).join('\n'), /weights\s+3.9 KiB\s+8\s+507 B/);
    await page.$eval('input[aria-label="Select tiles"]', (e) => { e.value = '3'; e.dispatchEvent(new Event('input')); });
    await settle();
    holds((await texts('.below tbody tr')).join('\n'), /weights\s+Variables\s+0x4c0c8\s+503/);
    await press('Memory map', '.below');
    equal((await page.$$('.map span')).length, 2);
    await view('summary');
    await view('memory');
    await press('Variables', '.below');
    equal(await has('.map'), true, 'the map is kept');
  });
  await test('M10 compute sets and exchanges, filtered', async () => {
    await press('All');
    await press('Compute sets', '.below');
    holds((await texts('.below tbody tr')).join('\n'), /layer1\/relu\s+1.7 KiB\s+1.6 KiB\s+10\s+Relu/);
    await page.type('.below input[type=search]', 'conv');
    await settle();
    equal((await texts('.below tbody tr')).length, 1);
    await press('Exchanges', '.below');
    holds((await texts('.below tbody tr')).join('\n'), /next batch\s+Host\s+1.0 KiB/, /layer2\/all\/GlobalExchange\s+Global\s+4.0 KiB/);
    /* Of one tile, and of all again. */
    const select = async (tiles) => {
      await page.$eval('input[aria-label="Select tiles"]', (e, words) => { e.value = words; e.dispatchEvent(new Event('input')); }, tiles);
      await settle();
      return (await texts('.below tbody tr')).join('\n');
    };
    holds(await select('0'), /next batch\s+Host\s+1,000 B/, /layer2\/all\/GlobalExchange\s+Global\s+0 B\s+4.0 KiB/);
    await press('Compute sets', '.below');
    holds(await select('3'), /layer1\/relu\s+222 B\s+200 B\s+10/);
    holds(await select(''), /layer1\/relu\s+1.7 KiB\s+1.6 KiB\s+10/);
  });

  await test('V1 V3 V5 V7 liveness: the plot, its options, steps that are selected', async () => {
    await open(file, 'view=liveness');
    holds(await text('.legend'), 'Always live', 'Not always live');
    let last = await picture('.plothost .main canvas');
    for (const option of ['Include Always Live', 'Show Max Memory']) {
      await choose('Options', option);
      const now = await picture('.plothost .main canvas');
      if (now === last) throw new Error(`${option} changes nothing`);
      last = now;
    }
    const r = await box('.plothost .main canvas'), p = (s) => ({ x: r.x + 76 + (s + 0.5) / 4 * (r.width - 84), y: r.y + 60 });
    await page.mouse.move(p(2).x, p(2).y);
    await settle();
    holds(await text('.plothost .tip'), 'OnTileExecute layer1/conv', 'compute set 0', 'not always live 512 B');
    await click(p(2));
    holds(await text('.stack'), 'Step 2', 'layer1 › conv');
    await click(p(0), { shift: true });
    holds((await texts('.below thead th')).join(), 'Step 2', 'Step 0');
    holds(await text('.below'), 'Difference: +512 B');
  });
  await test('V2 V4 V6 liveness tables: totals, filters, lifetimes', async () => {
    await press('Always Live', '.below');
    holds(await text('.below'), 'Total 3.9 KiB', 'weights');
    await page.click('.below tbody tr');
    await settle();
    holds(await text('.below'), 'Always live.');
    await press('Not Always Live', '.below');
    await press('Vertices', '.below');
    holds(await text('.below'), 'Conv<float>');
    await press('Cycle Estimates', '.below');
    holds(await text('.below'), 'no cycle estimates');
    await page.type('.toolbar input[type=search]', 'conv');
    await settle();
    await press('Not Always Live', '.below');
    const r = await box('.plothost .main canvas');
    await click({ x: r.x + 76 + (r.width - 84) * 0.75, y: r.y + 60 });
    holds(await text('.stack'), 'Step 2', 'conv');
    /* The steps keep their numbers, whatever the filter; the life of a variable is drawn over them. */
    await page.click('.below tbody tr');
    await settle();
    const before = await picture('.plothost .main canvas');
    await press('Draw in the graph', '.below');
    equal(await picture('.plothost .main canvas') === before, false, 'the life of a variable is not drawn');
  });

  await test('P1 P2 P6 program tree: control programs, functions, every type, all open', async () => {
    await open(file, 'view=programs');
    holds(await text('.roots'), 'Control programs', 'main', 'Functions', 'function');
    const types = await page.$$eval('[role=treeitem] b', (all) => all.map((e) => e.innerText));
    for (const type of ['Sequence', 'StreamCopy', 'DoExchange', 'OnTileExecute', 'GlobalExchange', 'Repeat', 'If', 'IfElse', 'Switch', 'RepeatWhileTrue', 'RepeatWhileFalse', 'Call', 'WriteUndef', 'Sync', 'SetLocalConsensusFromVar', 'StreamCopyBegin', 'StreamCopyMid', 'StreamCopyEnd', 'Abort'])
      if (!types.includes(type)) throw new Error(`there is no ${type}`);
    const colour = await page.$eval('[data-program="3"] .box', (e) => getComputedStyle(e).backgroundColor);
    equal(colour, 'rgb(246, 98, 113)');
    const before = types.length;
    await page.click('[data-program="7"] .twist');
    await settle();
    if (!((await page.$$('[role=treeitem]')).length < before)) throw new Error('it does not close');
    await press('Open all');
  });
  await test('P3 P5 a program is selected, its details are below, and its steps are a button away', async () => {
    await page.click('[data-program="3"]');
    await settle();
    equal([await fact('Program'), await fact('computeSet'), await fact('Live at this step')], ['3', '0', '512 B']);
    holds(await fact('Executed'), '2 times');
    await page.click('[data-program="0"]');
    await settle();
    const { steps } = JSON.parse(readFileSync('golden/execution.json', 'utf8')).simulation;
    holds(await fact('Executed'), `${steps.filter((s) => s.program >= 0 && !/^StreamCopy(Begin|End)$/.test(s.type)).length} steps of the programs in it`);
    await page.click('[data-program="2"]');
    await settle();
    holds(await text('.below'), 'Exchange code by instruction', 'delay');
    await press('Show in the execution trace');
    holds(await text('.stepdetails h3'), 'DoExchange');
  });
  await test('P4 programs are searched', async () => {
    await view('programs');
    await page.type('.toolbar input[type=search]', 'relu');
    await page.keyboard.press('Enter');
    await settle();
    equal(await page.$eval('[aria-selected=true]', (e) => e.dataset.program), '4');
    equal((await page.$$('.match')).length, 1);
  });
  await test('Q1 Q2 operations by layer, with code, cycles and programs', async () => {
    await view('operations');
    holds((await texts('.above tbody tr')).join('\n'), 'layer1', 'layer2');
    await choose('Layer: 1', 'Layer 2');
    holds((await texts('.above tbody tr')).join('\n'), 'layer1/conv', 'layer1/relu');
    await page.$$eval('.above tbody tr', (all) => all.find((e) => e.innerText.includes('layer1/conv')).click());
    await settle();
    equal(await fact('Programs'), '2');
    await press('Code', '.below');
    holds(await text('.below'), 'DoExchange');
    await press('Cycles', '.below');
    equal((await texts('.below tbody tr')).length, 4);
  });
  await test('B9 dark and light, by the system and by the button', async () => {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await open(file, 'view=trace');
    equal(await page.$eval('body', (e) => getComputedStyle(e).backgroundColor), 'rgb(27, 29, 33)');
    await press('Light or dark', 'nav');
    equal(await page.$eval('body', (e) => getComputedStyle(e).backgroundColor), 'rgb(255, 255, 255)');
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  });
  await test('B10 every table is saved as CSV, in which nothing is run', async () => {
    await open(file, 'view=summary');
    const csv = await page.evaluate(() => new Promise((done) => {
      const create = URL.createObjectURL;
      URL.createObjectURL = (b) => { void b.text().then(done); return create(b); };
      HTMLAnchorElement.prototype.click = () => undefined;
      [...document.querySelectorAll('.wide button')].find((b) => b.innerText === 'CSV').click();
    }));
    holds(csv, 'Option,Value', 'debug.instrument,true', `"${hostile.replace(/"/g, '""')}"`);
  });
}
