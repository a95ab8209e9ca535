/* JSON of any size, read as it comes, in parts, between which the page draws and reacts; what has been read is let go. What is
 * small is JSON.parse's; of what is large the members are found by their brackets and read in groups. */
import type { Json, JsonMap } from './json';

/* Characters that are read at once: some milliseconds. */
const part = 1 << 18;

const quote = 34, backslash = 92, comma = 44, colon = 58, openList = 91, closeList = 93, openMap = 123, closeMap = 125;

/* What `end` says of a value: it is larger than a part; it goes on where nothing is known yet. */
const large = -1, unknown = -2;

export class Reading {
  private begun = performance.now();
  private text = ''; /* what is known and not read yet, and some that has been read */
  private at = 0; /* what is read next */
  private before = 0; /* characters in front of `text` */
  private ended = false;

  /* `source` answers the next characters, and undefined behind the last ones. */
  constructor(private readonly source: () => Promise<string | undefined>, private readonly rest: () => Promise<void>) {}

  async whole(): Promise<Json> {
    const made = await this.value();
    if (await this.next() >= 0) throw this.error();
    return made;
  }

  private error(): SyntaxError {
    return new SyntaxError(this.at < this.text.length ? `The report is damaged: it is no JSON at character ${this.before + this.at}.` : 'The report is damaged: it ends too early.');
  }

  /* So that as many characters are known from `at` on, if there are so many. What is before `at` is let go; it comes to twice as
   * many, since moving them takes time. */
  private async know(wanted: number): Promise<void> {
    if (this.ended || this.text.length - this.at >= wanted) return;
    const parts = [this.text.slice(this.at)];
    for (let known = this.text.length - this.at; known < 2 * wanted;) {
      const more = await this.source();
      if (more === undefined) {
        this.ended = true;
        break;
      }
      parts.push(more);
      known += more.length;
    }
    this.before += this.at;
    this.at = 0;
    this.text = parts.join('');
  }

  /* Where the value that is next ends, or `large`. */
  private async known(): Promise<number> {
    for (let wanted = 3 * part; ; wanted *= 2) {
      await this.know(wanted);
      const end = this.end(this.at);
      if (end !== unknown) return end;
    }
  }

  /* Lets the page react, if it is time. */
  private async breathe(): Promise<void> {
    if (performance.now() - this.begun < 25) return;
    await this.rest();
    this.begun = performance.now();
  }

  /* The next character that is no blank, or -1. */
  private async next(): Promise<number> {
    for (;;) {
      while (this.at < this.text.length && this.text.charCodeAt(this.at) <= 32) this.at++;
      if (this.at < this.text.length) return this.text.charCodeAt(this.at);
      if (this.ended) return -1;
      await this.know(part);
    }
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

  /* Where the value that begins there ends: at a comma or a bracket of what it is in. */
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
      if (at >= most && depth > 0) return large;
    }
    return this.ended ? text.length : unknown;
  }

  private async value(): Promise<Json> {
    const c = await this.next(), end = await this.known();
    await this.breathe();
    if (end === large) return c === openList ? this.list() : this.map();
    const made = JSON.parse(this.text.slice(this.at, end)) as Json;
    this.at = end;
    return made;
  }

  /* Elements are read together until they are a part. */
  private async list(): Promise<Json> {
    const made: Json[] = [];
    this.at++;
    for (;;) {
      let last = -1, end = await this.known();
      const first = this.at;
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
      const c = await this.next();
      this.at++;
      if (c === closeList) return made;
      if (c !== comma || await this.next() === closeList) throw this.error();
      await this.breathe();
    }
  }

  private async map(): Promise<Json> {
    const made: JsonMap = {};
    this.at++;
    for (;;) {
      if (await this.next() !== quote) throw this.error();
      await this.known(); /* a key, at least, is there whole */
      const behind = this.behindString(this.at), key = JSON.parse(this.text.slice(this.at, behind)) as string;
      this.at = behind;
      if (await this.next() !== colon) throw this.error();
      this.at++;
      Object.defineProperty(made, key, { value: await this.value(), enumerable: true, writable: true, configurable: true });
      const c = await this.next();
      this.at++;
      if (c === closeMap) return made;
      if (c !== comma) throw this.error();
    }
  }
}
