/* A button with a list of choices below it. */
import { h } from './dom';

export interface Choice {
  label: string;
  kind: 'check' | 'radio' | 'action';
  on?: () => boolean;
  set: (on: boolean) => void;
  why?: string; /* why it cannot be chosen */
  tip?: string;
}

export function menu(label: () => string, choices: (Choice | 'line')[], after: () => void): HTMLElement {
  const list = h('div', { class: 'menu', role: 'menu', hidden: true });
  const button = h('button', {
    class: 'drop', 'aria-haspopup': 'menu', 'aria-expanded': 'false', onclick: () => toggle(list.hidden),
  }, label());
  const box = h('div', { class: 'dropbox' }, button, list);
  const fill = (): void => {
    list.textContent = '';
    for (const c of choices) {
      if (c === 'line') {
        list.append(h('hr'));
        continue;
      }
      const role = c.kind === 'check' ? 'menuitemcheckbox' : c.kind === 'radio' ? 'menuitemradio' : 'menuitem';
      list.append(h('button', {
        role, 'aria-checked': c.kind === 'action' ? undefined : String(c.on?.() ?? false), 'aria-disabled': c.why ? 'true' : undefined,
        title: c.why ?? c.tip, onclick: () => {
          if (c.why) return;
          c.set(c.kind === 'check' ? !c.on?.() : true);
          button.textContent = label();
          if (c.kind === 'check') {
            const at = [...list.children].indexOf(document.activeElement as Element);
            fill();
            (list.children[at] as HTMLElement | undefined)?.focus();
          } else {
            toggle(false);
            button.focus(); /* what had the focus is hidden */
          }
          after();
        },
      }, h('span', {}, c.label), c.why && h('small', { class: 'weak' }, c.why)));
    }
  };
  const outside = (e: Event): void => {
    if (!box.contains(e.target as Node)) toggle(false);
  };
  function toggle(open: boolean): void {
    list.hidden = !open;
    button.setAttribute('aria-expanded', String(open));
    if (open) {
      fill();
      document.addEventListener('pointerdown', outside);
      (list.querySelector('button') as HTMLElement | null)?.focus();
    } else document.removeEventListener('pointerdown', outside);
  }
  box.addEventListener('keydown', (e) => {
    if (list.hidden) return;
    const items = [...list.querySelectorAll('button')], at = items.indexOf(document.activeElement as HTMLButtonElement);
    if (e.key === 'Escape') {
      toggle(false);
      button.focus();
    } else if (e.key === 'ArrowDown') items[(at + 1) % items.length]?.focus();
    else if (e.key === 'ArrowUp') items[(at + items.length - 1) % items.length]?.focus();
    else return;
    e.preventDefault();
    e.stopPropagation();
  });
  return box;
}
