/* Elements from values: h('button', {onclick: f}, 'text'). Text is always text: no name of a report becomes markup. */

type Child = Node | string | number | null | undefined | false | Child[];
type Props = Record<string, unknown>;

function append(to: Node, child: Child): void {
  if (child === null || child === undefined || child === false) return;
  if (Array.isArray(child)) for (const c of child) append(to, c);
  else to.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
}

/* Properties: on… are listeners, class is the class, data-…, aria-… and role are attributes, others properties. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, props: Props = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false && !key.startsWith('aria-')) continue;
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value as EventListener);
    else if (key === 'class') made.className = String(value);
    else if (/^(data-|aria-|role$|for$|colspan$|scope$)/.test(key)) made.setAttribute(key, String(value));
    else (made as unknown as Props)[key] = value;
  }
  append(made, children);
  return made;
}

export function replace(of: Element, ...children: Child[]): void {
  of.textContent = '';
  append(of, children);
}

/* Characters that would hide or reorder others, written out. */
export function shown(name: string, most = 300): string {
  const cut = name.length > most ? `${name.slice(0, most)}…` : name;
  return cut.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (c) =>
    c === '\n' ? '\\n' : c === '\t' ? '\\t' : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/* A name of the report, as an element that keeps its direction to itself. */
export function nameOf(name: string): HTMLElement {
  return h('bdi', { class: 'name', title: shown(name, 2000) }, shown(name));
}

/* A paragraph where a report has nothing to show: what is missing and how to get it. */
export function absent(text: string): HTMLElement {
  return h('p', { class: 'absent' }, text);
}

/* Lets the page draw and react. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/* Work in parts of some milliseconds, between which the page lays out and draws what there is, and reacts: what is asked for in one task
 * shares the first part. Where nobody sees the page there are no frames. */
const part = 6, waiting: (() => boolean)[] = []; /* each answers whether it is done */
let ends = 0, isPlanned = false;

function work(): void {
  for (let one = waiting[0]; one && performance.now() < ends; one = waiting[0]) {
    let isDone = true; /* what fails is not tried again */
    try {
      isDone = one();
    } finally {
      if (isDone) waiting.shift();
    }
  }
  if (isPlanned) return;
  isPlanned = true;
  const next = (): number => window.setTimeout(() => {
    isPlanned = false;
    ends = performance.now() + part;
    if (waiting.length) work();
  }, 0);
  if (document.hidden) next();
  else requestAnimationFrame(next);
}

/* What is many, in parts. Until all are there the host is aria-busy; who fills the same host again ends what goes on there. With `keep`
 * what it has stays. */
const turns = new WeakMap<Element, number>();
export function fill<T>(host: Element, items: readonly T[], make: (item: T, index: number) => Node | Node[], keep = false): void {
  const turn = (turns.get(host) ?? 0) + 1;
  let next = 0;
  turns.set(host, turn);
  if (!keep) host.textContent = '';
  host.setAttribute('aria-busy', 'true');
  waiting.push(() => {
    if (turns.get(host) !== turn) return true;
    for (; next < items.length && performance.now() < ends; next++) append(host, make(items[next] as T, next));
    if (next < items.length) return false;
    host.removeAttribute('aria-busy');
    return true;
  });
  if (!isPlanned) ends = performance.now() + part;
  work();
}

/* An element that is made behind what is going on now. */
export function later(make: () => HTMLElement): HTMLElement {
  const host = h('div', { 'aria-busy': 'true' });
  setTimeout(() => {
    host.removeAttribute('aria-busy');
    host.append(make());
  }, 0);
  return host;
}
