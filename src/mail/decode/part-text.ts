// The text of one text part: transfer encoding undone, charset decoded, format=flowed unwrapped (RFC 3676), line
// ends `\n`, nothing in it that JSON or PostgreSQL refuse. Works on the whole part: the caller bounds the octets.
import libmime from 'libmime';
import { decodeCharset } from './charset.js';
import { decodeTransfer } from './transfer.js';

/** What of an IndexedPart says how to read it. */
export interface TextPart {
  readonly subtype: string;
  readonly encoding: string;
  readonly params: Readonly<Record<string, string>>;
}

/** Html may name its charset inside (HTML §4.2.5), which counts only when the part's header does not. */
function htmlCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1024)).toString('latin1');
  return /<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(head)?.[1];
}

/** Never throws. */
export function textOf(part: TextPart, bytes: Uint8Array): string {
  const decoded = decodeTransfer(part.encoding, bytes);
  const charset = part.params['charset'] ?? (part.subtype === 'html' ? htmlCharset(decoded) : undefined);
  const text = storable(decodeCharset(decoded, charset)).replaceAll('\r\n', '\n');
  if (part.subtype !== 'plain' || part.params['format']?.toLowerCase() !== 'flowed') return text;
  return libmime.decodeFlowed(text, part.params['delsp']?.toLowerCase() === 'yes');
}

/** Without a byte order mark, and without NUL and lone surrogates, which jsonb and text columns refuse. */
function storable(text: string): string {
  const unmarked = text.startsWith('\ufeff') ? text.slice(1) : text;
  const whole = unmarked.includes('\0') ? unmarked.replaceAll('\0', '') : unmarked;
  return /\p{Cs}/u.test(whole) ? whole.replace(/\p{Cs}/gu, '\ufffd') : whole;
}
