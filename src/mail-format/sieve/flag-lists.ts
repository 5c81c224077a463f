// Lists of flags as scripts have them (RFC 5232 §2): each string may have several names between spaces; the case of names does not count.
import { DELETED_FLAG, flagBit, isKeyword } from '../flags.js';

/** The most flags of a list. */
const MOST = 200;

/** The names in these strings, each once; those that no flag can have are left out. */
export function flagsIn(texts: readonly string[]): string[] {
  const names = new Map<string, string>();
  for (const text of texts) {
    for (const name of text.split(/\s+/)) {
      const key = name.toLowerCase();
      if (isFlag(name) && !names.has(key) && names.size < MOST) names.set(key, name);
    }
  }
  return [...names.values()];
}

const isFlag = (name: string): boolean =>
  isKeyword(name) || flagBit(name) !== 0 || name.toLowerCase() === DELETED_FLAG.toLowerCase();

export function withoutFlags(flags: readonly string[], removed: readonly string[]): string[] {
  const keys = new Set(removed.map((name) => name.toLowerCase()));
  return flags.filter((name) => !keys.has(name.toLowerCase()));
}
