// Octets that are being written: a buffer that grows and is used again. Who writes reserves first, and writes with the functions
// below, which take and return where they are: this is several times as fast as methods that keep it.

/** Octets of the longest varint: numbers have up to 32 bits. */
export const LONGEST_VARINT = 5;
/** Fewer octets are copied faster here than by a call into the runtime. */
const FEW = 48;

export class OctetBuffer {
  octets: Uint8Array;
  length = 0;

  constructor(capacity: number) {
    this.octets = new Uint8Array(capacity);
  }

  /** Room for so many octets more, in what is returned. */
  reserve(count: number): Uint8Array {
    const needed = this.length + count;
    if (needed > this.octets.length) this.#grow(needed);
    return this.octets;
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, 2 * this.octets.length));
    grown.set(this.octets.subarray(0, this.length));
    this.octets = grown;
  }
}

/** Returns where it ends. */
export function putVarint(octets: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest > 0x7f) {
    octets[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  octets[at] = rest;
  return at + 1;
}

/** Returns where they end. */
export function putOctets(octets: Uint8Array, at: number, from: Uint8Array, start: number, end: number): number {
  const count = end - start;
  if (count <= FEW) for (let i = 0; i < count; i++) octets[at + i] = from[start + i]!;
  else octets.set(from.subarray(start, end), at);
  return at + count;
}
