/* The code of vertices (code.json): instructions, the lines that they come from, the text of these. */
import { asList, asNumber, asNumbers, asText, asTexts, get, type Json } from './json';
import type { Report } from './report';

export interface CodeFunction {
  name: string; tile: number; address: number; bytes: number;
  instructions: string[];
  cycles: number[]; /* of each, when it is executed */
  file: Int32Array; line: Int32Array; /* by instruction; file -1: not known */
  calls: Map<number, number>; /* instruction -> function that it refers to */
}

export interface SourceFile { name: string; missing: string | undefined; lines: Map<number, string> }

const functions = new WeakMap<object, CodeFunction>(), sources = new WeakMap<object, SourceFile>();

export function hasCode(r: Report): boolean {
  return r.code !== undefined;
}

/* The function that vertices of the type begin with; undefined: the report does not know the type, or has no symbol of its code. */
export function entryOf(r: Report, type: string): { function: number | undefined; tile: number } | undefined {
  for (const raw of asList(get(r.code, 'vertexTypes')))
    if (asText(get(raw, 'name')) === type) return { function: asNumber(get(raw, 'function')), tile: asNumber(get(raw, 'tile')) ?? 0 };
  return undefined;
}

function made(raw: Json): CodeFunction {
  const instructions = asTexts(get(raw, 'instructions')), runs = asNumbers(get(raw, 'lines')), calls = asNumbers(get(raw, 'calls'));
  const of: CodeFunction = {
    name: asText(get(raw, 'name')) ?? '', tile: asNumber(get(raw, 'tile')) ?? 0, address: asNumber(get(raw, 'address')) ?? 0,
    bytes: asNumber(get(raw, 'bytes')) ?? 0, instructions, cycles: asNumbers(get(raw, 'cycles')),
    file: new Int32Array(instructions.length).fill(-1), line: new Int32Array(instructions.length), calls: new Map(),
  };
  let at = 0;
  for (let i = 0; i + 2 < runs.length && at < instructions.length; i += 3) {
    const end = Math.min(instructions.length, at + Math.max(0, runs[i] as number));
    of.file.fill(runs[i + 1] as number, at, end);
    of.line.fill(runs[i + 2] as number, at, end);
    at = end;
  }
  for (let i = 0; i + 1 < calls.length; i += 2) of.calls.set(calls[i] as number, calls[i + 1] as number);
  return of;
}

export function codeFunction(r: Report, index: number): CodeFunction | undefined {
  const raw = asList(get(r.code, 'functions'))[index];
  if (typeof raw !== 'object' || raw === null) return undefined;
  let of = functions.get(raw);
  if (!of) functions.set(raw, of = made(raw));
  return of;
}

export function sourceFile(r: Report, index: number): SourceFile | undefined {
  const raw = asList(get(r.code, 'files'))[index];
  if (typeof raw !== 'object' || raw === null) return undefined;
  let of = sources.get(raw);
  if (of) return of;
  sources.set(raw, of = { name: asText(get(raw, 'name')) ?? '', missing: asText(get(raw, 'missing')), lines: new Map() });
  for (const part of asList(get(raw, 'parts'))) {
    const [first, ...lines] = asList(part), begin = asNumber(first);
    if (begin !== undefined) lines.forEach((text, i) => of?.lines.set(begin + i, asText(text) ?? ''));
  }
  return of;
}

/* The lines of each file that the function comes from, in the order of its instructions. */
export function linesOf(f: CodeFunction): Map<number, Set<number>> {
  const all = new Map<number, Set<number>>();
  for (let i = 0; i < f.instructions.length; i++) {
    const file = f.file[i] as number;
    if (file < 0) continue;
    let lines = all.get(file);
    if (!lines) all.set(file, lines = new Set());
    lines.add(f.line[i] as number);
  }
  return all;
}
