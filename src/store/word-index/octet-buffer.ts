// Octets that are being written: a buffer that grows and is used again.

/** Octets of the longest varint: numbers have up to 32 bits. */
const LONGEST_VARINT = 5;
/** Fewer octets are copied faster here than by a call into the runtime. */
const FEW = 48;

export class OctetBuffer {
  octets: Uint8Array;
  length = 0;

  constructor(capacity: number) {
    this.octets = new Uint8Array(capacity);
  }

  reserve(octets: number): void {
    const needed = this.length + octets;
    if (needed <= this.octets.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.octets.length));
    grown.set(this.octets.subarray(0, this.length));
    this.octets = grown;
  }

  varint(value: number): void {
    this.reserve(LONGEST_VARINT);
    const { octets } = this;
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
    const count = end - start;
    this.reserve(count);
    const { octets, length } = this;
    if (count <= FEW) for (let i = 0; i < count; i++) octets[length + i] = from[start + i]!;
    else octets.set(from.subarray(start, end), length);
    this.length = length + count;
  }

  /** A copy. */
  take(): Uint8Array {
    const octets = this.octets.slice(0, this.length);
    this.length = 0;
    return octets;
  }
}
