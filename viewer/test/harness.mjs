/* A browser, pages, and tests whose names begin with the rows of CHECKLIST.md that they show. A console error, an
 * exception or a request of a page fails its test. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [, , modules, chromium] = process.argv;
const require = createRequire(`${modules}/package.json`);
const puppeteer = (await import(pathToFileURL(require.resolve('puppeteer-core')))).default;

export const axePath = require.resolve('axe-core/axe.min.js');

/* Fonts of any machine; no sandbox, since tests run as root, too. */
const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb'] });
export const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 800 });
const client = await page.createCDPSession();

let troubles = [];
page.on('console', (m) => { if (['error', 'warn'].includes(m.type()) && !m.text().includes('willReadFrequently')) troubles.push(`console: ${m.text()}`); });
page.on('pageerror', (e) => troubles.push(`exception: ${e.stack ?? e.message}`));
page.on('dialog', (d) => { troubles.push(`dialog: ${d.message()}`); void d.dismiss(); });
let server = ''; /* the one that the page may ask */
page.on('request', (r) => { if (!/^(file|data|blob):/.test(r.url()) && !(server && r.url().startsWith(server))) troubles.push(`request: ${r.url()}`); });
export const mayAsk = (url) => { server = url; };

let passed = 0;
const failed = [];
const only = process.env.VIEWER_TEST ? new RegExp(process.env.VIEWER_TEST) : undefined;

export async function test(name, body) {
  if (only && !only.test(name)) return;
  troubles = [];
  const began = performance.now();
  try {
    await body();
    if (troubles.length) throw new Error(troubles.join('\n'));
    passed++;
    console.log(`ok   ${name}, ${Math.round(performance.now() - began)} ms`);
  } catch (error) {
    failed.push(name);
    console.log(`FAIL ${name}\n     ${(error.stack ?? String(error)).split('\n').slice(0, 4).join('\n     ')}`);
  }
}

export const newPage = () => browser.newPage();

export async function finish() {
  await browser.close();
  console.log(`${passed} passed, ${failed.length} failed`);
  process.exit(failed.length ? 1 : 0);
}

export function equal(got, wanted, what = 'value') {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) throw new Error(`${what} is ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
}

export function near(got, wanted, error, what = 'value') {
  if (!(Math.abs(got - wanted) <= error)) throw new Error(`${what} is ${got}, not about ${wanted}`);
}

export function holds(text, ...words) {
  for (const word of words) if (!(word instanceof RegExp ? word.test(text) : text.includes(word))) throw new Error(`no ${word} in: ${String(text).slice(0, 400)}`);
}

/* ---- pages ---- */

export async function open(file, choices = '') {
  await page.goto('about:blank');
  await page.goto(`${/^http:/.test(file) ? file : pathToFileURL(file)}#${choices}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready || document.documentElement.dataset.failed, { timeout: 30000 });
  await settle();
}

/* Drawing takes a frame, figures come a little behind the window (settle(130)), the address behind them (settle(260)), what is many comes in parts. */
export async function settle(ms = 0) {
  const isBusy = await page.evaluate(async (more) => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    await frame();
    await frame();
    if (more) await new Promise((done) => setTimeout(done, more));
    const late = performance.now() + 30000, busy = () => document.querySelector('[aria-busy="true"]') !== null;
    while (busy() && performance.now() < late) await frame();
    return busy();
  }, ms);
  if (isBusy) throw new Error('the page is busy after 30 s');
}

/* As when a person types other choices into the address. The page reads them a little later. */
export async function typed(choices) {
  await page.evaluate((hash) => new Promise((done) => {
    addEventListener('hashchange', done, { once: true });
    location.hash = hash;
  }), choices);
  await settle();
}

/* What `of` makes of the element. A question is one message to the browser, where page.$eval needs four. */
const asked = (selector, of, more) => page.evaluate(`(() => {
  const e = document.querySelector(${JSON.stringify(selector)});
  if (!e) throw new Error(${JSON.stringify(`there is no ${selector}`)});
  return (${of})(e, ${JSON.stringify(more)});
})()`);
export const text = (selector) => asked(selector, (e) => e.innerText);
export const texts = (selector) => page.evaluate((s) => [...document.querySelectorAll(s)].map((e) => e.innerText), selector);
export const fact = (name, inside = '') => text(`${inside} [data-fact="${name}"]`);
export const has = (selector) => page.evaluate((s) => document.querySelector(s) !== null, selector);

export async function press(label, inside = 'main') {
  const found = await page.evaluate((l, within) => {
    const all = [...document.querySelectorAll(`${within} button`)].filter((b) => b.offsetParent !== null);
    const b = all.find((e) => e.innerText.trim() === l || e.getAttribute('aria-label') === l || e.title === l) ?? all.find((e) => e.innerText.trim().startsWith(l));
    b?.click();
    return Boolean(b);
  }, label, inside);
  if (!found) throw new Error(`there is no button '${label}'`);
  await settle();
}

/* A choice of a drop-down, by the beginning of the drop-down's label. */
export async function choose(menu, choice) {
  await press(menu, '.toolbar');
  await press(choice, '.menu:not([hidden])');
  await page.evaluate(() => document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true })));
  await settle();
}

export async function view(id) {
  await page.click(`nav button[data-view="${id}"]`);
  await settle();
}

/* ---- the trace's canvas ---- */

export const box = (selector) => asked(selector, (e) => { const r = e.getBoundingClientRect(); return { x: r.x, y: r.y, width: r.width, height: r.height }; });
const gutter = 84, axis = 20;
export const main = '.lanes > canvas';

/* Where a cycle and a height of the content are on the screen. */
export async function at(cycle, y, from, to) {
  const r = await asked(main, (e) => { const b = e.getBoundingClientRect(); return { x: b.x, y: b.y, width: b.width, scroll: e.parentElement.scrollTop }; });
  return { x: r.x + gutter + (cycle - from) / (to - from) * (r.width - gutter - 6), y: r.y + axis + y - r.scroll };
}

export async function tip(p) {
  await page.mouse.move(p.x, p.y);
  await settle();
  return asked('.timeline .tip', (e) => (e.hidden ? '' : e.innerText));
}

export async function click(p, options = {}) {
  if (options.shift) await page.keyboard.down('Shift');
  await page.mouse.click(p.x, p.y, { clickCount: options.double ? 2 : 1 });
  if (options.shift) await page.keyboard.up('Shift');
  await settle();
}

export async function drag(from, to, shift = false) {
  if (shift) await page.keyboard.down('Shift');
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2);
  await page.mouse.move(to.x, to.y);
  await page.mouse.up();
  if (shift) await page.keyboard.up('Shift');
  await settle(130);
}

/* Red, green, blue of a point on the screen, of the canvas that is there. */
export async function pixel(p, selector = main) {
  return asked(selector, (e, q) => {
    const r = e.getBoundingClientRect(), scale = e.width / r.width;
    return [...e.getContext('2d').getImageData(Math.floor((q.x - r.x) * scale), Math.floor((q.y - r.y) * scale), 1, 1).data].slice(0, 3);
  }, p);
}

/* A number for the whole picture: it changes when anything does. */
export async function picture(selector = main) {
  return asked(selector, (e) => {
    const d = e.getContext('2d').getImageData(0, 0, e.width, e.height).data;
    let sum = 0;
    for (let i = 0; i < d.length; i += 4) sum = (sum * 31 + d[i] + 7 * d[i + 1] + 49 * d[i + 2]) >>> 0;
    return sum;
  });
}

export const window_ = () => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
export { client };
