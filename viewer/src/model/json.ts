/* Reading what may be damaged or of another version: a value of the kind that is wanted, or what stands for none. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonMap = { [key: string]: Json };

export function isMap(v: Json | undefined): v is JsonMap {
  return typeof v === 'object' && v !== null && !Array.isArray(v);
}

export function get(v: Json | undefined, ...path: string[]): Json | undefined {
  let at: Json | undefined = v;
  for (const key of path) {
    if (!isMap(at) || !Object.prototype.hasOwnProperty.call(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

export function asNumber(v: Json | undefined): number | undefined {
  return typeof v === 'number' && Number.isFinite(v) ? v : undefined;
}

export function asText(v: Json | undefined): string | undefined {
  return typeof v === 'string' ? v : undefined;
}

export function asList(v: Json | undefined): Json[] {
  return Array.isArray(v) ? v : [];
}

/* Numbers only; what is none counts 0. */
export function asNumbers(v: Json | undefined): number[] {
  return asList(v).map((n) => asNumber(n) ?? 0);
}

export function asTexts(v: Json | undefined): string[] {
  return asList(v).map((n) => asText(n) ?? '');
}
