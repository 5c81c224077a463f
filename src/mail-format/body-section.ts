// Sections of a message as octet ranges (RFC 9051 §6.4.5.1), found in its MIME index. A multipart without parts counts as text, as in the
// index. An embedded message that the index does not descend into has no sections of its own.
import type { OctetRange } from './message-index.js';
import type { PartBounds } from './writing/part-bounds.js';

export interface SectionName {
  /** Part numbers; an empty list is the message itself. */
  readonly part: readonly number[];
  /** Null means the whole message, or the body of the part. */
  readonly text: 'HEADER' | 'HEADER.FIELDS' | 'HEADER.FIELDS.NOT' | 'TEXT' | 'MIME' | null;
}

const LINE_FEED = '\n';
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

/** An `IndexedPart`, or the bounds alone. */
type Part<P> = PartBounds & { readonly parts: readonly P[] };

/** Returns the part with these numbers, or the root when there are none; undefined when the message has no such part. */
export function partNumbered<P extends Part<P>>(root: P, numbers: readonly number[]): P | undefined {
  let part: P | undefined = root;
  let isMessage = true;
  for (const number of numbers) {
    part = isMessage ? partOfMessage(part, number) : childOf(part, number);
    if (part === undefined) return undefined;
    isMessage = false;
  }
  return part;
}

/** Returns the root of the message that a part embeds; undefined when the part embeds none. */
export function embeddedMessage<P extends Part<P>>(part: P): P | undefined {
  return part.type === 'message' ? part.parts[0] : undefined;
}

/**
 * Returns the octets of a section; for HEADER.FIELDS and HEADER.FIELDS.NOT those of the whole header. Undefined when the message has no
 * such section.
 */
export function sectionRange(root: PartBounds, { part: numbers, text }: SectionName): OctetRange | undefined {
  const part = partNumbered(root, numbers);
  if (part === undefined) return undefined;
  const isRoot = numbers.length === 0;
  if (text === null) return { start: isRoot ? part.headerStart : part.bodyStart, end: part.bodyEnd };
  if (text === 'MIME') return isRoot ? undefined : headerOf(part);
  const message = isRoot ? part : embeddedMessage(part);
  if (message === undefined) return undefined;
  return text === 'TEXT' ? { start: message.bodyStart, end: message.bodyEnd } : headerOf(message);
}

/** Returns the octets [offset, offset + length) of the range, as far as the range has them. */
export function partOfRange({ start, end }: OctetRange, offset: number, length: number): OctetRange {
  const from = Math.min(end, start + offset);
  return { start: from, end: Math.min(end, from + length) };
}

/** A set of header field names, in any case. */
export class FieldNames {
  readonly #names: ReadonlySet<string>;
  /** Marks the octets that begin a name: most fields are skipped by their first octet. */
  readonly #firsts = new Uint8Array(256);

  constructor(names: readonly string[]) {
    this.#names = new Set(names.map((name) => name.toLowerCase()));
    for (const name of this.#names) {
      for (const first of [name, name.toUpperCase()]) this.#firsts[first.charCodeAt(0) & 0xff] = 1;
    }
  }

  /** Returns true when the line of `text` from `start` to `end` begins a field with one of these names. */
  beginsAt(text: string, start: number, end: number): boolean {
    if (this.#firsts[text.charCodeAt(start)] === 0) return false;
    const colon = text.indexOf(':', start);
    if (colon < 0 || colon >= end) return false;
    // RFC 5322 §4.5: obsolete syntax has white space before the colon.
    return this.#names.has(text.slice(start, colon).trimEnd().toLowerCase());
  }
}

/**
 * Returns the fields with these names, or the other fields, in the order and the form of the header, then its empty line. Each character is
 * an octet.
 */
export function headerFields(header: Buffer, names: FieldNames, areNamed: boolean): string {
  const text = header.toString('latin1');
  let kept = '';
  for (let start = 0; start < text.length; ) {
    if (isEmptyLine(text, start)) return kept + text.slice(start);
    let end = lineEnd(text, start);
    while (isFolding(text.charCodeAt(end))) end = lineEnd(text, end);
    if (names.beginsAt(text, start, end) === areNamed) kept += text.slice(start, end);
    start = end;
  }
  return kept;
}

function headerOf(part: PartBounds): OctetRange {
  return { start: part.headerStart, end: part.bodyStart };
}

/** A message that is not a multipart has one part, number 1: its body. */
function partOfMessage<P extends Part<P>>(root: P, number: number): P | undefined {
  if (root.type === 'multipart') return root.parts[number - 1];
  return number === 1 ? root : undefined;
}

function childOf<P extends Part<P>>(part: P, number: number): P | undefined {
  if (part.type === 'multipart') return part.parts[number - 1];
  const message = embeddedMessage(part);
  return message === undefined ? undefined : partOfMessage(message, number);
}

function lineEnd(text: string, from: number): number {
  const at = text.indexOf(LINE_FEED, from);
  return at < 0 ? text.length : at + 1;
}

function isFolding(octet: number): boolean {
  return octet === SPACE || octet === TAB;
}

function isEmptyLine(text: string, at: number): boolean {
  const octet = text.charCodeAt(at);
  return octet === LF || (octet === CR && text.charCodeAt(at + 1) === LF);
}
