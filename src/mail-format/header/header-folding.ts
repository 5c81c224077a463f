// Folds the lines of a header that have more than 998 octets (RFC 5322 §2.1.1, §2.2.3). A line is broken before white space, so that the
// unfolded field stays the same octet for octet. In fields that are lists, a line without white space is also broken after a separator,
// where RFC 5322 and RFC 2045 allow white space.
import { type HeaderLine, headerLines } from './header-lines.js';

/** The octets of a line without CRLF: the limit that a line must keep, and the one that it should keep. */
export const LONGEST_LINE = 998;
export const PREFERRED_LINE = 78;

const ADDRESS_LIST = /^(?:resent-)?(?:from|sender|reply-to|to|cc|bcc)$/;
const MESSAGE_IDS = /^(?:references|in-reply-to)$/;
const PARAMETERS = /^content-(?:type|disposition)$/;

/**
 * Folds the lines that have more than `most` octets. Returns undefined when a line of more than 998 octets has no position where it may be
 * broken.
 */
export function foldedHeader(header: Buffer, most = LONGEST_LINE): Buffer | undefined {
  let from = 0;
  const pieces: Buffer[] = [];
  for (const line of headerLines(header)) {
    if (line.end - line.start <= most || isShort(line.raw, most)) continue;
    const folded = line.name === '' ? undefined : foldedField(line, most);
    if (folded === undefined) return undefined;
    pieces.push(header.subarray(from, line.start), Buffer.from(folded, 'latin1'));
    from = line.start + line.raw.length;
  }
  return Buffer.concat([...pieces, header.subarray(from)]);
}

const isShort = (raw: string, most: number): boolean => raw.split('\r\n').every((line) => line.length <= most);

interface Break {
  /** The position at which the next line begins. */
  readonly at: number;
  /** True for white space of the field itself; otherwise a space is added. */
  readonly isBlank: boolean;
}

function foldedField({ name, raw }: HeaderLine, most: number): string | undefined {
  const breaks = breaksOf(name, raw);
  // A first line without a word is legal but unusual: only a field that cannot be folded elsewhere gets one.
  const word = raw.length - raw.slice(raw.indexOf(':') + 1).trimStart().length;
  const usual = breaks.filter(({ at }) => at >= word);
  return broken(raw, usual, most) ?? broken(raw, breaks, most);
}

function broken(raw: string, breaks: readonly Break[], most: number): string | undefined {
  const lines: string[] = [];
  let start = 0;
  for (const line of raw.split('\r\n')) {
    const end = start + line.length;
    const isLong = line.length > most;
    const within = isLong ? breaks.filter(({ at }) => at > start && at < end) : [];
    if (!addLine(lines, raw, start, end, within)) return undefined;
    start = end + 2;
  }
  return lines.join('\r\n');
}

/** Adds lines of at most the preferred length where possible; returns false when one stays too long. */
function addLine(lines: string[], raw: string, start: number, end: number, breaks: readonly Break[]): boolean {
  let from = start;
  let indent = '';
  let last: Break | undefined;
  const breakAt = ({ at, isBlank }: Break) => {
    lines.push(`${indent}${raw.slice(from, at)}`);
    from = at;
    indent = isBlank ? '' : ' ';
  };
  const isTooLong = (to: number, most: number) => indent.length + to - from > most;
  for (const next of [...breaks, { at: end, isBlank: true }]) {
    if (last !== undefined && breaks.length > 0 && isTooLong(next.at, PREFERRED_LINE)) breakAt(last);
    if (isTooLong(next.at, LONGEST_LINE)) return false;
    last = next;
  }
  lines.push(`${indent}${raw.slice(from, end)}`);
  return true;
}

/** Returns the breaks in order. None is within a quoted pair, and no line between two of them is blank. */
function breaksOf(name: string, raw: string): readonly Break[] {
  const isStructured = ADDRESS_LIST.test(name) || MESSAGE_IDS.test(name) || PARAMETERS.test(name);
  const separator = ADDRESS_LIST.test(name) ? ',' : PARAMETERS.test(name) ? ';' : MESSAGE_IDS.test(name) ? '>' : '';
  const found: Break[] = [];
  let nesting = 0;
  let isQuoted = false;
  let isLiteral = false;
  for (let at = raw.indexOf(':') + 1; at < raw.length; at++) {
    const character = raw[at]!;
    if (isBlank(character)) {
      const word = endOfBlanks(raw, at);
      if (raw[at - 1] !== '\n' && word < raw.length && raw[word] !== '\r') found.push({ at, isBlank: true });
      at = word - 1;
      continue;
    }
    if (!isStructured) continue;
    if (character === '\\') at++;
    else if (isQuoted) isQuoted = character !== '"';
    else if (character === '"') isQuoted = nesting === 0;
    else if (character === '(') nesting++;
    else if (character === ')') nesting = Math.max(0, nesting - 1);
    else if (character === '[' || character === ']') isLiteral = character === '[';
    else if (character === separator && nesting === 0 && !isLiteral && /[!-~\x80-\xff]/.test(raw[at + 1] ?? '')) {
      found.push({ at: at + 1, isBlank: false });
    }
  }
  return found;
}

const isBlank = (character: string): boolean => character === ' ' || character === '\t';

function endOfBlanks(raw: string, from: number): number {
  let at = from;
  while (at < raw.length && isBlank(raw[at]!)) at++;
  return at;
}
