// Octets to text in a named charset. The platform's TextDecoder (WHATWG encodings, native) does what it knows,
// iconv-lite the rest (UTF-7, UTF-32, code pages); a charset nobody knows is read as UTF-8 where that is valid
// and as windows-1252 otherwise, which never fails.
import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import libmime from 'libmime';

type Decode = (bytes: Uint8Array) => string;

/** Labels that say nothing about 8-bit octets. */
const UNDECLARED = new Set([
  '',
  'us-ascii',
  'ascii',
  'ansi_x3.4-1968',
  'unknown-8bit',
  'unknown',
  'x-unknown',
  'default',
]);

const REMEMBERED = 256;
const decoders = new Map<string, Decode | null>();

function native(label: string): Decode | null {
  try {
    const decoder = new TextDecoder(label);
    // Node's own takes windows-1252 (and latin1, which means it) for ISO 8859-1: no euro sign, no quotes.
    if (decoder.encoding === 'windows-1252') return (bytes) => iconv.decode(bytes, 'windows-1252');
    return (bytes) => decoder.decode(bytes);
  } catch {
    return null;
  }
}

function lookUp(label: string): Decode | null {
  const known = native(label) ?? native(libmime.normalizeCharset(label));
  if (known !== null) return known;
  if (label.startsWith('iso-2022-jp')) return native('iso-2022-jp');
  return iconv.encodingExists(label) ? (bytes) => iconv.decode(bytes, label) : null;
}

function decoderOf(label: string): Decode | null {
  let decode = decoders.get(label);
  if (decode === undefined) {
    decode = lookUp(label);
    // Peers choose the labels, so what is remembered of them is bounded.
    if (decoders.size >= REMEMBERED) decoders.clear();
    decoders.set(label, decode);
  }
  return decode;
}

function normalLabel(charset: string): string {
  const label = charset.slice(0, 64).trim().toLowerCase();
  return /^[\w.:+-]*/.exec(label)![0];
}

/** UTF-8 where the octets are, else windows-1252: what mail without a (useful) charset most often is. */
function decodeUndeclared(bytes: Uint8Array): string {
  // A slice may end within a character, which does not make the rest of it something else.
  const whole = bytes.subarray(0, bytes.length - cutOctets(bytes));
  if (!isUtf8(whole)) return iconv.decode(bytes, 'windows-1252');
  const text = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString('utf8');
  return whole.length === bytes.length ? text : `${text}\ufffd`;
}

/** How many octets at the end are the start of a longer UTF-8 sequence. */
function cutOctets(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const octet = bytes[bytes.length - back]!;
    if (octet < 0x80) return 0;
    if (octet >= 0xc0) return back < (octet >= 0xf0 ? 4 : octet >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

/** Never throws; what cannot be decoded becomes U+FFFD. */
export function decodeCharset(bytes: Uint8Array, charset: string | undefined): string {
  const label = normalLabel(charset ?? '');
  if (UNDECLARED.has(label)) return decodeUndeclared(bytes);
  const decode = decoderOf(label);
  if (decode === null) return decodeUndeclared(bytes);
  try {
    return decode(bytes);
  } catch {
    return decodeUndeclared(bytes);
  }
}
