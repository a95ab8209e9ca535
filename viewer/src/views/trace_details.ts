/* The Details tab: everything that the report says of the selected steps, by their type. */
import type { App } from '../app';
import { asList, asNumber, asNumbers, asText, asTexts, get, isMap, type Json } from '../model/json';
import { computeSetName } from '../model/report';
import { kindLabels, isSync, type Cost, type Step, type Trace } from '../model/trace';
import { absent, h, nameOf } from '../ui/dom';
import { bytes, count, decimal, overflows, share } from '../ui/format';
import { plot } from '../ui/plot';
import { facts, table } from '../ui/table';
import { vertexCode } from './code';
import { memoryOfStep, stepLabel } from './trace_graph';
import type { TraceState } from './trace_state';

type Fact = [string, Node | string, string?];

const unmeasured = 'not in this report';

/* Of a run that ended in an error: what the program was told. */
function faultNote(fault: Json | undefined): HTMLElement | false {
  return fault !== undefined && h('p', { class: 'warning fault', role: 'alert' }, h('b', {}, 'The run ended here: '), nameOf(asText(get(fault, 'message')) ?? 'an error'));
}

/* Least, mean, most and spread over all tiles; those without a part count 0. */
export function spreadOf(values: ArrayLike<number>): { min: number; mean: number; max: number; deviation: number } {
  let min = Infinity, max = 0, sum = 0, squares = 0; /* of what is off the mean: squares of the values themselves are too large to be exact */
  for (let i = 0; i < values.length; i++) {
    const v = values[i] as number;
    if (v < min) min = v;
    if (v > max) max = v;
    sum += v;
  }
  const mean = values.length ? sum / values.length : 0;
  for (let i = 0; i < values.length; i++) squares += ((values[i] as number) - mean) ** 2;
  return { min: values.length ? min : 0, mean, max, deviation: Math.sqrt(squares / (values.length || 1)) };
}

function commonFacts(app: App, t: Trace, s: Step): Fact[] {
  const n = (key: string): number | undefined => asNumber(get(s.raw, key));
  const balance = n('tileBalance'), active = n('activeTileBalance'), tiles = n('activeTiles'), overlapped = n('cyclesOverlapped');
  const all = s.cost ? spreadOf(s.cost.cycles) : undefined;
  const waits = isSync(s.kind) || s.kind === 'StreamCopyBegin' || s.kind === 'StreamCopyEnd';
  const rows: (Fact | false)[] = [
    ['Cycles (active tiles)', waits ? count(s.to - s.from) : count(s.cycles), 'Of the tile that takes longest'],
    ['Active Tiles', s.waiting ? `${count(s.waiting.reduce((a, b) => a + b, 0))} / ${count(t.numTiles)}` : isSync(s.kind) || s.kind === 'StreamCopyBegin' ? 'all' : tiles === undefined ? unmeasured : `${count(tiles)} / ${count(t.numTiles)}`],
    !waits && ['All Cycles', all ? `min ${count(all.min)}, mean ${decimal(all.mean)}, max ${count(all.max)}, standard deviation ${decimal(all.deviation)}` : unmeasured, 'Of all tiles; those that have no part take 0'],
    !waits && ['Tile Balance', balance === undefined ? unmeasured : share(balance), 'Sum of cycles / (most cycles × all tiles)'],
    !waits && ['Active Tile Balance', active === undefined ? unmeasured : share(active), 'The same over the tiles that take part'],
    ['Cycles from', count(s.from)], ['Cycles to', count(s.to)],
    !waits && ['Overlapped with previous', overlapped === undefined ? unmeasured : count(overlapped)],
    ['Program', s.waiting ? 'syncs of several steps' : s.program < 0 ? 'a sync of the step behind it' : `${s.program}${app.report.programs[s.program] ? '' : ' (not in the graph profile)'}`],
    ['Stack', s.path.length ? h('span', {}, s.path.map((p, i) => [i > 0 && ' › ', nameOf(p)])) : 'none'],
  ];
  return rows.filter((r) => r !== false);
}

function byVertexType(app: App, s: Step): HTMLElement {
  const graph = app.report.graph, names = asTexts(get(graph, 'vertexTypes', 'names'));
  const types = asNumbers(asList(get(graph, 'computeSets', 'vertexTypes'))[s.thing]);
  const counts = asNumbers(asList(get(graph, 'computeSets', 'vertexCounts'))[s.thing]);
  const execution = app.report.execution, sums = new Map<number, number>();
  const cycles = asList(get(execution, 'vertexCycles')), ofSet = asList(get(execution, 'vertexComputeSet')), ofType = asList(get(execution, 'vertexType'));
  for (let i = 0; i < cycles.length; i++)
    if (ofSet[i] === s.thing) sums.set(ofType[i] as number, (sums.get(ofType[i] as number) ?? 0) + (asNumber(cycles[i]) ?? 0));
  if (!types.length) return absent('The graph profile has no vertices of this compute set.');
  return table(types.map((type, i) => ({ name: names[type] ?? `type ${type}`, instances: counts[i] ?? 0, cycles: sums.get(type) })), [
    { title: 'Vertex type', value: (r) => r.name },
    { title: 'Instances', value: (r) => r.instances, format: count },
    { title: 'Cycles', value: (r) => r.cycles ?? NaN, text: (r) => r.cycles === undefined ? 'not measured' : count(r.cycles), tip: 'Of all instances; measured at the level vertex' },
  ], { name: 'by vertex type', expand: (r) => vertexCode(app, r.name) });
}

const exchangeKeys: Partial<Record<Step['kind'], string>> = {
  DoExchange: 'exchanges', GlobalExchange: 'externalExchanges', StreamCopyMid: 'hostExchanges',
};

function byTile(app: App, s: Step, field: string): number[] | undefined {
  const list = asList(get(app.report.graph, exchangeKeys[s.kind] ?? '', field))[s.thing];
  return list === undefined ? undefined : asNumbers(list);
}

/* Names of what is moved, a few at first. */
function variables(list: Json | undefined): Node | string {
  if (list === undefined) return unmeasured;
  const names = asTexts(list);
  if (!names.length) return 'none';
  const some = names.slice(0, 5);
  return h('span', {}, some.map((n, i) => [i > 0 && ', ', nameOf(n)]),
    names.length > some.length && h('details', {}, h('summary', {}, `and ${names.length - some.length} more`), h('ul', {}, names.slice(5).map((n) => h('li', {}, nameOf(n))))));
}

function exchangeFacts(app: App, s: Step): Fact[] {
  const total = asNumber(get(s.raw, 'totalData')), balance = asNumber(get(s.raw, 'dataBalance'));
  const received = byTile(app, s, 'bytesReceivedByTile'), sent = byTile(app, s, 'bytesSentByTile'), code = memoryOfStep(app, s);
  const sum = (of: number[] | undefined): string => of ? bytes(of.reduce((a, b) => a + b, 0)) : unmeasured;
  const of = (field: string): Json | undefined => asList(get(app.report.graph, exchangeKeys[s.kind] ?? '', field))[s.thing];
  const stream = s.kind.startsWith('StreamCopy');
  const rows: Fact[] = [
    ['Total Data', total === undefined ? unmeasured : bytes(total)],
    ['Data Transmitted', sum(sent)], ['Data Received', sum(received)],
    ['Data Balance', balance === undefined ? unmeasured : share(balance), 'Mean of the data of all tiles / most data of a tile'],
  ];
  if (s.kind === 'DoExchange') rows.push(['Exchange Code', code === undefined ? unmeasured : bytes(code), 'Of all tiles']);
  if (!stream) {
    rows.push(['Source Variables', variables(of('sourceVariables'))], ['Destination Variables', variables(of('destinationVariables'))]);
    return rows;
  }
  const copies = (field: string): string => {
    const n = asNumber(of(field));
    return n === undefined ? unmeasured : n < 0 ? 'not known: rows of remote buffers go both ways' : count(n);
  };
  rows.push(['Category', asText(of('category')) ?? unmeasured, 'Host, RemoteBuffer or Mixed'], ['Copies from host', copies('copiesFromHost')], ['Copies to host', copies('copiesToHost')]);
  return rows;
}

function plots(app: App, s: Step): HTMLElement[] {
  const made: HTMLElement[] = [];
  if (s.cost) made.push(h('h4', {}, 'Cycles per tile'), plot(() => [{ name: 'cycles', values: (s.cost as Cost).cycles }], {
    label: `Cycles of each tile in ${stepLabel(s)}`, xName: 'tile', format: count, stacked: false,
  }).element);
  const received = byTile(app, s, 'bytesReceivedByTile'), sent = byTile(app, s, 'bytesSentByTile');
  if (received && sent) made.push(h('h4', {}, 'Data received and transmitted per tile'),
    plot(() => [{ name: 'received', values: received, colour: '#508ffe' }, { name: 'transmitted', values: sent, colour: '#f66271' }], {
      label: `Data of each tile in ${stepLabel(s)}`, xName: 'tile', format: bytes, stacked: true,
    }).element,
    h('p', { class: 'weak' }, h('span', { class: 'box received' }), ' received, ', h('span', { class: 'box sent' }),
      ' transmitted. How far a tile is from the exchange and from its partner says when its words arrive; the last tile of an IPU is the first one’s neighbour, which makes the shapes of these plots.'));
  return made;
}

/* "0 – 3, 7 and 12 more" */
function rangesOf(waiting: Uint8Array): string {
  const ranges: string[] = [];
  let left = 0;
  for (let first = 0, end; first < waiting.length; first = end) {
    for (end = first + 1; waiting[first] && waiting[end];) end++;
    if (!waiting[first]) continue;
    if (ranges.length < 12) ranges.push(end - first === 1 ? String(first) : `${first} – ${end - 1}`);
    else left += end - first;
  }
  return ranges.join(', ') + (left ? ` and ${count(left)} more` : '');
}

function stepDetails(app: App, t: Trace, s: Step): HTMLElement {
  const thread = asNumber(get(s.raw, 'threadBalance'));
  const rows = commonFacts(app, t, s);
  const notes: Partial<Record<Step['kind'], string>> = {
    InternalSync: 'The tiles of an IPU wait for each other.', ExternalSync: 'All IPUs wait for each other, and for the host where it takes part.',
    StreamCopyBegin: 'All tiles wait for each other and for the host, before data of a stream or a remote buffer move.',
    StreamCopyEnd: 'Tiles of a stream copy that are done wait until the others are.',
    SyncAns: 'Automatic, non-participatory sync: tiles have acknowledged several syncs in advance, as they have no part in what comes behind them, and wait until the last has happened.',
  };
  if (s.waiting) rows.push(['Acknowledged syncs', count(asNumber(get(s.raw, 'syncs')) ?? 0)], ['Tiles', rangesOf(s.waiting), 'Those that wait']);
  if (s.kind === 'OnTileExecute') {
    const memory = memoryOfStep(app, s);
    rows.unshift(['Compute set', h('span', {}, `${s.thing}: `, nameOf(computeSetName(app.report, s.thing)))],
      ['Memory', memory === undefined ? unmeasured : bytes(memory), 'Vertex state and code of the compute set, of all tiles']);
    rows.push(['Thread Balance', thread === undefined ? unmeasured : share(thread), 'What workers execute, of what all six could have']);
  }
  if (exchangeKeys[s.kind]) rows.push(...exchangeFacts(app, s));
  return h('section', { class: 'stepdetails', 'data-step': s.index },
    h('h3', {}, `${kindLabels[s.kind]} `, s.name && nameOf(s.name)),
    faultNote(s.fault), notes[s.kind] && h('p', { class: 'weak' }, notes[s.kind]),
    overflows(s.to - s.from) && h('p', { class: 'warning', role: 'alert' }, 'More cycles than a 32-bit counter holds: they may have wrapped.'),
    facts(rows), s.kind === 'OnTileExecute' && [h('h4', { title: 'A row opens to its instructions, and the lines of its source' }, 'By vertex type'), byVertexType(app, s)], plots(app, s));
}

function layerDetails(app: App, t: Trace, name: string, first: number, last: number, choose: (step: number) => void): HTMLElement {
  const steps = t.steps.slice(first, last + 1);
  return h('section', {}, h('h3', {}, nameOf(name)), table(steps, [
    { title: 'Step', value: (s) => s.index }, { title: 'Type', value: (s) => kindLabels[s.kind] }, { title: 'Name', value: (s) => s.name },
    { title: 'Cycles', value: (s) => s.to - s.from, format: count }, { title: 'From', value: (s) => s.from, format: count },
    { title: 'Active tiles', value: (s) => asNumber(get(s.raw, 'activeTiles')) ?? t.numTiles, format: count },
    { title: 'Tile balance', value: (s) => asNumber(get(s.raw, 'tileBalance')) ?? NaN, format: share },
    { title: 'Memory', value: (s) => memoryOfStep(app, s) ?? NaN, format: bytes },
  ], { name: `steps of ${name}`, filter: true, onselect: (s) => choose(s.index), expand: (s) => stepDetails(app, t, s) }));
}

function runDetails(t: Trace, index: number): HTMLElement {
  const run = t.runs[index];
  if (!run) return absent('This run is not in the report.');
  const n = (key: string): string => {
    const v = asNumber(get(run.raw, key));
    return v === undefined ? unmeasured : count(v);
  };
  const parameters = run.parameters;
  return h('section', {}, h('h3', {}, nameOf(run.name)), faultNote(run.fault), facts([
    ['Program', h('span', {}, `${run.program}: `, nameOf(asText(get(run.raw, 'name')) ?? ''))],
    ['Cycles of the device', n('cycles')], ['Simulated cycles', `${count(run.to - run.from)} (${count(run.from)} – ${count(run.to)})`],
    ['Instructions', n('instructions')], ['Supersteps', n('supersteps')], ['Steps', count(run.numSteps)],
  ]), h('h4', {}, 'Execution parameters'), isMap(parameters) && Object.keys(parameters).length
    ? facts(Object.entries(parameters).map(([k, v]): Fact => [k, String(v)]))
    : absent(parameters === undefined ? 'This report has none for its runs.' : 'None was set for this run.'));
}

export function traceDetails(app: App, t: Trace, s: TraceState, choose: (step: number) => void): HTMLElement {
  if (!s.selected.length) return absent('Please select a step, a layer or a run in the graph above: click it, or press the right arrow in the graph.');
  return h('div', { class: 'details columns' }, s.selected.map((one) => {
    if (one.kind === 'run') return runDetails(t, one.run);
    if (one.kind === 'layer') return layerDetails(app, t, one.name, one.first, one.last, choose);
    const step = t.steps[one.step];
    return step ? stepDetails(app, t, step) : absent('This step is not in the report.');
  }));
}
