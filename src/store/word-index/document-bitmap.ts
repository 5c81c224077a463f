// A set of the emails of a segment, with one bit per email: a search makes several such sets, so their memory matters.

const BITS = 32;

export class DocumentBitmap {
  readonly #words: Uint32Array;

  /** Makes an empty set for docIds below `size`. */
  constructor(size: number) {
    this.#words = new Uint32Array(Math.ceil(size / BITS));
  }

  static all(size: number): DocumentBitmap {
    const set = new DocumentBitmap(size);
    set.#words.fill(0xffff_ffff);
    if (size % BITS !== 0) set.#words[set.#words.length - 1] = 2 ** (size % BITS) - 1;
    return set;
  }

  get isEmpty(): boolean {
    return this.#words.every((word) => word === 0);
  }

  has(docId: number): boolean {
    return (this.#words[docId >>> 5]! & (1 << docId)) !== 0;
  }

  add(docId: number): void {
    this.#words[docId >>> 5]! |= 1 << docId;
  }

  /** Keeps only docIds that are also in the other set, which has the same size. */
  intersect(other: DocumentBitmap): void {
    const words = this.#words;
    const others = other.#words;
    for (let i = 0; i < words.length; i++) words[i]! &= others[i]!;
  }

  /** The docIds, ascending. */
  docIds(): Uint32Array {
    const words = this.#words;
    let count = 0;
    for (let i = 0; i < words.length; i++) if (words[i] !== 0) count += bitsOf(words[i]!);
    const docIds = new Uint32Array(count);
    let at = 0;
    for (let i = 0; at < count; i++) {
      for (let word = words[i]!; word !== 0; word &= word - 1) {
        docIds[at++] = i * BITS + 31 - Math.clz32(word & -word);
      }
    }
    return docIds;
  }
}

/** Counts the bits that are set. */
function bitsOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
