// ENVELOPE (RFC 9051 §7.5.2) from the octets of a header: encoded words and dates stay as written, folds become spaces. Of
// several fields of a name the first counts. The header is read as far as the MIME index reads it.
import { DEFAULT_LIMITS } from '../../../mail/mime-index/limits.js';
import { addressList } from './addresses.js';
import { octetString } from './strings.js';

const FIELDS = [
  'date',
  'subject',
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'bcc',
  'in-reply-to',
  'message-id',
] as const;
const POSITIONS = new Map<string, number>(FIELDS.map((name, position) => [name, position]));
const LONGEST_NAME = Math.max(...FIELDS.map((name) => name.length));
const COLON = 0x3a;
const SPACE = 0x20;
const TAB = 0x09;
const CR = 0x0d;

/** A binary string. */
export function envelopeOf(header: Buffer): string {
  const [date, subject, from, sender, replyTo, to, cc, bcc, inReplyTo, messageId] = fieldsOf(header);
  const author = addresses(from);
  const others = [addresses(sender, author), addresses(replyTo, author), addresses(to), addresses(cc), addresses(bcc)];
  return (
    `(${octetString(date ?? null)} ${octetString(subject ?? null)} ${author} ${others.join(' ')} ` +
    `${octetString(inReplyTo ?? null)} ${octetString(messageId ?? null)})`
  );
}

function addresses(field: string | undefined, none = 'NIL'): string {
  const list = field === undefined ? 'NIL' : addressList(field);
  return list === 'NIL' ? none : list;
}

/** The values of FIELDS, unfolded and trimmed. */
function fieldsOf(header: Buffer): (string | undefined)[] {
  const text = header.toString('latin1', 0, Math.min(header.length, DEFAULT_LIMITS.headerOctets));
  const values: (string | undefined)[] = new Array(FIELDS.length).fill(undefined);
  for (let start = 0; start < text.length; ) {
    let end = lineEnd(text, start);
    while (isFolding(text.charCodeAt(end))) end = lineEnd(text, end);
    const colon = colonOf(text, start);
    if (colon >= 0) {
      const position = POSITIONS.get(text.slice(start, colon).trimEnd().toLowerCase());
      if (position !== undefined) values[position] ??= unfolded(text.slice(colon + 1, end));
    }
    start = end;
  }
  return values;
}

function lineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at < 0 ? text.length : at + 1;
}

function isFolding(octet: number): boolean {
  return octet === SPACE || octet === TAB;
}

/** -1 when the line has no short field name. */
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
