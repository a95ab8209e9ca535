/* Rows of one height, of which there may be very many: only those that are seen, and some around them, are elements. */
import { h } from './dom';

export interface LongList {
  element: HTMLElement; /* it scrolls */
  update: (count: number) => void; /* all rows are made again */
  reveal: (index: number, focus: boolean) => void;
}

const around = 30;

/* `host` has the rows, `make` one of them; it is placed here. */
export function longList(host: HTMLElement, rowHeight: number, make: (index: number) => HTMLElement): LongList {
  const element = h('div', { class: 'scroll longlist' }, host), made = new Map<number, HTMLElement>();
  let count = 0;
  function show(): void {
    const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - around), end = Math.min(count, Math.ceil((element.scrollTop + (element.clientHeight || 600)) / rowHeight) + around);
    for (const [index, row] of made) {
      /* What has the focus keeps it. */
      if ((index >= first && index < end) || row.contains(document.activeElement)) continue;
      row.remove();
      made.delete(index);
    }
    for (let index = first; index < end; index++) {
      if (made.has(index)) continue;
      const row = make(index);
      row.style.top = `${index * rowHeight}px`;
      row.style.height = `${rowHeight}px`;
      made.set(index, row);
      /* In their order, for those who hear the page. */
      let before: HTMLElement | undefined;
      for (let at = index - 1; at >= first && !before; at--) before = made.get(at);
      if (before) before.after(row);
      else host.prepend(row);
    }
  }
  element.addEventListener('scroll', show);
  new ResizeObserver(show).observe(element);
  return {
    element,
    update: (n) => {
      count = n;
      host.style.height = `${n * rowHeight}px`;
      for (const row of made.values()) row.remove();
      made.clear();
      show();
    },
    reveal: (index, focus) => {
      const top = index * rowHeight;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
      show();
      if (focus) made.get(index)?.focus();
    },
  };
}
