/* Two halves, one above the other, with a bar between them that is dragged or moved by arrow keys. */
import { h } from './dom';

export function split(top: HTMLElement, bottom: HTMLElement, share: { value: number }, changed: () => void): HTMLElement {
  const bar = h('div', { class: 'bar', role: 'separator', tabIndex: 0, 'aria-label': 'Height of the graph', 'aria-orientation': 'horizontal', 'aria-valuemin': 10, 'aria-valuemax': 90 });
  const box = h('div', { class: 'split' }, top, bar, bottom);
  const set = (value: number): void => {
    share.value = Math.max(0.1, Math.min(0.9, value));
    box.style.gridTemplateRows = `minmax(0, ${share.value}fr) 9px minmax(0, ${1 - share.value}fr)`;
    bar.setAttribute('aria-valuenow', String(Math.round(share.value * 100)));
    changed();
  };
  bar.addEventListener('pointerdown', (e) => {
    bar.setPointerCapture(e.pointerId);
    const move = (m: PointerEvent): void => {
      const r = box.getBoundingClientRect();
      set((m.clientY - r.top) / r.height);
    };
    bar.addEventListener('pointermove', move);
    bar.addEventListener('pointerup', () => bar.removeEventListener('pointermove', move), { once: true });
  });
  bar.addEventListener('keydown', (e) => {
    const by = e.key === 'ArrowUp' ? -0.05 : e.key === 'ArrowDown' ? 0.05 : 0;
    if (!by) return;
    e.preventDefault();
    set(share.value + by);
  });
  box.style.gridTemplateRows = `minmax(0, ${share.value}fr) 9px minmax(0, ${1 - share.value}fr)`;
  bar.setAttribute('aria-valuenow', String(Math.round(share.value * 100)));
  return box;
}
