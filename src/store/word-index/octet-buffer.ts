// A reusable buffer for writing, which grows. A writer first reserves octets, and then writes with the functions below, which
// take and return the position: this is several times as fast as methods that keep it.

/** Octets of the longest varint: numbers have up to 32 bits. */
export const LONGEST_VARINT = 5;
/** Up to this many octets, a loop copies faster than a call into the runtime. */
const FEW = 48;

export class OctetBuffer {
  octets: Uint8Array;
  length = 0;

  constructor(capacity: number) {
    this.octets = new Uint8Array(capacity);
  }

  /** Makes room for `count` more octets and returns the buffer. */
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

/** Writes a varint; returns the position after it. */
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

/** Copies octets; returns the position after them. */
export function putOctets(octets: Uint8Array, at: number, from: Uint8Array, start: number, end: number): number {
  const count = end - start;
  if (count <= FEW) for (let i = 0; i < count; i++) octets[at + i] = from[start + i]!;
  else octets.set(from.subarray(start, end), at);
  return at + count;
}
