/* From the page to reports: what popview has put into it is base64 of zlib's format of JSON,
 *
 *   {format: "Populus page", version, reports: [report…]}
 *
 * A page of popview --serve has nothing inside and asks its server for that JSON, and for a stamp that says whether a report
 * has been written again. */
import { asList, asText, get, type Json } from './model/json';
import { reportOf, type Report } from './model/report';
import { breathe } from './ui/dom';

/* What the page needs and old browsers have not, in a sentence. */
function checkBrowser(packed: boolean): void {
  const missing: string[] = [];
  if (packed && typeof DecompressionStream === 'undefined') missing.push('DecompressionStream (Chrome 80, Firefox 113, Safari 16.4)');
  if (!document.createElement('canvas').getContext('2d')) missing.push('the 2D canvas');
  if (missing.length) throw new Error(`This browser lacks ${missing.join(' and ')}, which the page needs: open it in another one.`);
}

async function inflated(text: string): Promise<string> {
  const raw = atob(text.trim()), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).text();
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
  progress('Reading the report', 0.3);
  await breathe();
  const page = JSON.parse(text) as Json;
  if (asText(get(page, 'format')) !== 'Populus page') throw new Error('What is in this page is no report of Populus.');
  const reports = asList(get(page, 'reports')).map(reportOf);
  if (!reports.length) throw new Error('There is no report in this page.');
  return reports;
}
