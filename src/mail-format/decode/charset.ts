// Decodes octets in a named charset. iconv-lite reads the charsets that it knows, as in mailparser; TextDecoder reads the others, and
// libmime reads JIS X 0212, which TextDecoder lacks in ISO-2022-JP. Octets in an unknown charset are read as UTF-8 if they are valid UTF-8,
// otherwise as windows-1252, which never fails.
import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import libmime from 'libmime';

type Decode = (bytes: Uint8Array) => string;

/** Labels that do not tell how 8-bit octets are read. */
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

function lookUp(label: string): Decode | null {
  if (label === 'utf-8' || label === 'utf8') return (bytes) => UTF_8.decode(bytes);
  if (label.startsWith('iso-2022-jp')) return decodeJapanese;
  const name = libmime.normalizeCharset(label);
  if (iconv.encodingExists(name)) return (bytes) => iconv.decode(bytes, name);
  try {
    const decoder = new TextDecoder(label);
    return (bytes) => decoder.decode(bytes);
  } catch {
    return null;
  }
}

const UTF_8 = new TextDecoder('utf-8');
const ISO_2022_JP = new TextDecoder('iso-2022-jp');
/** The escape sequence that designates JIS X 0212 (RFC 2237). */
const JIS_X_0212 = Buffer.from('\x1b$(D');

function decodeJapanese(bytes: Uint8Array): string {
  const octets = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!octets.includes(JIS_X_0212)) return ISO_2022_JP.decode(octets);
  return libmime.decodeWord('iso-2022-jp', 'B', octets.toString('base64'));
}

function decoderOf(label: string): Decode | null {
  let decode = decoders.get(label);
  if (decode === undefined) {
    decode = lookUp(label);
    // Peers choose the labels, so the number of remembered ones is limited.
    if (decoders.size >= REMEMBERED) decoders.clear();
    decoders.set(label, decode);
  }
  return decode;
}

function normalLabel(charset: string): string {
  const label = charset.slice(0, 64).trim().toLowerCase();
  return /^[\w.:+-]*/.exec(label)![0];
}

/** Mail without a (useful) charset is most often UTF-8 or windows-1252. */
function decodeUndeclared(bytes: Uint8Array): string {
  // A slice may end within a character: the rest of the slice is still UTF-8.
  const whole = bytes.subarray(0, bytes.length - cutOctets(bytes));
  if (!isUtf8(whole)) return iconv.decode(bytes, 'windows-1252');
  const text = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString('utf8');
  return whole.length === bytes.length ? text : `${text}\ufffd`;
}

/** Returns the number of octets at the end that begin an incomplete UTF-8 sequence. */
function cutOctets(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const octet = bytes[bytes.length - back]!;
    if (octet < 0x80) return 0;
    if (octet >= 0xc0) return back < (octet >= 0xf0 ? 4 : octet >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

/** Returns the name of a charset that mailparser reads as Mansio does; undefined when Mansio must decode the octets itself. */
export function charsetOfMailparser(charset: string | undefined): string | undefined {
  const label = normalLabel(charset ?? '');
  // mailparser passes the text to iconv-lite in pieces, and iconv-lite misreads UTF-7 at the end of some pieces.
  if (UNDECLARED.has(label) || label.startsWith('iso-2022-jp') || /^utf-?7/.test(label)) return undefined;
  return iconv.encodingExists(libmime.normalizeCharset(label)) ? label : undefined;
}

/** Returns true when `decodeCharset` knows the charset by its name. */
export function isKnownCharset(charset: string): boolean {
  const label = normalLabel(charset);
  return label === 'us-ascii' || (!UNDECLARED.has(label) && decoderOf(label) !== null);
}

export function isUtf8OrUndeclared(charset: string | undefined): boolean {
  const label = normalLabel(charset ?? '');
  return UNDECLARED.has(label) || label === 'utf-8' || label === 'utf8';
}

/** Never throws; octets that cannot be decoded become U+FFFD. */
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
