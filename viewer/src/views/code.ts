/* What a vertex executes: its instructions, and beside them the lines of its source, as far as the report has them. */
import type { App } from '../app';
import { codeFunction, entryOf, hasCode, linesOf, sourceFile, type CodeFunction } from '../model/code';
import { absent, h, nameOf, replace, shown } from '../ui/dom';
import { bytes, count } from '../ui/format';

/* Instructions that are shown at first, and with each step on. */
const chunk = 400;
const linesAround = 3;

/* What belongs together is marked in both: instructions of a line, the line of an instruction. */
function marks(): { add: (key: string, element: HTMLElement) => void; mark: (key: string, from?: HTMLElement) => void } {
  const all = new Map<string, HTMLElement[]>();
  let marked = '';
  const each = (key: string, on: boolean): void => all.get(key)?.forEach((e) => {
    e.classList.toggle('lit', on);
    if (e.hasAttribute('aria-pressed')) e.setAttribute('aria-pressed', String(on));
  });
  return {
    add: (key, element) => {
      const list = all.get(key);
      if (list) list.push(element);
      else all.set(key, [element]);
      if (key === marked) element.classList.add('lit');
    },
    mark: (key, from) => {
      each(marked, false);
      marked = key === marked && from ? '' : key;
      each(marked, true);
      for (const e of marked ? all.get(marked) ?? [] : []) {
        if (e === from || (from && e.className.split(' ')[0] === from.className.split(' ')[0])) continue;
        e.scrollIntoView({ block: 'nearest' });
        break;
      }
    },
  };
}

type Marks = ReturnType<typeof marks>;

/* A line that instructions come from is pressed to mark these; it says how many they are. */
function sourceLine(line: number, text: string, instructions: number, key: string, m: Marks): HTMLElement {
  const parts = [h('span', { class: 'number' }, String(line)), h('span', { class: 'count', title: instructions ? `${count(instructions)} instructions come from this line` : undefined }, instructions ? String(instructions) : ''),
    h('code', {}, shown(text.replace(/\t/g, '  '), 400))];
  if (!instructions) return h('div', { class: 'line' }, parts);
  const made = h('button', { class: 'line', 'aria-pressed': 'false', onclick: () => m.mark(key, made) }, parts);
  m.add(key, made);
  return made;
}

function sourceOf(app: App, f: CodeFunction, m: Marks): HTMLElement {
  const files = linesOf(f), perLine = new Map<string, number>();
  if (!files.size) return absent('The lines of its source are not known: the codelet was compiled without debug information. popc -g, or the flag -g of addCodelets, brings it.');
  for (let i = 0; i < f.instructions.length; i++) {
    const key = `${f.file[i]}:${f.line[i]}`;
    perLine.set(key, (perLine.get(key) ?? 0) + 1);
  }
  /* Those with their text first: the others are of libraries, mostly. */
  const order = [...files].sort((a, b) => Number(sourceFile(app.report, a[0])?.missing !== undefined) - Number(sourceFile(app.report, b[0])?.missing !== undefined));
  return h('div', {}, order.map(([file, lines]) => {
    const source = sourceFile(app.report, file), wanted = new Set<number>();
    for (const line of lines) for (let by = -linesAround; by <= linesAround; by++) if (line + by > 0) wanted.add(line + by);
    const known = [...wanted].filter((line) => lines.has(line) || source?.lines.has(line)).sort((a, b) => a - b);
    return h('section', { class: 'file' }, h('h5', {}, nameOf(source?.name ?? `file ${file}`)),
      source?.missing !== undefined && h('p', { class: 'weak' }, `The text is not in this report: ${shown(source.missing)}.`),
      known.map((line, i) => [i > 0 && (known[i - 1] as number) + 1 < line && h('div', { class: 'line gap', 'aria-hidden': 'true' }, '⋯'),
        sourceLine(line, source?.lines.get(line) ?? '', perLine.get(`${file}:${line}`) ?? 0, `${file}:${line}`, m)]));
  }));
}

function instructionsOf(app: App, f: CodeFunction, m: Marks, go: (index: number) => void): HTMLElement {
  const body = h('tbody'), more = h('button', { class: 'more', onclick: () => fill() });
  const name = (file: number): string => /[^/]*$/.exec(sourceFile(app.report, file)?.name ?? '')?.[0] ?? '';
  let next = 0;
  const row = (i: number): HTMLElement => {
    const target = f.calls.get(i), called = target === undefined ? undefined : codeFunction(app.report, target);
    const file = f.file[i] as number, key = `${file}:${f.line[i]}`;
    const line = h('tr', {}, h('td', { class: 'number' }, `0x${(f.address + 4 * i).toString(16)}`),
      h('td', {}, h('code', {}, shown(f.instructions[i] ?? '')), called && called !== f && h('button', { class: 'link', title: 'Show this function', onclick: () => go(target as number) }, '→ ', nameOf(called.name))),
      h('td', { class: 'number' }, f.cycles[i] === undefined ? '' : count(f.cycles[i] as number)),
      h('td', {}, file < 0 ? '' : h('button', { class: 'link', title: 'Mark this line', onclick: () => m.mark(key, line) }, shown(`${name(file)}:${f.line[i]}`, 60))));
    if (file >= 0) m.add(key, line);
    return line;
  };
  function fill(): void {
    const end = Math.min(f.instructions.length, next + chunk);
    for (; next < end; next++) body.append(row(next));
    more.hidden = next >= f.instructions.length;
    more.textContent = `Show more (${count(f.instructions.length - next)} of ${count(f.instructions.length)} are not shown)`;
  }
  fill();
  const left = f.bytes / 4 - f.instructions.length;
  return h('div', {}, h('table', { 'aria-label': `Instructions of ${shown(f.name)}` }, h('thead', {}, h('tr', {},
    h('th', { scope: 'col', class: 'number' }, 'Address'), h('th', { scope: 'col' }, 'Instruction'),
    h('th', { scope: 'col', class: 'number', title: 'That the instruction takes when it is executed once, while the contexts of the tile take turns' }, 'Cycles'), h('th', { scope: 'col' }, 'Line'))), body),
  more, left > 0 && h('p', { class: 'weak' }, `${count(left)} more instructions are not in this report.`));
}

/* Of a type of vertices. Functions that are gone to are behind one another, with a way back. */
export function vertexCode(app: App, type: string): HTMLElement {
  if (!hasCode(app.report)) return absent('This report has no code: autoReport.outputCode (or autoReport.all) writes code.json. Of an archive of tile images popview has it, too.');
  const entry = entryOf(app.report, type);
  if (!entry) return absent('There is no code of this type in code.json: it is of another compilation.');
  if (entry.function === undefined) return absent('The tile images have lost their symbols (strip): where the code of this type is, is not known.');
  const host = h('div', { class: 'code' }), way: number[] = [entry.function];
  function draw(): void {
    const f = codeFunction(app.report, way[way.length - 1] as number);
    if (!f) {
      replace(host, absent('code.json is damaged: it does not have this function.'));
      return;
    }
    const m = marks(), go = (index: number): void => {
      way.push(index);
      draw();
      host.querySelector('button')?.focus();
    };
    const back = way.length > 1 && h('button', { class: 'small', onclick: () => { way.pop(); draw(); } }, '‹ Back');
    replace(host, h('h4', {}, back, ' ', nameOf(f.name)),
      h('p', { class: 'weak' }, `${count(f.instructions.length)} instructions, ${bytes(f.bytes)} at 0x${f.address.toString(16)} of tile ${f.tile}, the first that has it. Cycles are those of an instruction that is executed once; how often each is executed, no profile says.`),
      h('div', { class: 'columns' },
        h('div', { class: 'scroll source', tabIndex: 0, role: 'region', 'aria-label': 'Source' }, sourceOf(app, f, m)),
        h('div', { class: 'scroll assembly', tabIndex: 0, role: 'region', 'aria-label': 'Instructions' }, instructionsOf(app, f, m, go))));
  }
  draw();
  return host;
}
