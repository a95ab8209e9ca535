/* Execution trace: toolbar, graph and, below it, Summary and Details. A report with timed blocks only is shown as these. */
import { Kept, type App, type View } from '../app';
import { kindLabels, type Kind, type Trace } from '../model/trace';
import { save } from '../ui/csv';
import { lookOf } from '../ui/colours';
import { absent, h, later } from '../ui/dom';
import { count } from '../ui/format';
import { menu, type Choice } from '../ui/menu';
import { split } from '../ui/split';
import { tabs } from '../ui/tabs';
import { lightweightView } from './lightweight';
import { traceDetails } from './trace_details';
import { traceGraph } from './trace_graph';
import { search, stateOfTrace, type flags, type TraceState } from './trace_state';
import { traceSummary } from './trace_summary';

const kept = new Kept<Trace, TraceState>();

type Flag = (typeof flags)[number];

export function colourKey(kinds: Kind[]): HTMLElement {
  const list = h('div', { class: 'keybox', hidden: true, role: 'note', 'aria-label': 'Colours' }, kinds.map((k) => {
    const look = lookOf(k), box = h('span', { class: `box ${look.pattern}` });
    box.style.backgroundColor = look.fill;
    return h('div', {}, box, kindLabels[k]);
  }));
  const button = h('button', {
    class: 'drop', title: 'What the colours mean', 'aria-label': 'Colour key', 'aria-expanded': 'false', onclick: () => {
      list.hidden = !list.hidden;
      button.setAttribute('aria-expanded', String(!list.hidden));
    },
  }, 'Key');
  return h('div', { class: 'dropbox' }, button, list);
}

function detailed(app: App, t: Trace, other: HTMLElement | undefined): HTMLElement {
  const state = kept.of(t, app.choices, () => stateOfTrace(app, t));
  /* Another view may have chosen a step since. */
  const wanted = app.choices.number('t.step', -1), isNew = t.steps[wanted] !== undefined && !state.selected.some((one) => one.kind === 'step' && one.step === wanted);
  if (isNew) state.selected = [{ kind: 'step', step: wanted }];
  state.tab = app.choices.text('t.tab', 'Summary');
  let late = 0, isMade = false;
  const refreshSoon = (): void => {
    app.choices.set('t.from', state.window.from > 0 ? Math.round(state.window.from) : undefined);
    app.choices.set('t.to', state.window.to < t.cycles ? Math.round(state.window.to) : undefined);
    zoomBox.value = (t.cycles / (state.window.to - state.window.from)).toFixed(1);
    clearTimeout(late);
    late = window.setTimeout(() => { if (pages.chosen() === 'Summary') pages.refresh(); }, 120);
  };
  const graph = traceGraph(app, t, state, () => refreshSoon(), () => {
    pages.choose('Details');
  });
  const pages = tabs('Figures', [
    { title: 'Summary', make: () => {
      if (isMade) return traceSummary(app, t, state);
      isMade = true; /* the graph comes first */
      return later(() => traceSummary(app, t, state));
    } },
    { title: 'Details', make: () => traceDetails(app, t, state, (step) => { graph.select({ kind: 'step', step }, false); graph.reveal(step); }) },
  ], state.tab, (title) => {
    state.tab = title;
    app.choices.set('t.tab', title === 'Summary' ? undefined : title);
  });

  const flag = (key: Flag, label: string, tip: string, why?: string): Choice => ({
    label, kind: 'check', tip, why, on: () => state[key], set: (on) => {
      state[key] = on;
      app.choices.set(`t.${key}`, on);
    },
  });
  const again = (): void => {
    graph.rebuild();
    pages.refresh();
  };
  const viewName = (): string => `Execution View – ${[state.runs && 'Runs', state.flame ? 'Flame' : 'Flat', state.bsp && 'BSP'].filter(Boolean).join(', ')}`;
  const viewMenu = menu(viewName, [
    flag('runs', 'Runs', 'Bars and markers of the runs', t.runs.length ? undefined : 'this report has no runs'), 'line',
    { label: 'Flat', kind: 'radio', on: () => !state.flame, set: () => { state.flame = false; app.choices.set('t.flame', false); }, tip: 'All steps of an IPU in one row' },
    { label: 'Flame', kind: 'radio', on: () => state.flame, set: () => { state.flame = true; app.choices.set('t.flame', true); }, tip: 'The stack of names above the steps' }, 'line',
    flag('bsp', 'BSP', 'What every tile does in every cycle'),
  ], again);
  const ipuMenu = menu(() => state.ipu < 0 ? 'All IPUs' : `IPU ${state.ipu}`, [
    { label: 'All IPUs', kind: 'radio', on: () => state.ipu < 0, set: () => { state.ipu = -1; app.choices.set('t.ipu', undefined); } }, 'line',
    ...Array.from({ length: t.numIpus }, (_, i): Choice => ({
      label: `IPU ${i}`, kind: 'radio', on: () => state.ipu === i, set: () => { state.ipu = i; app.choices.set('t.ipu', i); },
    })),
  ], again);
  const hasAns = t.steps.some((one) => one.kind === 'SyncAns');
  const options = menu(() => 'Options', [
    flag('tileBalance', 'Show Tile Balance', 'Shading: how much of the tiles each step uses'),
    flag('terminals', 'Show Terminals', 'A line at the end of each step'),
    flag('groupExecutions', 'Group Executions', 'Neighbouring steps of the same call path as one (flat view)'),
    flag('groupSyncs', 'Group Syncs', 'Successive syncs as one'),
    flag('text', 'Show Text', 'Names on steps'),
    flag('separate', 'Separate Overlapping Steps', 'What overlaps in rows of its own'),
    flag('externalSyncs', 'Show External Syncs', 'Syncs of all IPUs and with the host'),
    flag('syncAns', 'Show SyncAns', 'Automatic, non-participatory syncs', hasAns ? undefined : 'this report has none'),
    flag('bspStats', 'Use new BSP stats', 'The Summary tab counts what every tile does in every cycle', t.hasCosts ? undefined : 'this report has no cycles of tiles'),
  ], again);

  /* ---- search ---- */
  const status = h('span', { class: 'weak', role: 'status' });
  const move = (by: number): void => {
    const n = state.matches.length;
    if (!n) return;
    state.match = state.match < 0 ? (by > 0 ? Math.min(by, n) - 1 : n - 1) : ((state.match + by) % n + n) % n;
    const step = state.matches[state.match] as number;
    graph.select({ kind: 'step', step }, false);
    graph.reveal(step);
    status.textContent = `${count(state.match + 1)} of ${count(n)}`;
  };
  const look = (): void => {
    search(state, t, box.value);
    status.textContent = !state.search ? '' : state.matches.length ? `${count(state.matches.length)} steps` : 'no step is called so';
    arrows.hidden = !state.search;
    graph.redraw();
  };
  const box = h('input', {
    type: 'search', placeholder: 'Search steps', 'aria-label': 'Search steps', value: state.search, title: 'A word of the name or type; kind:exchange, tile:12, name:conv, /regular expression/',
    onkeydown: (e: KeyboardEvent) => {
      if (e.key !== 'Enter') return;
      if (box.value.trim() !== state.search) look();
      move(e.shiftKey ? -1 : 1);
    },
    oninput: () => { if (!box.value) look(); },
  });
  const arrow = (label: string, title: string, by: number): HTMLElement => h('button', { class: 'icon', title, 'aria-label': title, onclick: () => move(by) }, label);
  const arrows = h('span', { class: 'arrows', hidden: !state.search }, arrow('«', 'Ten matches back', -10), arrow('‹', 'Previous match', -1), arrow('›', 'Next match', 1), arrow('»', 'Ten matches on', 10));
  const zoomBox = h('input', {
    type: 'text', inputMode: 'decimal', class: 'zoom', value: (t.cycles / (state.window.to - state.window.from)).toFixed(1), 'aria-label': 'Magnification', title: 'Magnification: type a number and press Enter',
    onkeydown: (e: KeyboardEvent) => {
      const wanted = Number((e.target as HTMLInputElement).value);
      if (e.key === 'Enter' && wanted >= 1) graph.zoom(t.cycles / wanted / (state.window.to - state.window.from));
    },
  });
  const kinds = (Object.keys(kindLabels) as Kind[]).filter((k) => t.steps.some((one) => one.kind === k));
  const faulted = t.steps.find((one) => one.fault !== undefined);
  const toFault = faulted && h('button', {
    class: 'fault', title: 'Show the step in which the run ended', onclick: () => {
      graph.select({ kind: 'step', step: faulted.index }, false);
      graph.reveal(faulted.index);
      pages.choose('Details');
    },
  }, '✖ Fault');
  const toolbar = h('div', { class: 'toolbar' }, ipuMenu, viewMenu, toFault,
    h('span', { class: 'searchbox', role: 'search' }, box, arrows, status), h('span', { class: 'grow' }),
    h('label', {}, 'Zoom ', zoomBox), h('button', { class: 'icon', title: 'Show the whole trace', 'aria-label': 'Show the whole trace', onclick: () => graph.fit() }, '⤢'),
    colourKey(kinds), h('button', {
      class: 'icon', title: 'Save the graph as a picture', 'aria-label': 'Save the graph as a picture', onclick: () => graph.picture().toBlob((b) => { if (b) save('trace.png', b); }),
    }, 'Save'), options, other);
  if (isNew) graph.reveal(wanted);
  return h('div', { class: 'view trace', 'data-trace': 'detailed' }, toolbar,
    split(graph.element, h('div', { class: 'below' }, pages.element), state.share, () => graph.redraw()));
}

export const traceView: View = {
  id: 'trace', title: 'Execution Trace', icon: '▤', make: (app) => {
    const { trace, blocks } = app;
    if (!trace && !blocks) return h('div', { class: 'view' }, absent('This report has no execution trace. One is written when the program has run with the engine option debug.instrument (detailed), '
      + 'or profiler.blocks.filter or profiler.programs.filter (lightweight), and autoReport.outputExecutionProfile.'));
    const lightweight = blocks && (!trace || app.choices.text('t.kind') === 'lightweight');
    const other = trace && blocks ? menu(() => lightweight ? 'Lightweight' : 'Detailed', [
      { label: 'Detailed', kind: 'radio', on: () => !lightweight, set: () => app.choices.set('t.kind', undefined), tip: 'Every step on every tile; one duration for each compute set' },
      { label: 'Lightweight', kind: 'radio', on: () => !!lightweight, set: () => app.choices.set('t.kind', 'lightweight'), tip: 'Blocks that chosen tiles have timed' },
    ], () => app.go('trace')) : undefined;
    return lightweight ? lightweightView(app, blocks, other) : detailed(app, trace as Trace, other);
  },
};
