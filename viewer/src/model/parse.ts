/* JSON of any size, read in parts, between which the page draws and reacts. What is small is JSON.parse's; of what is large
 * the members are found by their brackets and read in groups. */
import type { Json, JsonMap } from './json';

/* Characters that are read at once: some milliseconds. */
const part = 1 << 18;

const quote = 34, backslash = 92, comma = 44, colon = 58, openList = 91, closeList = 93, openMap = 123, closeMap = 125;

export class Reading {
  private begun = performance.now();
  private at = 0; /* what is read next */

  constructor(private readonly text: string, private readonly rest: (done: number) => Promise<void>) {}

  async whole(): Promise<Json> {
    const made = await this.value();
    if (this.next() >= 0) throw this.error();
    return made;
  }

  private error(): SyntaxError {
    return new SyntaxError(this.at < this.text.length ? `The report is damaged: it is no JSON at character ${this.at}.` : 'The report is damaged: it ends too early.');
  }

  /* Lets the page react, if it is time. */
  private async breathe(): Promise<void> {
    if (performance.now() - this.begun < 25) return;
    await this.rest(this.at / this.text.length);
    this.begun = performance.now();
  }

  /* The next character that is no blank, or -1. */
  private next(): number {
    while (this.at < this.text.length && this.text.charCodeAt(this.at) <= 32) this.at++;
    return this.at < this.text.length ? this.text.charCodeAt(this.at) : -1;
  }

  /* Behind a string that begins there. */
  private behindString(from: number): number {
    for (let at = from; ;) {
      at = this.text.indexOf('"', at + 1);
      if (at < 0) return this.text.length;
      let slashes = 0;
      while (this.text.charCodeAt(at - 1 - slashes) === backslash) slashes++;
      if (slashes % 2 === 0) return at + 1;
    }
  }

  /* Where the value that begins there ends: at a comma or a bracket of what it is in. -1: it is larger than a part. */
  private end(from: number): number {
    const { text } = this, most = Math.min(text.length, from + part);
    let depth = 0;
    for (let at = from; at < text.length; at++) {
      const c = text.charCodeAt(at);
      if (c === quote) at = this.behindString(at) - 1;
      else if (c === openList || c === openMap) depth++;
      else if (c === closeList || c === closeMap) {
        if (depth-- === 0) return at;
      } else if (c === comma && depth === 0) return at;
      if (at >= most && depth > 0) return -1;
    }
    return text.length;
  }

  private async value(): Promise<Json> {
    const c = this.next(), end = this.end(this.at);
    await this.breathe();
    if (end < 0) return c === openList ? this.list() : this.map();
    const made = JSON.parse(this.text.slice(this.at, end)) as Json;
    this.at = end;
    return made;
  }

  /* Elements are read together until they are a part. */
  private async list(): Promise<Json> {
    const made: Json[] = [];
    this.at++;
    for (;;) {
      const first = this.at;
      let last = -1, end = this.end(first);
      while (end >= 0 && this.text.charCodeAt(end) === comma && end - first < part) {
        last = end;
        end = this.end(end + 1);
      }
      /* What is large stays for itself, behind the comma of the others. */
      if (end < 0 && last < 0) made.push(await this.value());
      else {
        if (end < 0) end = last;
        for (const one of JSON.parse(`[${this.text.slice(first, end)}]`) as Json[]) made.push(one);
        this.at = end;
      }
      const c = this.next();
      this.at++;
      if (c === closeList) return made;
      if (c !== comma || this.next() === closeList) throw this.error();
      await this.breathe();
    }
  }

  private async map(): Promise<Json> {
    const made: JsonMap = {};
    this.at++;
    for (;;) {
      if (this.next() !== quote) throw this.error();
      const behind = this.behindString(this.at), key = JSON.parse(this.text.slice(this.at, behind)) as string;
      this.at = behind;
      if (this.next() !== colon) throw this.error();
      this.at++;
      Object.defineProperty(made, key, { value: await this.value(), enumerable: true, writable: true, configurable: true });
      const c = this.next();
      this.at++;
      if (c === closeMap) return made;
      if (c !== comma) throw this.error();
    }
  }
}
