// Strings of scripts with references to variables (RFC 5229 §3). A string without references stays a string.
import { type Position, SieveError } from './syntax.js';

export interface Reference {
  /** `match`: the number of a match value; `local`, `global`: the name of a variable in lower case. */
  readonly space: 'match' | 'local' | 'global';
  readonly name: string;
}

export type Text = string | readonly (string | Reference)[];

const REFERENCE = /\$\{(?:((?:[a-z_][a-z0-9_]*\.)*)([a-z_][a-z0-9_]*)|(\d+))\}/gi;
/** In characters. */
const LONGEST_NAME = 64;

/** @throws SieveError for a name that no variable can have */
export function textOf(text: string, at: Position, hasGlobals: boolean): Text {
  if (!text.includes('${')) return text;
  const parts: (string | Reference)[] = [];
  let end = 0;
  for (const found of text.matchAll(REFERENCE)) {
    const [whole, space = '', name = '', number] = found;
    if (found.index > end) parts.push(text.slice(end, found.index));
    end = found.index + whole.length;
    if (number !== undefined) parts.push({ space: 'match', name: String(Number(number)) });
    else parts.push({ space: spaceOf(space, at, hasGlobals), name: variableName(name, at) });
  }
  if (parts.length === 0) return text;
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

function spaceOf(space: string, at: Position, hasGlobals: boolean): 'local' | 'global' {
  if (space === '') return 'local';
  if (hasGlobals && space.toLowerCase() === 'global.') return 'global';
  throw new SieveError(at, `the namespace ${space.slice(0, -1)} of a variable is not known`);
}

/** @throws SieveError when the name is too long */
export function variableName(name: string, at: Position): string {
  if (name.length > LONGEST_NAME)
    throw new SieveError(at, `the name of a variable has more than ${LONGEST_NAME} characters`);
  return name.toLowerCase();
}
