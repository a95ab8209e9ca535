/* Tables: sorted by a click on a column's head, filtered by a box, copied as CSV; rows come as they are needed, in parts. */
import { csvOf, save } from './csv';
import { fill, h, nameOf } from './dom';

export interface Column<T> {
  title: string;
  text?: (row: T) => string; /* as shown; numbers by `format` */
  value: (row: T) => number | string;
  format?: (value: number) => string;
  tip?: string;
  mood?: (row: T) => 'good' | 'bad' | ''; /* a colour beside what is said */
}

export interface TableOptions<T> {
  name: string; /* of the CSV file, and for those who do not see it */
  filter?: boolean;
  sort?: { column: number; down: boolean };
  onselect?: (row: T) => void;
  selected?: (row: T) => boolean;
  expand?: (row: T) => HTMLElement | undefined;
}

const chunk = 200;

/* As a word that is looked for, and in CSV: what is not known is empty. */
function wordOf(value: number | string): number | string {
  return typeof value === 'number' && !Number.isFinite(value) ? '' : value;
}

/* What is not known is behind all others, whichever way they are sorted. */
function order(x: number | string, y: number | string, sign: number): number {
  if (typeof x !== 'number' || typeof y !== 'number') return sign * String(x).localeCompare(String(y));
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return x === y ? 0 : sign * (x - y);
}

export function table<T>(rows: T[], columns: Column<T>[], o: TableOptions<T>): HTMLElement {
  let sort = o.sort, filter = '', most = chunk;
  const open = new Set<T>(), rowsOf = new WeakMap<Element, T>();
  const body = h('tbody');
  const isNumber = (c: Column<T>): boolean => rows.length > 0 && typeof c.value(rows[0] as T) === 'number';
  const heads = columns.map((c, i) => h('th', { scope: 'col', title: c.tip, class: isNumber(c) ? 'number' : undefined }, h('button', {
    class: 'sort', onclick: () => {
      sort = { column: i, down: sort?.column === i ? !sort.down : isNumber(c) };
      draw();
    },
  }, c.title)));
  const more = h('button', { class: 'more', onclick: () => { most += 1000; draw(!body.hasAttribute('aria-busy')); } });
  const sum = h('span', { class: 'weak', role: 'status' });

  const visible = (): T[] => {
    let found = rows;
    if (filter) {
      const low = filter.toLowerCase();
      found = rows.filter((r) => columns.some((c) => String(wordOf(c.value(r))).toLowerCase().includes(low)));
    }
    if (sort) {
      const c = columns[sort.column] as Column<T>, sign = sort.down ? -1 : 1;
      found = found.map((row) => ({ row, key: c.value(row) })).sort((x, y) => order(x.key, y.key, sign)).map(({ row }) => row);
    }
    return found;
  };
  const cellOf = (c: Column<T>, r: T): HTMLElement => {
    const v = c.value(r);
    if (typeof v === 'number') return h('td', { class: `number ${c.mood?.(r) ?? ''}` }, c.text ? c.text(r) : c.format ? c.format(v) : String(v));
    return h('td', { class: 'text' }, nameOf(c.text ? c.text(r) : v));
  };
  const rowOf = (r: T): HTMLElement[] => {
    const cells = columns.map((c) => cellOf(c, r));
    const act = (): void => {
      if (o.expand) {
        if (open.has(r)) open.delete(r);
        else open.add(r);
        const hadFocus = line.contains(document.activeElement);
        if (!open.has(r)) line.nextElementSibling?.remove();
        const again = rowOf(r);
        line.replaceWith(...again);
        if (hadFocus) again[0]?.querySelector('button')?.focus();
      }
      o.onselect?.(r);
      /* The rows, their order and the filter stay. */
      for (const one of o.selected ? body.children : []) one.classList.toggle('selected', rowsOf.has(one) && o.selected?.(rowsOf.get(one) as T) === true);
    };
    const active = o.onselect ?? o.expand;
    if (o.expand) cells[0]?.prepend(h('button', { class: 'twist', 'aria-expanded': String(open.has(r)), 'aria-label': 'Details of this row' }, open.has(r) ? '▾' : '▸'));
    const line = h('tr', {
      class: [o.selected?.(r) && 'selected', o.expand && 'opens', open.has(r) && 'open'].filter(Boolean).join(' '),
      tabIndex: active && !o.expand ? 0 : undefined, onclick: active ? act : undefined,
      onkeydown: active ? (e: KeyboardEvent) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); act(); } } : undefined,
    }, cells);
    rowsOf.set(line, r);
    const inner = open.has(r) ? o.expand?.(r) : undefined;
    return inner ? [line, h('tr', { class: 'inner' }, h('td', { colspan: columns.length }, inner))] : [line];
  };
  /* `goesOn`: the rows that are there stay. */
  let shownRows = 0;
  function draw(goesOn = false): void {
    const found = visible();
    heads.forEach((th, i) => th.setAttribute('aria-sort', sort?.column === i ? (sort.down ? 'descending' : 'ascending') : 'none'));
    fill(body, found.slice(goesOn ? shownRows : 0, most), rowOf, goesOn);
    shownRows = Math.min(found.length, most);
    more.hidden = found.length <= most;
    more.textContent = `Show more (${found.length - most} of ${found.length} are not shown)`;
    sum.textContent = `${found.length === rows.length ? rows.length : `${found.length} of ${rows.length}`} ${rows.length === 1 ? 'row' : 'rows'}`;
  }
  const csv = h('button', {
    class: 'small', title: 'Save these rows as CSV',
    onclick: () => save(`${o.name}.csv`, new Blob([csvOf(columns.map((c) => c.title), visible().map((r) => columns.map((c) => wordOf(c.value(r)))))], { type: 'text/csv' })),
  }, 'CSV');
  const tools = h('div', { class: 'tools' },
    o.filter && h('input', {
      type: 'search', placeholder: 'Filter', 'aria-label': `Filter ${o.name}`,
      oninput: (e: Event) => { filter = (e.target as HTMLInputElement).value; most = chunk; draw(); },
    }), sum, csv);
  draw();
  return h('div', { class: 'table' }, tools,
    h('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': o.name },
      h('table', { 'aria-label': o.name }, h('thead', {}, h('tr', {}, heads)), body)), more);
}

/* Two columns: what it is, and its value. */
export function facts(rows: ([string, Node | string, string?] | false | undefined)[]): HTMLElement {
  return h('dl', { class: 'facts' }, rows.map((r) => r && [h('dt', { title: r[2] }, r[0]), h('dd', { 'data-fact': r[0] }, r[1])]));
}
