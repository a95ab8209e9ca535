/* Tabs, as the keyboard knows them: arrows move, the page below is that of the chosen one. */
import { h, replace } from './dom';

export interface Tab { title: string; make: () => Node | string }

export interface Tabs { element: HTMLElement; refresh: () => void; choose: (title: string) => void; chosen: () => string }

let numbers = 0;

export function tabs(label: string, all: Tab[], chosen: string, onchange?: (title: string) => void): Tabs {
  const id = `tabs${numbers++}`;
  let current = all.some((t) => t.title === chosen) ? chosen : all[0]?.title ?? '';
  const panel = h('div', { class: 'panel', role: 'tabpanel', id: `${id}panel`, tabIndex: 0 });
  const buttons = all.map((t, i) => h('button', {
    role: 'tab', id: `${id}-${i}`, 'aria-controls': panel.id, onclick: () => choose(t.title),
    onkeydown: (e: KeyboardEvent) => {
      const by = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? all.length - 1 : 0;
      if (!by) return;
      const next = (i + by) % all.length;
      choose((all[next] as Tab).title);
      buttons[next]?.focus();
      e.stopPropagation();
    },
  }, t.title));
  function refresh(): void {
    all.forEach((t, i) => {
      const is = t.title === current, b = buttons[i] as HTMLButtonElement;
      b.setAttribute('aria-selected', String(is));
      b.tabIndex = is ? 0 : -1;
      if (is) {
        panel.setAttribute('aria-labelledby', b.id);
        replace(panel, t.make());
      }
    });
  }
  function choose(title: string): void {
    current = title;
    refresh();
    onchange?.(title);
  }
  refresh();
  return {
    element: h('div', { class: 'tabs' }, h('div', { role: 'tablist', 'aria-label': label }, buttons), panel), refresh, choose,
    chosen: () => current,
  };
}
