// Octets that are being written: a buffer that grows and is used again. Who writes reserves first.

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

  /** Room for so many octets more. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed > this.octets.length) this.#grow(needed);
  }

  varint(value: number): void {
    const { octets } = this;
    // Nearly all.
    if (value < 0x80) {
      octets[this.length++] = value;
      return;
    }
    let at = this.length;
    let rest = value;
    while (rest > 0x7f) {
      octets[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    octets[at++] = rest;
    this.length = at;
  }

  copy(from: Uint8Array, start: number, end: number): void {
    const { octets, length } = this;
    const count = end - start;
    if (count <= FEW) for (let i = 0; i < count; i++) octets[length + i] = from[start + i]!;
    else octets.set(from.subarray(start, end), length);
    this.length = length + count;
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, 2 * this.octets.length));
    grown.set(this.octets.subarray(0, this.length));
    this.octets = grown;
  }
}
