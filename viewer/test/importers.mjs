/* Other people's programs open what Populus writes for them: speedscope's own importer, in a page of its own. */
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { equal, holds, newPage, test } from './harness.mjs';

/* As its command line tool does it. What the page says is its title; what it cannot read it complains of. */
async function opened(release, file) {
  const page = await newPage(), complaints = [];
  page.on('console', (m) => { if (m.type() === 'error') complaints.push(m.text()); });
  page.on('pageerror', (e) => complaints.push(e.message));
  page.on('dialog', (d) => { complaints.push(d.message()); void d.dismiss(); });
  const name = file.slice(file.lastIndexOf('/') + 1);
  const script = `${process.cwd()}/${name}.js`;
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(name)}, ${JSON.stringify(readFileSync(file).toString('base64'))})`);
  await page.goto(`${pathToFileURL(`${release}/index.html`)}#localProfilePath=${script}`);
  for (let i = 0; i < 200 && !(await page.title()).endsWith(' - speedscope') && !complaints.some((c) => !/WebGL/i.test(c)); i++)
    await new Promise((later) => { setTimeout(later, 100); });
  const title = await page.title(), text = await page.evaluate(() => document.body.innerText);
  await page.close();
  return { title, text, complaints };
}

export async function importerTests(modules, real) {
  const release = `${dirname(createRequire(`${modules}/package.json`).resolve('speedscope/package.json'))}/dist/release`;
  await test('X6 speedscope opens folded stacks and trace events', async () => {
    for (const [file, name] of [['execution_stacks.folded', 'execution_stacks'], ['execution_trace.json', 'Engine (pid 0), runs']]) {
      const { title, text, complaints } = await opened(release, `${real}/${file}`);
      holds(title + text, name);
      equal(complaints.filter((c) => !/WebGL/i.test(c)), [], `what speedscope says of ${file}`);
    }
  });
  await test('X6 speedscope says so of what is no profile', async () => {
    writeFileSync('none.json', '{"no": "profile"}');
    const { title, complaints } = await opened(release, `${process.cwd()}/none.json`);
    equal([title.endsWith(' - speedscope'), complaints.length > 0], [false, true]);
  });
}
