/* Summary report: what was compiled for what, with which options, and which files say so. */
import type { App, View } from '../app';
import { asList, asNumber, asText, asTexts, get, isMap } from '../model/json';
import { absent, h, nameOf } from '../ui/dom';
import { bytes, count } from '../ui/format';
import { facts, table } from '../ui/table';

const none = 'not in this report';

function targetFacts(app: App): HTMLElement {
  const t = app.report.target;
  const perReplica = t.numIpus, ipus = perReplica * t.numReplicas;
  return facts([
    ['Type', t.type || none], ['Architecture', t.architecture || none], ['Tiles per IPU', count(t.tilesPerIpu)], ['IPUs per replica', count(perReplica)],
    ['Replicas', count(t.numReplicas)], ['Total tiles', count(t.numTiles * t.numReplicas)], ['Total IPUs', count(ipus)],
    ['Memory per tile', bytes(t.bytesPerTile)], ['Memory per IPU', bytes(t.bytesPerIpu)], ['Memory per replica', bytes(t.bytesPerIpu * perReplica)],
    ['Total memory', bytes(t.bytesPerIpu * ipus)], ['Clock', t.clock ? `${count(t.clock / 1e6)} MHz` : none],
    ['System memory per tile', bytes(t.systemBytes), 'At the base of each tile, not for programs'],
  ]);
}

const levels: Record<string, string> = {
  NONE: 'Off', COMPUTE_SETS: 'Tile', VERTICES: 'Vertex', SINGLE_TILE_COMPUTE_SETS: 'Device or IPU', IPU_MODEL: 'Off (estimates of an IPU Model)',
  EXTERNAL_EXCHANGES: 'Off', HOST_EXCHANGES: 'Off', CPU: 'Off (CPU)',
};

function instrumentation(app: App): HTMLElement {
  const x = app.report.execution, mode = asText(get(x, 'profilerMode'));
  const external = get(x, 'externalExchangeCycles') !== undefined, whole = get(x, 'programTraceComplete');
  return facts([
    ['Compute set instrumentation', mode === undefined ? `${none}: no execution profile` : levels[mode] ?? mode],
    ['External exchange instrumentation', mode === undefined ? none : external ? 'On' : 'Off'],
    ['Control flow', whole === undefined ? none : whole === false ? 'Incomplete: not all branches are known' : 'Complete'],
    ['Timed blocks', get(x, 'lightweightProfile') === undefined ? 'Off' : 'On'],
    ['Runs', mode === undefined ? none : count(asList(get(x, 'runs')).length)],
  ]);
}

function options(app: App): HTMLElement {
  const of = get(app.report.debug, 'options');
  if (!isMap(of)) return absent('The options are in debug.json, which autoReport.outputDebugInfo writes; it is not in this report.');
  return table(Object.entries(of).map(([key, value]) => ({ key, value: String(value) })), [
    { title: 'Option', value: (r) => r.key }, { title: 'Value', value: (r) => r.value },
  ], { name: 'engine options', filter: true });
}

export const summaryView: View = {
  id: 'summary', title: 'Summary', icon: '☰', make: (app) => {
    const r = app.report, n = (key: string): string => {
      const v = asNumber(get(r.graph, 'graph', key));
      return v === undefined ? none : count(v);
    };
    const open = app.choices.flag('s.options', true);
    const fold = h('details', {
      class: 'card wide', open, ontoggle: (e: Event) => app.choices.set('s.options', (e.target as HTMLDetailsElement).open ? undefined : false),
    }, h('summary', {}, 'Engine options'), options(app));
    const names = asTexts(get(r.graph, 'computeSets', 'names')).length;
    return h('div', { class: 'view scrolls' }, h('div', { class: 'cards' },
      h('section', { class: 'card' }, h('h2', {}, 'Target'), r.graph === undefined ? absent('This report has no graph profile.') : targetFacts(app)),
      h('section', { class: 'card' }, h('h2', {}, 'Graph'), facts([['Compute sets', names ? count(names) : n('numComputeSets')], ['Edges', n('numEdges')], ['Variables', n('numVars')], ['Vertices', n('numVertices')]]),
        h('h2', {}, 'Instrumentation'), instrumentation(app)),
      h('section', { class: 'card' }, h('h2', {}, 'Report'), facts([
        ['Name', nameOf(r.name)], ['Written', r.written || none], ['Populus', r.version || none],
      ]), h('h3', {}, 'Files'), r.files.length ? h('ul', { class: 'files' }, r.files.map((f) => h('li', {}, h('span', { class: f.status === 'read' ? 'good' : 'weak', 'aria-label': f.status }, f.status === 'read' ? '✓' : '?'), ' ', nameOf(f.name),
        h('small', { class: 'weak' }, ` ${f.status}`)))) : absent('none are named')),
      fold));
  },
};
