/* The frame: side menu, the chosen view, loading and errors. */
import { Choices, prepare, type App, type View } from './app';
import { load } from './load';
import { onSystemTheme, setTheme, themeIsDark } from './ui/colours';
import { setUnit, type Unit } from './ui/format';
import { breathe, h, nameOf, replace, shown } from './ui/dom';
import { compareView } from './views/compare';
import { insightsView } from './views/insights';
import { livenessView } from './views/liveness';
import { memoryView } from './views/memory';
import { operationsView } from './views/operations';
import { programsView } from './views/programs';
import { summaryView } from './views/summary';
import { traceView } from './views/trace';

const viewsOfOne: View[] = [summaryView, insightsView, memoryView, livenessView, programsView, operationsView, traceView];

const help: [string, string][] = [
  ['1 … 8', 'the views of the side menu'], ['w / s, + / −', 'zoom in, out'], ['a / d', 'pan'], ['f, 0', 'show all'], ['← / →', 'step, layer, run or block before, behind (in the graph); with Shift: select both'], ['↑ / ↓', 'from step to layer to run, and back; tile before, behind'], ['r', 'the selection as range'],
  ['Enter', 'fill the width with the selection; in the search box: next match'], ['/', 'search'], ['Shift+drag', 'choose a range; Esc lets it go'], ['wheel', 'zoom at the pointer; with Shift: scroll'],
  ['double click', 'fill the width'], ['?', 'this list'],
];

function helpBox(): HTMLDialogElement {
  const box = h('dialog', { 'aria-label': 'Keys' }, h('h2', {}, 'Keys and the mouse'),
    h('dl', { class: 'facts' }, help.map(([key, what]) => [h('dt', {}, key), h('dd', {}, what)])), h('button', { onclick: () => box.close() }, 'Close'));
  document.body.append(box);
  return box;
}

/* Of the path of a report, the end; the whole is said where the pointer stays. */
function partOf(name: string): string {
  return /[^/]+(?=\/*$)/.exec(name)?.[0] ?? name;
}

function lastPart(name: string): HTMLElement {
  const part = nameOf(partOf(name));
  part.title = shown(name, 2000);
  return part;
}

async function start(): Promise<void> {
  const root = document.getElementById('app') as HTMLElement;
  const bar = h('progress', { max: 1, value: 0 }), what = h('p', { role: 'status' }, 'Loading');
  replace(root, h('div', { class: 'loading' }, h('h1', {}, 'Populus'), what, bar));
  const progress = (text: string, done: number): void => {
    what.textContent = text;
    bar.value = done;
  };
  const began = performance.now();
  const reports = await load(progress);
  const choices = new Choices(), views = reports.length > 1 ? [...viewsOfOne, compareView] : viewsOfOne;
  const live = h('div', { class: 'unseen', 'aria-live': 'polite' });
  const main = h('main', { tabIndex: -1 }), title = h('h1', {});
  const say = (text: string): void => { live.textContent = text; };
  const apps: App[] = [];
  for (const [i, report] of reports.entries()) {
    const own = i ? new Choices(choices, `r${i}.`) : choices;
    apps.push({ apps, report, choices: own, ...await prepare(report, progress), say, go: (id) => go(id, i) });
  }
  const chosen = (): number => Math.min(apps.length - 1, Math.max(0, Math.trunc(choices.number('report', 0))));
  let current = chosen();
  const go = (id: string, report = current): void => {
    current = report;
    const app = apps[report] as App, view = views.find((v) => v.id === id) ?? traceView;
    choices.set('report', report || undefined);
    choices.set('view', view.id);
    for (const b of nav.querySelectorAll('button[data-view]')) {
      if (b.getAttribute('data-view') === view.id) b.setAttribute('aria-current', 'page');
      else b.removeAttribute('aria-current');
    }
    title.textContent = view.title;
    document.title = `${view.title} – ${partOf(app.report.name)} – Populus`;
    which.value = String(report);
    which.parentElement?.toggleAttribute('hidden', view === compareView);
    replace(main, view.make(app));
  };
  const which = h('select', { 'aria-label': 'Report', onchange: () => go(choices.text('view'), Number(which.value)) },
    reports.map((r, i) => h('option', { value: String(i) }, `${i ? 'Target' : 'Source'}: ${shown(r.name)}`)));
  const again = (): void => go(choices.text('view', apps.length > 1 ? 'compare' : 'trace'));
  const dialog = helpBox();
  const units = h('select', {
    'aria-label': 'Unit of memory', onchange: () => { choices.set('unit', units.value); setUnit(units.value as Unit); again(); },
  }, (['KiB', 'kB', 'bytes'] as const).map((u) => h('option', { value: u }, u)));
  const minimise = h('button', {
    title: 'Icons only', onclick: () => {
      choices.set('narrow', !choices.flag('narrow', false) || undefined);
      prefer();
    },
  }, h('span', { class: 'icon', 'aria-hidden': 'true' }, '⇤'), h('span', { class: 'label' }, 'Minimise'));
  /* What the address says of the page as a whole. */
  const prefer = (): void => {
    const unit = choices.text('unit', 'KiB'), narrow = choices.flag('narrow', false);
    setTheme(choices.text('theme'));
    setUnit(unit as Unit);
    units.value = unit;
    document.body.classList.toggle('narrow', narrow);
    minimise.setAttribute('aria-pressed', String(narrow));
  };
  prefer();
  const nav = h('nav', { 'aria-label': 'Reports' },
    views.map((v) => h('button', { 'data-view': v.id, title: v.title, onclick: () => go(v.id) }, h('span', { class: 'icon', 'aria-hidden': 'true' }, v.icon), h('span', { class: 'label' }, v.title))),
    h('span', { class: 'grow' }),
    h('label', { class: 'pref' }, h('span', { class: 'label' }, 'Units '), units),
    h('button', {
      title: 'Light or dark', onclick: () => {
        setTheme(themeIsDark() ? 'light' : 'dark');
        choices.set('theme', themeIsDark() ? 'dark' : 'light');
        again();
      },
    }, h('span', { class: 'icon', 'aria-hidden': 'true' }, '◐'), h('span', { class: 'label' }, 'Light / dark')),
    h('button', { title: 'Keys', onclick: () => dialog.showModal() }, h('span', { class: 'icon', 'aria-hidden': 'true' }, '?'), h('span', { class: 'label' }, 'Keys')),
    minimise);
  replace(root, h('header', {}, h('span', { class: 'brand' }, 'Populus'), title, apps.length > 1 ? h('label', { class: 'which' }, which) : h('span', { class: 'weak' }, lastPart((apps[0] as App).report.name))), nav, main, live);
  document.addEventListener('keydown', (e) => {
    const at = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName) || dialog.open) return;
    if (e.key === '?') dialog.showModal();
    else if (e.key === '/') (main.querySelector('input[type=search]') as HTMLElement | null)?.focus();
    else if (/^[1-9]$/.test(e.key) && views[Number(e.key) - 1]) go((views[Number(e.key) - 1] as View).id);
    else return;
    e.preventDefault();
  });
  onSystemTheme(again);
  addEventListener('hashchange', () => {
    choices.read();
    current = chosen();
    prefer();
    again();
  });
  await breathe();
  again();
  /* For tests and the person who wants to know. */
  document.documentElement.dataset['ready'] = String(Math.round(performance.now() - began));
}

start().catch((error: unknown) => {
  const root = document.getElementById('app') as HTMLElement;
  document.documentElement.dataset['failed'] = '1';
  replace(root, h('div', { class: 'loading', role: 'alert' }, h('h1', {}, 'Populus'), h('p', {}, 'This report cannot be shown.'), h('p', {}, error instanceof Error ? error.message : String(error))));
});
