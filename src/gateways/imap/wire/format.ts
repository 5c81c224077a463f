// Formats values for responses. The functions return binary strings: each character is one octet, ready for
// `Output.write`. Eight-bit text is sent in literals, which every client can read; names of mailboxes are the
// exception of RFC 9051 §5.1.

import { encodeModifiedUtf7 } from '../../../mail-format/modified-utf7.js';
import { octetsOf } from '../../sessions/output.js';
import { ASTRING, isRun } from './character-classes.js';

/** Longer strings are sent as literals. */
const LONGEST_QUOTED = 4096;
const EIGHT_BIT = /[\x80-\xff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNQUOTABLE = /[^\x01-\x09\x0b\x0c\x0e-\x7f]/;
const SPECIAL = /["\\]/g;
const REPLACEMENT = '\xef\xbf\xbd';
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const octetsIn = (value: string | Buffer): string =>
  typeof value === 'string' ? octetsOf(value) : value.toString('latin1');

/** Returns a quoted string if the octets permit it, else a literal. */
export function quoted(value: string | Buffer): string {
  const octets = octetsIn(value);
  if (octets.length > LONGEST_QUOTED || UNQUOTABLE.test(octets)) return literalOf(octets);
  return inQuotes(octets);
}

/** Replaces NUL, which no literal may contain, by U+FFFD. */
export const literal = (value: string | Buffer): string => literalOf(octetsIn(value));

/** Returns the value as an atom if possible, else as a quoted string or a literal. */
export function astring(value: string | Buffer): string {
  const octets = octetsIn(value);
  return isRun(octets, ASTRING) && octets.toUpperCase() !== 'NIL' ? octets : quoted(value);
}

export const nstring = (value: string | Buffer | null | undefined): string =>
  value === null || value === undefined ? 'NIL' : quoted(value);

/** `isUtf8` says that the client has enabled IMAP4rev2 or UTF8=ACCEPT. */
export function mailboxName(name: string, isUtf8: boolean): string {
  if (!isUtf8) return astring(encodeModifiedUtf7(name));
  const octets = octetsOf(name);
  return EIGHT_BIT.test(octets) ? inQuotes(octets) : astring(octets);
}

/** Returns a set such as `1:3,7`: consecutive ascending numbers become ranges; the order of the numbers is kept. */
export function uidSet(uids: Iterable<number> | readonly (readonly [first: number, last: number])[]): string {
  let set = '';
  let first = 0;
  let last = 0;
  const add = () => {
    if (first === 0) return;
    const range = first === last ? `${first}` : `${first}:${last}`;
    set = set === '' ? range : `${set},${range}`;
  };
  for (const entry of uids) {
    const [from, to] = typeof entry === 'number' ? [entry, entry] : entry;
    if (first !== 0 && from === last + 1) {
      last = to;
      continue;
    }
    add();
    first = from;
    last = to;
  }
  add();
  return set;
}

/** Returns a date such as `"17-Jul-1996 02:44:25 +0000"`, in UTC. `ms` is since the epoch. */
export function internalDate(ms: number): string {
  const date = new Date(ms);
  const day = String(date.getUTCDate()).padStart(2, ' ');
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  return `"${day}-${MONTHS[date.getUTCMonth()]}-${year} ${time} +0000"`;
}

const two = (value: number): string => (value < 10 ? `0${value}` : `${value}`);

const inQuotes = (octets: string): string => `"${octets.replace(SPECIAL, '\\$&')}"`;

function literalOf(octets: string): string {
  const text = octets.includes('\0') ? octets.replaceAll('\0', REPLACEMENT) : octets;
  return `{${text.length}}\r\n${text}`;
}
