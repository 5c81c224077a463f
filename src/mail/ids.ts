// Identifiers: version 7 UUIDs (RFC 9562 §5.7), so later ids sort after earlier ones. The caller gives the clock and the
// random octets.

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** A version 7 UUID of `ms` since the epoch; `sequence` (0…4095) orders ids of one millisecond; 8 random octets. */
export function uuidV7(ms: number, sequence: number, random: Uint8Array): string {
  const hex = ms.toString(16).padStart(12, '0');
  let tail = '';
  for (let i = 0; i < 8; i++) {
    const octet = i === 0 ? (random[i]! & 0x3f) | 0x80 : random[i]!;
    tail += octet.toString(16).padStart(2, '0');
  }
  const middle = (0x7000 | (sequence & 0xfff)).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8)}-${middle}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}

/** The 16 octets of a UUID's text. */
export function uuidOctets(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** The text of the UUID whose 16 octets start at `offset`. */
export function uuidText(octets: Uint8Array, offset = 0): string {
  const hex = Buffer.from(octets.buffer, octets.byteOffset + offset, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
