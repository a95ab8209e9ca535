/* Program tree: the programs as the tiles run them, control programs and functions. */
import { Kept, type App, type View } from '../app';
import { asNumber, asNumbers, asText, get, isMap } from '../model/json';
import type { Program, Report } from '../model/report';
import { isSync, isWhole, type Kind } from '../model/trace';
import { lookOf } from '../ui/colours';
import { absent, h, nameOf, replace } from '../ui/dom';
import { longList } from '../ui/long_list';
import { bytes, count } from '../ui/format';
import { facts } from '../ui/table';
import { split } from '../ui/split';
import { liveOf } from './liveness';

const colours: Record<string, Kind> = {
  OnTileExecute: 'OnTileExecute', DoExchange: 'DoExchange', GlobalExchange: 'GlobalExchange', StreamCopy: 'StreamCopyMid', StreamCopyBegin: 'StreamCopyBegin',
  StreamCopyMid: 'StreamCopyMid', StreamCopyEnd: 'StreamCopyEnd', Sync: 'InternalSync', WriteUndef: 'Other',
};

const rowHeight = 22;

interface State { root: number; selected: number; search: string; closed: Set<number>; match: number; share: { value: number } }
const kept = new Kept<Report, State>();

/* Rows that are visible: children follow their parent, two levels of an If are its branches. */
interface Row { program: number; depth: number }

function childrenOf(r: Report, p: Program): number[] {
  if (p.type === 'Call') {
    const target = asNumbers(get(r.graph, 'functionPrograms'))[asNumber(get(p.raw, 'target')) ?? -1];
    return target === undefined ? [] : [target];
  }
  return p.children;
}

/* The program and all that it has inside; a damaged report may have it inside itself. */
function within(r: Report, program: number): Set<number> {
  const found = new Set<number>(), todo = [program];
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    const p = r.programs[at];
    if (!p || found.has(at)) continue;
    found.add(at);
    todo.push(...childrenOf(r, p));
  }
  return found;
}

function describe(p: Program): string {
  const n = (key: string): number | undefined => asNumber(get(p.raw, key));
  switch (p.type) {
    case 'Repeat': return `${count(n('count') ?? 0)} times`;
    case 'Sync': return asText(get(p.raw, 'syncType')) ?? '';
    case 'Call': return `function ${n('target') ?? '?'}`;
    case 'OnTileExecute': return `compute set ${n('computeSet') ?? '?'}`;
    default: return '';
  }
}

function details(app: App, s: State): HTMLElement {
  const r = app.report, p = r.programs[s.selected];
  if (!p) return absent('Please select a program in the tree above.');
  const live = liveOf(r)?.steps.find((one) => one.program === s.selected), instructions = get(p.raw, 'memoryByInstruction');
  const inside = within(r, s.selected), isOne = inside.size === 1;
  const steps = app.trace?.steps.filter((one) => inside.has(one.program) && (isSync(one.kind) || isWhole(one.kind))) ?? [];
  const first = steps[0];
  return h('section', { class: 'details' }, h('h3', {}, `${p.type} `, p.name && nameOf(p.name)), facts([
    ['Program', String(s.selected)], ['Type', p.type], ['Debug name', p.name ? nameOf(p.name) : 'none'],
    ['Stack', p.name ? h('span', {}, p.name.split('/').map((part, i) => [i > 0 && ' › ', nameOf(part)])) : 'none'],
    ...(isMap(p.raw) ? Object.entries(p.raw).filter(([k, v]) => !['type', 'name', 'children'].includes(k) && !isMap(v)).map(([k, v]): [string, string] => [k, String(v)]) : []),
    ['Live at this step', live ? bytes(live.bytes) : 'not in this report'],
    ['Executed', app.trace ? `${count(steps.length)} ${isOne ? 'times' : 'steps of the programs in it'}, ${count(steps.reduce((a, b) => a + b.to - b.from, 0))} cycles` : 'no execution trace'],
  ]), isMap(instructions) && [h('h4', {}, 'Exchange code by instruction'), facts(Object.entries(instructions).filter(([, v]) => v !== 0).map(([k, v]): [string, string] => [k, bytes(Number(v))]))],
  first && h('button', {
    onclick: () => {
      app.choices.set('t.step', first.index);
      app.choices.set('t.tab', 'Details');
      app.go('trace');
    },
  }, 'Show in the execution trace'));
}

export const programsView: View = {
  id: 'programs', title: 'Program Tree', icon: '☷', make: (app) => {
    const r = app.report;
    if (!r.programs.length) return h('div', { class: 'view' }, absent('This report has no programs: they are a part of the graph profile.'));
    const control = asNumbers(get(r.graph, 'controlPrograms')), functions = asNumbers(get(r.graph, 'functionPrograms'));
    const state = kept.of(r, app.choices, (): State => ({ root: control[0] ?? 0, selected: -1, search: '', closed: new Set(), match: -1, share: { value: 0.6 } }));
    /* Another view may have chosen a program since: it is shown in a tree that has it. */
    const wanted = app.choices.number('p.step', -1), isNew = r.programs[wanted] !== undefined && wanted !== state.selected;
    if (isNew) {
      state.selected = wanted;
      if (!within(r, state.root).has(wanted)) state.root = [...control, ...functions].find((root) => within(r, root).has(wanted)) ?? state.root;
    }
    const tree = h('div', { role: 'tree', 'aria-label': 'Programs', class: 'treeview' }), below = h('div', { class: 'below' }), list = h('div', { class: 'roots' });
    let rows: Row[] = [];
    const matches = (p: Program): boolean => state.search !== '' && `${p.type} ${p.name}`.toLowerCase().includes(state.search);
    /* A damaged report may have programs inside themselves. How deep they lie is not limited. */
    const collect = (): void => {
      rows = [];
      const above: number[] = [], isAbove = new Set<number>(); /* by depth */
      const todo = [{ program: state.root, depth: 0 }];
      for (let row = todo.pop(); row && rows.length <= 200000; row = todo.pop()) {
        while (above.length > row.depth) isAbove.delete(above.pop() as number);
        const p = r.programs[row.program];
        if (!p || isAbove.has(row.program)) continue;
        rows.push(row);
        if (state.closed.has(row.program)) continue;
        above.push(row.program);
        isAbove.add(row.program);
        const children = childrenOf(r, p);
        for (let i = children.length - 1; i >= 0; i--) todo.push({ program: children[i] as number, depth: row.depth + 1 });
      }
    };
    const select = (program: number, focus: boolean, index = rows.findIndex((row) => row.program === program)): void => {
      state.selected = program;
      app.choices.set('p.step', program);
      lines.update(rows.length);
      replace(below, details(app, state));
      if (index >= 0) lines.reveal(index, focus);
    };
    const toggle = (program: number): void => {
      if (state.closed.has(program)) state.closed.delete(program);
      else state.closed.add(program);
      draw();
    };
    const rowOf = (row: Row, index: number): HTMLElement => {
      const p = r.programs[row.program] as Program, inner = childrenOf(r, p).length > 0, closed = state.closed.has(row.program);
      const box = h('span', { class: 'box' }), kind = colours[p.type];
      if (kind) box.style.backgroundColor = lookOf(kind).fill;
      else box.style.visibility = 'hidden';
      const line = h('div', {
        role: 'treeitem', class: [row.program === state.selected && 'chosen', matches(p) && 'match'].filter(Boolean).join(' '), tabIndex: row.program === state.selected || index === 0 ? 0 : -1,
        'aria-level': row.depth + 1, 'aria-selected': String(row.program === state.selected), 'aria-expanded': inner ? String(!closed) : undefined, 'data-program': row.program,
        onclick: () => select(row.program, false, index),
        onkeydown: (e: KeyboardEvent) => {
          const next = e.key === 'ArrowDown' ? index + 1 : e.key === 'ArrowUp' ? index - 1 : -1;
          if (next >= 0 && rows[next]) select((rows[next] as Row).program, true, next);
          else if (e.key === 'ArrowRight' && closed || e.key === 'ArrowLeft' && !closed && inner) {
            toggle(row.program);
            lines.reveal(index, true);
          }
          else if (e.key === 'Enter') select(row.program, true, index);
          else return;
          e.preventDefault();
        },
      }, h('span', { class: 'twist', onclick: (e: Event) => { if (inner) { e.stopPropagation(); toggle(row.program); } } }, inner ? (closed ? '▸' : '▾') : ''), box,
      h('b', {}, p.type), ' ', p.name && nameOf(p.name), ' ', h('small', { class: 'weak' }, describe(p)));
      line.style.paddingLeft = `${8 + row.depth * 18}px`;
      return line;
    };
    const lines = longList(tree, rowHeight, (index) => rowOf(rows[index] as Row, index));
    function draw(): void {
      collect();
      lines.update(rows.length);
      const entry = (label: string, program: number): HTMLElement => h('button', {
        'aria-pressed': String(state.root === program), onclick: () => { state.root = program; draw(); },
      }, label, ' ', r.programs[program]?.name ? nameOf(r.programs[program]?.name ?? '') : '');
      replace(list, h('h3', {}, 'Control programs'), control.map((p, i) => entry(String(i), p)), h('h3', {}, 'Functions'), functions.length ? functions.map((p, i) => entry(String(i), p)) : h('p', { class: 'weak' }, 'none'));
    }
    const status = h('span', { class: 'weak', role: 'status' });
    const box = h('input', {
      type: 'search', placeholder: 'Search programs', 'aria-label': 'Search programs', value: state.search,
      oninput: () => { state.search = box.value.trim().toLowerCase(); state.match = -1; lines.update(rows.length); status.textContent = state.search ? `${rows.filter((x) => matches(r.programs[x.program] as Program)).length} found` : ''; },
      onkeydown: (e: KeyboardEvent) => {
        if (e.key !== 'Enter') return;
        const found = rows.filter((x) => matches(r.programs[x.program] as Program));
        if (!found.length) return;
        state.match = (state.match + (e.shiftKey ? found.length - 1 : 1)) % found.length;
        select((found[state.match] as Row).program, false, rows.indexOf(found[state.match] as Row));
        status.textContent = `${state.match + 1} of ${found.length}`;
      },
    });
    draw();
    replace(below, details(app, state));
    if (isNew) requestAnimationFrame(() => lines.reveal(Math.max(0, rows.findIndex((row) => row.program === wanted)), false));
    return h('div', { class: 'view' }, h('div', { class: 'toolbar' }, box, status, h('span', { class: 'grow' }), h('button', { class: 'small', onclick: () => { state.closed.clear(); draw(); } }, 'Open all')),
      split(h('div', { class: 'treebox' }, list, lines.element), below, state.share, () => undefined));
  },
};
