/* The report of a run that ended in a fault (tests/guide/faulted.cpp): where it ended, and what was known up to there. */
import { readFileSync } from 'node:fs';
import { at, click, equal, fact, has, holds, open, page, pixel, test, text, tip } from './harness.mjs';

export async function faultTests(file, folder, fine) {
  const execution = JSON.parse(readFileSync(`${folder}/execution.json`, 'utf8'));
  const { simulation, runs } = execution, { message } = runs[0].fault, end = simulation.cycles, last = simulation.steps.length - 1;
  await test('B6 a run that ended in a fault is shown with its fault, in its step', async () => {
    await open(file, 'view=trace');
    holds(await text('.panel'), 'training ended in an error', message);
    await click(await at(end - (end - simulation.steps[last].cyclesFrom) / 2, 30, 0, end));
    await page.click('button.fault');
    equal(await page.$eval('.stepdetails', (e) => Number(e.dataset.step)), last);
    holds(await text('.stepdetails .fault'), 'The run ended here', message, 'INVALID_ADDRESS', 'tile 5', 'faulted_codelets.cpp:');
    equal(await fact('Active Tiles'), '8 / 8');
    /* Its bar is red at its end, and says so. */
    const from = simulation.steps[last].cyclesFrom - 20, to = end + 20;
    await open(file, `view=trace&t.from=${from}&t.to=${to}`);
    holds(await tip(await at((simulation.steps[last].cyclesFrom + end) / 2, 30, from, to)), '✖ the run ended here');
    const [r, g, b] = await pixel(await at(end, 30, from, to));
    equal(r > 150 && g < 120 && b < 120, true, 'the line of the fault is red');
    await open(file, 'view=trace&t.run=0');
    await click(await at(end / 2, 8, 0, end));
    holds(await text('.panel'), message);
  });
  await test('B6 a run that came to its end has no fault', async () => {
    await open(fine, 'view=trace');
    equal([await has('button.fault'), await has('.warning.fault')], [false, false]);
  });
}
