// A list of ids as 16 octets each: one array instead of one string per id. As JSON it is the list of the ids' texts, so packets and their
// readers see ordinary ids.
import { uuidOctets, uuidText, uuidWords } from './ids.js';

const OCTETS = 16;

export class PackedIds implements Iterable<string> {
  readonly length: number;
  /** The list whose `rest` this one is. */
  readonly whole: PackedIds | undefined;
  #octets: Uint8Array | (() => Uint8Array);

  /** `octets` must not be changed. A function makes them when they are first read; the list then needs its length. */
  constructor(octets: Uint8Array | (() => Uint8Array), length = octets.length / OCTETS, whole?: PackedIds) {
    this.#octets = octets;
    this.length = length;
    this.whole = whole;
  }

  static of(ids: readonly string[]): PackedIds {
    const octets = new Uint8Array(ids.length * OCTETS);
    const view = new DataView(octets.buffer);
    for (let i = 0; i < ids.length; i++) {
      const words = uuidWords(ids[i]!);
      for (let w = 0; w < 4; w++) view.setUint32(i * OCTETS + w * 4, words[w]!);
    }
    return new PackedIds(octets);
  }

  /** Must not be changed. */
  get octets(): Uint8Array {
    if (typeof this.#octets === 'function') this.#octets = this.#octets();
    return this.#octets;
  }

  /** Returns all ids but the first; the octets are not copied. */
  get rest(): PackedIds {
    return new PackedIds(() => this.octets.subarray(OCTETS), this.length - 1, this);
  }

  has(id: string): boolean {
    const { octets } = this;
    const wanted = uuidOctets(id);
    for (let at = 0; at < octets.length; at += OCTETS) {
      // The comparison begins at the end, because ids of the same time begin alike.
      let i = OCTETS - 1;
      while (i >= 0 && octets[at + i] === wanted[i]) i--;
      if (i < 0) return true;
    }
    return false;
  }

  *[Symbol.iterator](): Iterator<string> {
    for (let at = 0; at < this.octets.length; at += OCTETS) yield uuidText(this.octets, at);
  }

  toJSON(): string[] {
    return [...this];
  }
}
