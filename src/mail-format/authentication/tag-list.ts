// Tag lists of DKIM and ARC fields (RFC 6376 §3.2): `name=value` between semicolons. They are read strictly: a list that breaks the grammar
// is refused, so that no two readers find different signing domains in it.

export type TagList = ReadonlyMap<string, string>;

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;
/** Matches printable characters without the semicolon, and the white space of folding. */
const VALUE = /^[\t\r\n !-:<-~]*$/;
const MOST = 100;

/** Returns the tags, with names as written and trimmed values; undefined when the text is not a tag list or repeats a tag. */
export function tagList(text: string): TagList | undefined {
  const parts = text.split(';', MOST + 1);
  if (parts.length > MOST) return undefined;
  if (parts.length > 1 && parts.at(-1)!.trim() === '') parts.pop();
  const tags = new Map<string, string>();
  for (const part of parts) {
    const equals = part.indexOf('=');
    const name = part.slice(0, Math.max(0, equals)).trim();
    const value = part.slice(equals + 1);
    if (!NAME.test(name) || !VALUE.test(value) || tags.has(name)) return undefined;
    tags.set(name, value.trim());
  }
  return tags;
}

/** Removes the white space that folds base64 and lists. */
export function compact(value: string): string {
  return value.replace(/[\t\r\n ]+/g, '');
}
