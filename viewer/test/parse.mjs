/* JSON in parts (src/model/parse.ts) beside JSON.parse: random values with large lists, maps and strings, and damage. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { equal, test } from './harness.mjs';

export async function parseTests() {
  const out = `${process.cwd()}/parse.mjs`;
  execFileSync('esbuild', [fileURLToPath(new URL('../src/model/parse.ts', import.meta.url)), '--bundle', '--format=esm', `--outfile=${out}`, '--log-level=warning']);
  const { Reading } = await import(pathToFileURL(out));
  let rests = 0, seed = Number(process.env.POPULUS_TEST_SEED ?? 1);
  console.log(`seed ${seed}`);
  /* It comes in pieces of any size. */
  const read = (text) => {
    let at = 0;
    const most = 1 << 10 + random(12);
    return new Reading(async () => {
      if (at >= text.length) return undefined;
      const from = at;
      at += 1 + random(most);
      return text.slice(from, at);
    }, async () => { rests++; }).whole();
  };
  const random = (n) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor(seed / 2 ** 32 * n);
  };
  const value = (depth) => {
    const kind = random(depth > 4 ? 4 : 7), n = random(12);
    if (kind === 0) return random(1e6) - 5e5;
    if (kind === 1) return '"\\[]{},: é\n'.slice(0, n) + '\\'.repeat(random(3));
    if (kind < 4) return [null, true, false, 1.5e-7][random(4)];
    if (kind < 6) return Array.from({ length: n }, () => value(depth + 1));
    return Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}"\\`, value(depth + 1)]));
  };
  await test('W02 JSON that is read in parts is what JSON.parse makes of it', async () => {
    for (let i = 0; i < 2; i++) {
      const made = {
        list: Array.from({ length: 8000 }, () => value(2)), text: 'y"'.repeat(random(200000)), numbers: Array.from({ length: random(150000) }, () => random(99)),
        lists: Array.from({ length: 5 }, () => [value(1), Array.from({ length: random(100000) }, () => [])]), ...Object.fromEntries(Array.from({ length: 1000 }, (_, k) => [`m${k}`, k])),
      };
      for (const text of [JSON.stringify(made), ` ${JSON.stringify(made, null, 1)}\n`]) {
        if (JSON.stringify(await read(text)) !== JSON.stringify(made)) throw new Error(`case ${i} differs`);
        for (let n = 0; n < 2; n++) {
          const cut = random(text.length - 3);
          await read(text.slice(0, cut)).then(() => { throw new Error(`cut at ${cut} is accepted`); }, (e) => equal(e.name, 'SyntaxError'));
        }
      }
    }
    const many = '1,'.repeat(140000), members = '"a":1,'.repeat(45000);
    for (const bad of ['', '[', '{"a":', `[${many}]`, `[${many}1}`, `[${many}1]]`, `{"a":[${many}]}`, `{"k":1,${members}}`, `{,${members}"b":2}`, `{"a" ${members}"b":2}`])
      await read(bad).then(() => { throw new Error(`${bad.slice(0, 12)}… is accepted`); }, (e) => equal(e.name, 'SyntaxError'));
    equal(rests > 0, true, 'the page was let go on');
  });
}
