/* From the page to reports: what popview has put into it is base64 of zlib's format of JSON,
 *
 *   {format: "Populus page", version, reports: [report…]}
 *
 * A page of popview --serve has nothing inside and asks its server for that JSON, and for a stamp that says whether a report
 * has been written again. */
import { asList, asText, get } from './model/json';
import { Reading } from './model/parse';
import { reportOf, type Report } from './model/report';
import { breathe } from './ui/dom';

/* What the page needs and old browsers have not, in a sentence. */
function checkBrowser(packed: boolean): void {
  const missing: string[] = [];
  if (packed && typeof DecompressionStream === 'undefined') missing.push('DecompressionStream (Chrome 80, Firefox 113, Safari 16.4)');
  if (!document.createElement('canvas').getContext('2d')) missing.push('the 2D canvas');
  if (missing.length) throw new Error(`This browser lacks ${missing.join(' and ')}, which the page needs: open it in another one.`);
}

/* In parts, between which the page reacts: four digits are three bytes. */
async function inflated(text: string): Promise<string> {
  const digits = text.trim(), part = 1 << 20, stream = new DecompressionStream('deflate'), writer = stream.writable.getWriter();
  const made = new Response(stream.readable).text();
  made.catch(() => undefined); /* it is waited for below */
  for (let at = 0; at < digits.length; at += part) {
    const raw = atob(digits.slice(at, at + part)), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    await writer.ready;
    writer.write(bytes).catch(() => undefined);
    await breathe();
  }
  writer.close().catch(() => undefined);
  return made;
}

async function asked(url: string): Promise<string> {
  const answer = await fetch(url, { cache: 'no-store' });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text || `popview --serve answers ${answer.status}.`);
  return text;
}

/* Calls `changed` when a report has been written again and stays as it is for one more look. */
function watch(url: string, shown: string, changed: () => void): void {
  let before = shown;
  const look = async (): Promise<void> => {
    const stamp = await asked(url);
    if (stamp !== shown && stamp === before) changed();
    before = stamp;
  };
  setInterval(() => void look().catch(() => undefined), 1000);
}

export async function load(progress: (what: string, done: number) => void): Promise<Report[]> {
  const holder = document.getElementById('report');
  const served = holder?.dataset['reports'], stamp = holder?.dataset['stamp'];
  if (stamp) watch(stamp, await asked(stamp), () => location.reload());
  if (!served && !holder?.textContent?.trim()) throw new Error('This page has no report in it. popview makes pages with one: popview REPORT_DIR -o report.html');
  checkBrowser(!served);
  progress('Unpacking the report', 0.05);
  await breathe();
  const text = served ? await asked(served) : await inflated(holder?.textContent ?? '');
  if (holder) holder.textContent = '';
  const page = await new Reading(text, (done) => {
    progress('Reading the report', 0.3 + 0.3 * done);
    return breathe();
  }).whole();
  if (asText(get(page, 'format')) !== 'Populus page') throw new Error('What is in this page is no report of Populus.');
  const reports = asList(get(page, 'reports')).map(reportOf);
  if (!reports.length) throw new Error('There is no report in this page.');
  return reports;
}
