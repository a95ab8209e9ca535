/* From a step to the code of its vertices: instructions, lines of sources, what is missing. */
import { axePath, equal, has, holds, open, page, press, settle, test, text, texts, view } from './harness.mjs';
import { readFileSync, writeFileSync } from 'node:fs';

/* Opens the row of a vertex type in the details of a step, by the keyboard. */
async function openCode(file, step, type) {
  await open(file, `view=trace&t.step=${step}&t.tab=Details`);
  await page.evaluate((name) => {
    const row = [...document.querySelectorAll('.stepdetails tr.opens')].find((e) => e.children[0].textContent.includes(name));
    row.querySelector('button').focus();
  }, type);
  await page.keyboard.press('Enter');
  await settle();
}

const instructions = () => page.$$eval('.assembly tbody tr', (all) => all.map((r) => r.children[1].querySelector('code').innerText));

export async function codeTests(file, truth, faulted, plain, without) {
  const conv = truth.steps.findIndex((s) => s.type === 'OnTileExecute' && s.computeSet === 0), relu = truth.steps.findIndex((s) => s.type === 'OnTileExecute' && s.computeSet === 1);
  await test('B4 from a step to its instructions, and the lines of its source', async () => {
    await openCode(file, conv, 'Conv<float>');
    equal(await instructions(), ['lw a1, 0(a0)', 'jal ra, 0x4c200', 'fmadd.s fa0, fa1, fa2, fa3', 'jal ra, 0x4d000', 'ret']);
    equal(await page.$$eval('.assembly tbody tr', (all) => all.map((r) => [r.children[0].innerText, r.children[2].innerText, r.children[3].innerText])),
      [['0x4c100', '6', 'conv.cpp:12'], ['0x4c104', '6', 'conv.cpp:12'], ['0x4c108', '12', 'conv.cpp:14'], ['0x4c10c', '6', ''], ['0x4c110', '6', 'conv.cpp:12']]);
    equal(await page.$$eval('.source .line', (all) => all.map((e) => [e.children[0].innerText, e.children[1].innerText, e.tagName])),
      [['10', '', 'DIV'], ['11', '', 'DIV'], ['12', '3', 'BUTTON'], ['13', '', 'DIV'], ['14', '1', 'BUTTON'], ['15', '', 'DIV']]);
    holds((await texts('.source .line'))[2], 'float x = *in; </script><img', '\\n\\u202eevil');
    holds((await texts('.source .line'))[4], 'x += *weights;');
    equal(await has('img'), false, 'names are text');
    /* By the keyboard: a line marks its instructions; the line of an instruction is marked from there. */
    await page.focus('.source button.line');
    await page.keyboard.press('Enter');
    equal(await page.$$eval('.assembly tr.lit', (all) => all.map((r) => r.children[0].innerText)), ['0x4c100', '0x4c104', '0x4c110']);
    equal(await page.$eval('.source button.line', (e) => e.getAttribute('aria-pressed')), 'true');
    await press('conv.cpp:14', '.assembly');
    equal([await page.$$eval('.source .lit', (all) => all.map((e) => e.children[0].innerText)), (await page.$$('.assembly tr.lit')).length], [['14'], 1]);
    await press('conv.cpp:14', '.assembly');
    equal(await has('.lit'), false, 'pressed again it marks nothing');
  });
  await test('B4 functions that a vertex calls, and back; what is missing is said', async () => {
    await openCode(file, conv, 'Conv<float>');
    await page.$$eval('.assembly .link', (all) => all.find((e) => e.innerText.startsWith('→')).click());
    await settle();
    holds(await text('.code h4'), '</script><img');
    holds(await text('.source'), 'The text is not in this report: the file could not be read when the report was written');
    equal([(await instructions()).length, await has('img')], [2, false]);
    await press('‹ Back', '.code');
    await page.$$eval('.assembly .link', (all) => all.filter((e) => e.innerText.startsWith('→'))[1].click());
    await settle();
    holds(await text('.code'), '10 more instructions are not in this report');
    equal((await instructions()).length, 400, 'rows at first');
    await press('Show more', '.assembly');
    await press('Show more', '.assembly');
    equal([(await instructions()).length, await page.$eval('.assembly .more', (e) => e.hidden)], [1000, true]);
    await openCode(file, relu, 'Relu');
    holds(await text('.stepdetails'), 'have lost their symbols');
    const { simulation } = JSON.parse(readFileSync('real/execution.json', 'utf8'));
    await openCode(plain, simulation.steps.findIndex((step) => step.type === 'OnTileExecute'), 'DotProduct');
    holds(await text('.source'), 'compiled without debug information');
    await open(without, 'view=memory&m.tiles=0');
    await press('Vertices', '.below');
    await page.click('.below tr.opens');
    await settle();
    holds(await text('.below'), 'This report has no code: autoReport.outputCode');
  });
  await test('B4 of a program that has run: the line of its fault and what was executed there', async () => {
    const { simulation } = JSON.parse(readFileSync('faulted/execution.json', 'utf8'));
    await openCode(faulted, simulation.steps.findIndex((s) => s.name === 'layer/step'), 'Step');
    const at = (await instructions()).indexOf('sw a1, 16(zero)');
    const line = await page.$$eval('.assembly tbody tr', (all, n) => all[n].children[3].innerText, at);
    await press(line, '.assembly');
    holds(await text('.source .lit'), 'if (count == last) *reinterpret_cast<volatile int *>(16) = count; // nobody may');
    await view('memory');
    await press('Vertices', '.below');
    await page.$$eval('.below tr.opens', (all) => all.find((e) => e.innerText.includes('Scale')).click());
    await settle();
    holds(await text('.below .assembly'), 'mulh');
  });
  await test('B4 B9 axe finds nothing serious in code, light and dark', async () => {
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await openCode(file, conv, 'Conv<float>');
      await page.click('.source button.line');
      await page.evaluate(readFileSync(axePath, 'utf8'));
      const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ['violations'] })).violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join('; ')}`));
      equal(found, [], scheme);
    }
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  });
}

/* W02: every value of code.json, one after the other, as something else. */
export async function damagedCodeTests(pageOf, file, truth) {
  await test('W02 B4 a damaged code.json: a sentence or less, no blank page', async () => {
    const conv = truth.steps.findIndex((s) => s.type === 'OnTileExecute' && s.computeSet === 0), code = readFileSync('golden/code.json', 'utf8');
    const kept = JSON.parse(code);
    const broken = [7, [], { functions: 3, vertexTypes: kept.vertexTypes }, { ...kept, files: [null, 'x'] }, { ...kept, files: [{ name: 5, parts: [['a'], 3, [1e9, null]] }] },
      { ...kept, functions: [null] }, { ...kept, functions: [{ instructions: [null, 4, 'ret'], lines: [-5, 1e12, 'x', 3, 0], calls: [0, 0, 1, -1], cycles: 'no', address: 'a' }] }, { ...kept, vertexTypes: [{ name: 'Conv<float>', function: -1 }] }];
    try {
      for (const [n, one] of broken.entries()) {
        writeFileSync('golden/code.json', JSON.stringify(one));
        await openCode(pageOf('golden'), conv, 'Conv<float>');
        equal([await has('html[data-failed]'), (await text('.stepdetails')).length > 50], [false, true], `change ${n}`);
      }
    } finally {
      writeFileSync('golden/code.json', code);
      pageOf('golden');
    }
  });
}
