/* SyncAns of tiles that acknowledge syncs in advance: their lane, the BSP picture, details, figures by tile. */
import { at, choose, click, equal, fact, has, holds, near, open, page, test, text, texts, tip } from './harness.mjs';
import { tilesPerIpu } from './golden.mjs';

export async function ansTests(file, truth) {
  const runs = 18, row = 20, end = truth.cycles, lane = 4 + runs + row + 9, ans = truth.steps.map((s, index) => ({ ...s, index })).filter((s) => s.type === 'SyncAns' && s.syncs);
  const of = (s, ipu) => truth.intervals.filter((i) => i.step === s.index && Math.floor(i.tile / tilesPerIpu) === ipu);
  const share = (words) => Number(/([\d.]+)%/.exec(words)[1]);
  await test('O8 D12 tiles that have acknowledged syncs have a lane of their own, which is hidden', async () => {
    equal(ans.length, 4);
    for (const s of [ans[0], ans[3]]) {
      await open(file, `view=trace&t.from=${s.cyclesFrom - 50}&t.to=${s.cyclesTo + 50}`);
      const from = Math.min(...of(s, 0).map((i) => i.from)), to = Math.max(...of(s, 0).map((i) => i.to)), place = (cycle) => at(cycle, lane, s.cyclesFrom - 50, s.cyclesTo + 50);
      holds(await tip(await place((from + to) / 2)), 'SyncAns');
      holds(await tip(await place(from + 4)), 'SyncAns');
      holds(await tip(await place(to - 4)), 'SyncAns');
      equal(await tip(await place(from - 8)), '', 'before it');
      equal(await tip(await place(to + 8)), '', 'behind it');
      await click(await place((from + to) / 2));
      equal(await page.$eval('.stepdetails', (e) => e.dataset.step), String(s.index));
    }
    holds(await text('.stepdetails'), 'non-participatory', 'no part');
    equal([await fact('Active Tiles'), await fact('Acknowledged syncs'), await fact('Tiles')], ['4 / 8', '2', '2 – 3, 5 – 6']);
    equal(await fact('Cycles from'), ans[3].cyclesFrom.toLocaleString('en-US'));
    equal(await fact('Cycles to'), ans[3].cyclesTo.toLocaleString('en-US'));
    const s = ans[3];
    await choose('Options', 'Show SyncAns');
    equal(/SyncAns: cycles|^SyncAns/.test(await tip(await at((s.cyclesFrom + s.cyclesTo) / 2, lane, s.cyclesFrom - 50, s.cyclesTo + 50))), false, 'hidden');
  });
  await test('G4 G6 the BSP picture shows which tiles have acknowledged syncs', async () => {
    let looked = 0;
    for (const s of ans.slice(1, 2)) {
      const a = s.cyclesFrom - 50, b = s.cyclesTo + 50;
      await open(file, `view=trace&t.from=${a}&t.to=${b}`);
      const bsp = 4 + runs + 2 * row + 4, each = Number(await page.$eval('.gutter', (e) => e.dataset.bsp)) / tilesPerIpu;
      for (const i of truth.intervals) {
        if (i.tile >= tilesPerIpu || i.from < a || i.to > b || i.to - i.from < 12) continue;
        holds(await tip(await at((i.from + i.to) / 2, bsp + (i.tile + 0.5) * each, a, b)), `tile ${i.tile}:`, { InternalSync: 'Internal Sync', ExternalSync: /External Sync|StreamCopy|GlobalExchange/ }[i.kind] ?? i.kind);
        looked += i.kind === 'SyncAns';
      }
    }
    equal(looked >= 2, true, 'that were looked at');
  });
  await test('U7 SyncAns is idle time of all tiles, in random windows', async () => {
    let seed = 3;
    const random = () => (seed = seed * 1103515245 + 12345 & 0x7fffffff) / 0x7fffffff;
    for (let n = 0; n < 3; n++) {
      const a = n ? Math.floor(random() * end * 0.8) : 0, b = n ? Math.floor(a + 20 + random() * (end - a - 20)) : end;
      await open(file, `view=trace&t.bspStats=1&t.from=${a}&t.to=${b}`);
      for (const ipu of [0, 1]) {
        const sums = {};
        for (const i of truth.intervals) {
          if (Math.floor(i.tile / tilesPerIpu) === ipu) sums[i.kind] = (sums[i.kind] ?? 0) + Math.max(0, Math.min(i.to, b) - Math.max(i.from, a));
        }
        const got = await page.$$eval(`[data-ipu="${ipu}"] [data-kind]`, (all) => Object.fromEntries(all.map((e) => [e.dataset.kind, e.innerText])));
        for (const kind of ['SyncAns', 'InternalSync', 'OnTileExecute']) near(got[kind] ? share(got[kind]) : 0, (sums[kind] ?? 0) / ((b - a) * tilesPerIpu) * 100, 0.06, `${kind} of IPU ${ipu} in ${a}–${b}`);
        const busy = Object.entries(sums).filter(([kind]) => !/Sync|StreamCopyBegin/.test(kind)).reduce((x, [, c]) => x + c, 0);
        near(share(await text(`[data-ipu="${ipu}"] .balance`)), busy / ((b - a) * tilesPerIpu) * 100, 0.06, `utilisation of IPU ${ipu} in ${a}–${b}`);
      }
    }
  });
  await test('O6 B7 SyncAns is found by tile; flames have its lane, too', async () => {
    await open(file, 'view=trace&t.flame=1');
    equal(await has('html[data-failed]'), false);
    await page.type('.searchbox input', 'kind:ans tile:5');
    await page.keyboard.press('Enter');
    holds(await text('.searchbox [role=status]'), '1 of 4');
    holds((await texts('.stepdetails h3')).join(), 'SyncAns');
  });
}
