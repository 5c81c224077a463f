// Identifiers: version 7 UUIDs (RFC 9562 §5.7), so that later ids sort after earlier ones; the caller passes the time and the random
// octets. Ids that are derived from what they identify have version 8 (§5.8).

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A buffer for the version 7 UUID in progress. */
const V7 = Buffer.alloc(16);

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Returns a version 7 UUID for `ms` since the epoch; `sequence` (0…4095) orders the ids of one millisecond; 8 octets are random. */
export function uuidV7(ms: number, sequence: number, random: Uint8Array): string {
  V7.writeUIntBE(ms, 0, 6);
  V7[6] = 0x70 | ((sequence >> 8) & 0xf);
  V7[7] = sequence & 0xff;
  V7.set(random.subarray(0, 8), 8);
  V7[8] = (V7[8]! & 0x3f) | 0x80;
  return uuidText(V7);
}

/** Returns a version 8 UUID from the first 16 octets of a digest. */
export function uuidV8(digest: Uint8Array): string {
  const octets = Uint8Array.from(digest.subarray(0, 16));
  octets[6] = (octets[6]! & 0x0f) | 0x80;
  octets[8] = (octets[8]! & 0x3f) | 0x80;
  return uuidText(octets);
}

/** Returns the time of a version 7 UUID, in ms since the epoch. */
export function uuidTime(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Returns the 16 octets of a UUID's text. */
export function uuidOctets(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

const HEX_DIGITS = Buffer.from('0123456789abcdef');
/** The values of hexadecimal digits, by their character codes. */
const DIGIT_VALUES = Uint8Array.from({ length: 128 }, (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0);
const TEXT = Buffer.from('00000000-0000-0000-0000-000000000000');
/** The position of each octet's digits in the text. */
const DIGITS_AT = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/**
 * Returns the text of the UUID whose 16 octets start at `offset`. It is written octet by octet, since mailboxes make thousands at a time.
 */
export function uuidText(octets: Uint8Array, offset = 0): string {
  for (let i = 0; i < 16; i++) {
    const octet = octets[offset + i]!;
    const at = DIGITS_AT[i]!;
    TEXT[at] = HEX_DIGITS[octet >> 4]!;
    TEXT[at + 1] = HEX_DIGITS[octet & 0xf]!;
  }
  return TEXT.toString('latin1');
}

/** Returns the four 32-bit words of a UUID's text. */
export function uuidWords(id: string): readonly [number, number, number, number] {
  return [wordAt(id, 0), wordAt(id, 4), wordAt(id, 8), wordAt(id, 12)];
}

/** Returns the word that begins with this octet. */
function wordAt(id: string, octet: number): number {
  let word = 0;
  for (let i = octet; i < octet + 4; i++) {
    const at = DIGITS_AT[i]!;
    word = (word << 8) | (DIGIT_VALUES[id.charCodeAt(at)]! << 4) | DIGIT_VALUES[id.charCodeAt(at + 1)]!;
  }
  return word >>> 0;
}
