// ENVELOPE (RFC 9051 §7.5.2) from the octets of a header: encoded words and dates stay as written, folds become spaces. The
// first of several fields with the same name counts, but destinations are combined. The header is read as far as the MIME index reads it.
import { DEFAULT_LIMITS } from '../../../mail-format/mime-index/limits.js';
import { addressList } from './addresses.js';
import { octetString } from './strings.js';

const FIELDS = new Set('date subject from sender reply-to to cc bcc in-reply-to message-id'.split(' '));
const LONGEST_NAME = 'in-reply-to'.length;
const COLON = 0x3a;
const SPACE = 0x20;
const TAB = 0x09;
const CR = 0x0d;

/** Returns a binary string. */
export function envelopeOf(header: Buffer): string {
  const { first, all } = fieldsOf(header);
  const author = addresses(first('from'));
  const others = [addresses(first('sender'), author), addresses(first('reply-to'), author)];
  const destinations = [all('to'), all('cc'), all('bcc')].map(allAddresses);
  return (
    `(${octetString(first('date') ?? null)} ${octetString(first('subject') ?? null)} ${author} ${others.join(' ')} ` +
    `${destinations.join(' ')} ${octetString(first('in-reply-to') ?? null)} ${octetString(first('message-id') ?? null)})`
  );
}

function addresses(field: string | undefined, none = 'NIL'): string {
  const list = field === undefined ? 'NIL' : addressList(field);
  return list === 'NIL' ? none : list;
}

/** Joins the destinations of repeated fields into one list. */
function allAddresses(fields: readonly string[]): string {
  const lists = fields.map(addressList).filter((list) => list !== 'NIL');
  return lists.length === 0 ? 'NIL' : `(${lists.map((list) => list.slice(1, -1)).join('')})`;
}

interface Fields {
  /** The value of the first field, unfolded and trimmed. */
  first(name: string): string | undefined;
  all(name: string): readonly string[];
}

function fieldsOf(header: Buffer): Fields {
  const text = header.toString('latin1', 0, Math.min(header.length, DEFAULT_LIMITS.headerOctets));
  const values = new Map<string, string[]>();
  for (let start = 0; start < text.length; ) {
    let end = lineEnd(text, start);
    while (isFolding(text.charCodeAt(end))) end = lineEnd(text, end);
    const colon = colonOf(text, start);
    if (colon >= 0) {
      const name = text.slice(start, colon).trimEnd().toLowerCase();
      if (FIELDS.has(name)) {
        const value = unfolded(text.slice(colon + 1, end));
        const before = values.get(name);
        if (before === undefined) values.set(name, [value]);
        else before.push(value);
      }
    }
    start = end;
  }
  return { first: (name) => values.get(name)?.[0], all: (name) => values.get(name) ?? [] };
}

function lineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at < 0 ? text.length : at + 1;
}

function isFolding(octet: number): boolean {
  return octet === SPACE || octet === TAB;
}

/** Returns -1 when the line has no short field name. */
function colonOf(text: string, start: number): number {
  const stop = start + LONGEST_NAME + 8;
  for (let at = start; at < stop; at++) {
    const octet = text.charCodeAt(at);
    if (octet === COLON) return at;
    if (octet === CR || Number.isNaN(octet)) return -1;
  }
  return -1;
}

function unfolded(value: string): string {
  const trimmed = value.trim();
  return /[\r\n]/.test(trimmed) ? trimmed.replace(/[ \t]*\r?\n[ \t]+|[\r\n]+/g, ' ') : trimmed;
}
