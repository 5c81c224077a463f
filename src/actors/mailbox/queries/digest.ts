// A digest of numbers, 53 bits, the same on every node: two multiplicative hashes of 32 bits side by side. It tells states of one user's
// mailbox apart; it does not protect against somebody who looks for collisions.

const FIRST = 0x85ebca6b;
const SECOND = 0xc2b2ae35;

export class Digest {
  #first = 1;
  #second = 2;

  /** Adds the 32 low bits of the number's integer part. */
  add(number: number): this {
    const first = Math.imul(this.#first ^ number, FIRST);
    const second = Math.imul((this.#second + number) | 0, SECOND);
    this.#first = first ^ (first >>> 13) ^ (second >>> 7);
    this.#second = second ^ (second >>> 16);
    return this;
  }

  get value(): number {
    return (this.#first & 0x1fffff) * 2 ** 32 + (this.#second >>> 0);
  }
}
