// A set of ids, 16 octets each, in typed arrays: a search may find every email of a mailbox, and a merge goes through all of
// them.

export const ID_OCTETS = 16;
const ID_WORDS = 4;
const FIRST_SLOTS = 64;

export class IdSet {
  size = 0;
  /** The ids, with room for one more. */
  #octets = new Uint8Array((FIRST_SLOTS / 2) * ID_OCTETS);
  #words = new Uint32Array(this.#octets.buffer);
  /** Hash table of the ids' numbers, counted from 1, with linear probing; at most half full. */
  #slots = new Int32Array(FIRST_SLOTS);

  /** Returns false when the id is present already. */
  add(octets: Uint8Array, start: number): boolean {
    const end = this.size * ID_OCTETS;
    for (let i = 0; i < ID_OCTETS; i++) this.#octets[end + i] = octets[start + i]!;
    const slot = this.#slotOf(this.size);
    if (this.#slots[slot] !== 0) return false;
    this.#slots[slot] = ++this.size;
    if (this.size * 2 === this.#slots.length) this.#grow();
    return true;
  }

  /** The ids in the order in which they were added. */
  octets(): Uint8Array {
    return this.#octets.subarray(0, this.size * ID_OCTETS);
  }

  /** The slot that contains an id of `#octets`, or the free one that it would get. */
  #slotOf(index: number): number {
    const words = this.#words;
    const at = index * ID_WORDS;
    const [a, b, c, d] = [words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!];
    const mask = this.#slots.length - 1;
    let hash = Math.imul(a ^ Math.imul(b, 0x9e3779b1) ^ Math.imul(c, 0x85ebca6b) ^ d, 0xc2b2ae35);
    hash ^= hash >>> 15;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const other = (this.#slots[slot]! - 1) * ID_WORDS;
      if (other < 0) return slot;
      if (words[other + 3] === d && words[other + 2] === c && words[other + 1] === b && words[other] === a) return slot;
    }
  }

  #grow(): void {
    const octets = new Uint8Array(this.#octets.length * 2);
    octets.set(this.#octets);
    this.#octets = octets;
    this.#words = new Uint32Array(octets.buffer);
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let index = 0; index < this.size; index++) this.#slots[this.#slotOf(index)] = index + 1;
  }
}
