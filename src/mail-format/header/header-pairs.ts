// The fields of a header as names and values for people and programs: unfolded, with encoded words as received. An allow-list names the
// fields that a sender may set over REST, so that nobody writes trace fields, recipients or the structure of the message.

import { eightBit, WordDecoder } from '../mime-index/header-text.js';
import { fieldValue, type HeaderLine, headerLines } from './header-lines.js';

export type HeaderPair = readonly [name: string, value: string];

/** Returns the fields in the order of the header; lines that are not fields are left out. */
export function headerPairs(header: Buffer): [name: string, value: string][] {
  return headerLines(header).flatMap((line) => (line.name === '' ? [] : [pairOf(line)]));
}

const pairOf = (line: HeaderLine): [name: string, value: string] => [
  line.raw.slice(0, line.raw.indexOf(':')).trimEnd(),
  eightBit(fieldValue(line)).trim(),
];

/** Keeps the fields that a sender may set and decodes their encoded words. `withOwn` keeps `X-*` and `List-*` too. */
export function givenPairs(pairs: readonly HeaderPair[], withOwn: boolean): [name: string, value: string][] {
  const words = new WordDecoder();
  const isShown = (name: string) => ALLOWED.test(name) && (withOwn || !/^(?:x|list)-/i.test(name));
  return pairs.filter(([name]) => isShown(name)).map(([name, value]) => [name, words.text(value)]);
}

const ALLOWED = /^(?:(?:list|x)-[a-z\d-]{1,60}|references|in-reply-to|auto-submitted|precedence|importance)$/i;
const REPEATABLE = /^x-/i;
const MOST_PAIRS = 50;
const LONGEST_VALUE = 2_000;
/** A line with a word of this length has less than 998 octets, whatever the name of the field. */
const LONGEST_WORD = 900;
const MESSAGE_ID = /^<[!-;=?-~]{1,900}>$/;
const MOST_REFERENCES = 50;

export const isSenderField = (name: string): boolean => ALLOWED.test(name);

/** Tells why a JSON value is not a list of fields that a sender may set; undefined when it is one. */
export function senderFieldsFault(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be an array';
  if (value.length > MOST_PAIRS) return `must hold at most ${MOST_PAIRS} entries`;
  const once = new Set<string>();
  for (const [at, pair] of value.entries()) {
    const fault = pairFault(pair, once);
    if (fault !== undefined) return `entry ${at} ${fault}`;
  }
  return undefined;
}

function pairFault(pair: unknown, once: Set<string>): string | undefined {
  if (!Array.isArray(pair) || pair.length !== 2) return 'must be a name and a value';
  const [name, value] = pair as unknown[];
  if (typeof name !== 'string' || typeof value !== 'string') return 'must be a name and a value';
  if (!ALLOWED.test(name)) {
    return 'must be named List-*, X-*, References, In-Reply-To, Auto-Submitted, Precedence or Importance';
  }
  const key = name.toLowerCase();
  if (once.has(key) && !REPEATABLE.test(key)) return 'repeats a field that a message has once';
  once.add(key);
  return valueFault(key, value);
}

function valueFault(key: string, value: string): string | undefined {
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(value)) return 'must not hold control characters';
  const text = value.trim();
  if (text === '' || text.length > LONGEST_VALUE) return `must have a value of 1 to ${LONGEST_VALUE} characters`;
  const ids = text.split(/ +/);
  if (key === 'in-reply-to')
    return ids.length === 1 && MESSAGE_ID.test(text) ? undefined : 'must be one message id in <>';
  if (key === 'references') {
    const areIds = ids.length <= MOST_REFERENCES && ids.every((id) => MESSAGE_ID.test(id));
    return areIds ? undefined : `must be message ids in <>, at most ${MOST_REFERENCES}`;
  }
  if (!REPEATABLE.test(key) && !/^[ -~]*$/.test(text)) return 'must be ASCII';
  return /[^ ]{901}/.test(text) ? `must not have words of more than ${LONGEST_WORD} characters` : undefined;
}
