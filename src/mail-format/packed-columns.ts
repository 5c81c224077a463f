// Encodes columns of numbers as text: base64 of the little-endian octets. Replies about the messages of a folder contain them, and gateways
// decode them: a folder of 10,000 messages is a few strings instead of 10,000 objects.
import { Buffer } from 'node:buffer';

/** The bit for `\Deleted` in a packed flag column; the lower bits are those of mail/flags. */
export const DELETED_BIT = 0x8000;

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

export const packUids = (uids: Uint32Array): string => packed(uids);
export const packFlags = (flags: Uint16Array): string => packed(flags);
/** Octets of messages; each is below 4 GiB. */
export const packSizes = (sizes: Uint32Array): string => packed(sizes);
/** Ids of emails, four words each (mail/ids `uuidWords`). */
export const packIds = (words: Uint32Array): string => packed(words);
export const packModseqs = (modseqs: Float64Array): string => packed(modseqs);

/** @throws RangeError when the text does not hold a whole number of entries */
export const unpackUids = (text: string): Uint32Array => new Uint32Array(octetsOf(text, 4));
/** @throws RangeError when the text does not hold a whole number of entries */
export const unpackSizes = (text: string): Uint32Array => new Uint32Array(octetsOf(text, 4));
/** @throws RangeError when the text does not hold a whole number of words */
export const unpackIds = (text: string): Uint32Array => new Uint32Array(octetsOf(text, 4));
/** @throws RangeError when the text does not hold a whole number of entries */
export const unpackFlags = (text: string): Uint16Array => new Uint16Array(octetsOf(text, 2));
/** @throws RangeError when the text does not hold a whole number of entries */
export const unpackModseqs = (text: string): Float64Array => new Float64Array(octetsOf(text, 8));

function packed({ buffer, byteOffset, byteLength, BYTES_PER_ELEMENT: size }: Uint32Array | Uint16Array | Float64Array) {
  const octets = Buffer.from(buffer, byteOffset, byteLength);
  return (IS_LITTLE_ENDIAN ? octets : swapped(Buffer.from(octets), size)).toString('base64');
}

/** Returns a new buffer, which is aligned for every type of column. */
function octetsOf(text: string, size: number): ArrayBuffer {
  const octets = new Uint8Array(Buffer.byteLength(text, 'base64'));
  const view = Buffer.from(octets.buffer);
  view.write(text, 'base64');
  if (!IS_LITTLE_ENDIAN) swapped(view, size);
  return octets.buffer;
}

function swapped(octets: Buffer, size: number): Buffer {
  return size === 2 ? octets.swap16() : size === 4 ? octets.swap32() : octets.swap64();
}
