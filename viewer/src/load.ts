/* From the page to reports: what popview has put into it is base64, in elements of about a megabyte, of zlib's format of JSON,
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

/* The report's characters, as they are unpacked. */
interface Source { next: () => Promise<string | undefined>; done: number /* a share of 1 */ }

function sourceOf(stream: ReadableStream<Uint8Array>, done: () => number): Source {
  const reader = stream.getReader(), decoder = new TextDecoder();
  return {
    get done() { return done(); },
    next: async () => {
      const { value, done: ended } = await reader.read().catch(() => {
        throw new Error('The report is damaged: it cannot be unpacked.');
      });
      return ended ? undefined : decoder.decode(value, { stream: true });
    },
  };
}

/* Digits are in several elements, each of which goes when its turn has come; four digits are three bytes. */
function inflated(holders: Element[]): Source {
  const stream = new DecompressionStream('deflate'), writer = stream.writable.getWriter();
  let taken = 0;
  const feed = async (): Promise<void> => {
    for (const holder of holders) {
      const raw = atob((holder.textContent ?? '').trim()), bytes = new Uint8Array(raw.length);
      holder.textContent = '';
      for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
      await writer.ready;
      await writer.write(bytes);
      taken++;
      await breathe();
    }
    await writer.close();
  };
  /* What is no base64 ends the stream; who reads it is told. */
  feed().catch((error: unknown) => writer.abort(error).catch(() => undefined));
  return sourceOf(stream.readable, () => taken / holders.length);
}

async function asked(url: string): Promise<string> {
  const answer = await fetch(url, { cache: 'no-store' });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text || `popview --serve answers ${answer.status}.`);
  return text;
}

async function streamed(url: string): Promise<Source> {
  const answer = await fetch(url, { cache: 'no-store' });
  if (!answer.ok || !answer.body) throw new Error(await answer.text() || `popview --serve answers ${answer.status}.`);
  const size = Number(answer.headers.get('content-length')) || Infinity;
  let taken = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, to) => {
      taken += chunk.byteLength;
      to.enqueue(chunk);
    },
  });
  return sourceOf(answer.body.pipeThrough(counted), () => taken / size);
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
  const holders = [...document.querySelectorAll('script[type="application/octet-stream"]')];
  if (!served && !holders.some((e) => e.firstChild)) throw new Error('This page has no report in it. popview makes pages with one: popview REPORT_DIR -o report.html');
  checkBrowser(!served);
  progress('Reading the report', 0.05);
  await breathe();
  const source = served ? await streamed(served) : inflated(holders);
  const page = await new Reading(source.next, () => {
    progress('Reading the report', 0.05 + 0.55 * source.done);
    return breathe();
  }).whole();
  if (asText(get(page, 'format')) !== 'Populus page') throw new Error('What is in this page is no report of Populus.');
  const reports = asList(get(page, 'reports')).map(reportOf);
  if (!reports.length) throw new Error('There is no report in this page.');
  return reports;
}
