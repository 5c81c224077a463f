// Reads varints from octets that may be truncated or changed: a missing octet causes an error.
import { damagedPage } from './index-page.js';

/** Bits before the last octet of the longest number. */
const MOST_BITS = 28;

export class VarintReader {
  readonly octets: Uint8Array;
  at: number;
  readonly #end: number;

  constructor(octets: Uint8Array, start: number, end: number) {
    this.octets = octets;
    this.at = start;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.at === this.#end;
  }

  next(): number {
    const { at } = this;
    if (at >= this.#end) throw damagedPage('a number is cut');
    const octet = this.octets[at]!;
    if (octet >= 0x80) return this.#long();
    this.at = at + 1;
    return octet;
  }

  skip(numbers: number): void {
    const { octets } = this;
    const end = this.#end;
    let { at } = this;
    for (let left = numbers; left > 0; left--) {
      while (at < end && octets[at]! >= 0x80) at++;
      if (at >= end) throw damagedPage('a number is cut');
      at++;
    }
    this.at = at;
  }

  #long(): number {
    const { octets } = this;
    let value = 0;
    let { at } = this;
    for (let bits = 0; at < this.#end && bits <= MOST_BITS; bits += 7) {
      const octet = octets[at++]!;
      value |= (octet & 0x7f) << bits;
      if (octet >= 0x80) continue;
      this.at = at;
      return value >>> 0;
    }
    throw damagedPage('a number is cut');
  }
}
