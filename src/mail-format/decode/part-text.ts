// The text of one text part: transfer encoding and charset decoded, format=flowed unwrapped (RFC 3676), with line ends `\n` and without the
// characters that JSON or PostgreSQL refuse. The functions read the whole part: the caller limits its octets.
import type { OctetRange } from '../message-index.js';
import { decompressedRtf } from '../tnef/compressed-rtf.js';
import { rtfText } from '../tnef/rtf-text.js';
import { decodeCharset, isUtf8OrUndeclared } from './charset.js';
import { unwrapped } from './flowed.js';
import { decodeTransfer, isEncoded } from './transfer.js';

/** The fields of an IndexedPart that decide how its text is read. */
export interface TextPart {
  readonly subtype: string;
  readonly encoding: string;
  readonly params: Readonly<Record<string, string>>;
  /** The octets of the decoded part that are the text; undefined when all are. */
  readonly within?: OctetRange;
}

/** Never throws. */
export function textOf(part: TextPart, bytes: Uint8Array): string {
  const octets = decodeTransfer(part.encoding, bytes);
  return textOfOctets(part, part.within === undefined ? octets : octets.subarray(part.within.start, part.within.end));
}

/** Reads a part whose transfer encoding is decoded. Never throws. */
export function textOfOctets(part: TextPart, octets: Uint8Array): string {
  if (part.subtype === 'rtf') return storable(rtfText(decompressedRtf(octets)));
  const charset = part.params['charset'] ?? (part.subtype === 'html' ? htmlCharset(octets) : undefined);
  return textOfCharacters(part, decodeCharset(octets, charset));
}

/** Reads a part whose transfer encoding and charset are decoded. */
export function textOfCharacters(part: TextPart, characters: string): string {
  const text = storable(characters).replaceAll('\r\n', '\n');
  return isFlowed(part) ? unwrapped(text, part.params['delsp']?.toLowerCase() === 'yes') : text;
}

/** Returns true when the octets of the part are its text, in UTF-8 or an undeclared charset: no encoding and no format changes it. */
export function isVerbatim(part: TextPart): boolean {
  if (part.within !== undefined || part.subtype === 'rtf') return false;
  return !isEncoded(part.encoding) && !isFlowed(part) && isUtf8OrUndeclared(part.params['charset']);
}

function isFlowed({ subtype, params }: TextPart): boolean {
  return subtype === 'plain' && params['format']?.toLowerCase() === 'flowed';
}

/** HTML may name its charset inside (HTML §4.2.5); this counts only when the part's header names none. */
function htmlCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1024)).toString('latin1');
  return /<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(head)?.[1];
}

/** Removes a byte order mark and NUL, and replaces lone surrogates: jsonb and text columns refuse NUL and lone surrogates. */
export function storable(text: string): string {
  const unmarked = text.startsWith('\ufeff') ? text.slice(1) : text;
  const whole = unmarked.includes('\0') ? unmarked.replaceAll('\0', '') : unmarked;
  return /\p{Cs}/u.test(whole) ? whole.replace(/\p{Cs}/gu, '\ufffd') : whole;
}
