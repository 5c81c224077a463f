// A set of positions in a view, as a bit set: searches combine such sets, 32 messages at a time. Results of methods may be
// shared, so only the code that creates a set with `new` may add to it.

/** Marks a count that is not known. */
const UNKNOWN = -1;

/** The last set of all positions, because searches of one folder often follow each other. */
let lastWhole: PositionSet | undefined;

export class PositionSet {
  /** All positions are below it. */
  readonly size: number;
  readonly #words: Uint32Array;
  #count = UNKNOWN;

  constructor(size: number, words = new Uint32Array((size + 31) >>> 5)) {
    this.size = size;
    this.#words = words;
  }

  static of(size: number, positions: Iterable<number>): PositionSet {
    const set = new PositionSet(size);
    for (const position of positions) set.add(position);
    return set;
  }

  static whole(size: number): PositionSet {
    if (lastWhole?.size === size) return lastWhole;
    const set = new PositionSet(size);
    set.#words.fill(0xffff_ffff);
    set.#cut();
    set.#count = size;
    lastWhole = set;
    return set;
  }

  /** Returns the positions of the numbers that have the bit. */
  static withBit(numbers: Uint16Array, bit: number): PositionSet {
    const words = new Uint32Array((numbers.length + 31) >>> 5);
    for (let i = 0, start = 0; i < words.length; i++, start += 32) {
      const end = Math.min(start + 32, numbers.length);
      let word = 0;
      for (let position = start; position < end; position++) {
        if ((numbers[position]! & bit) !== 0) word |= 1 << (position - start);
      }
      words[i] = word;
    }
    return new PositionSet(numbers.length, words);
  }

  get octets(): number {
    return this.#words.byteLength;
  }

  add(position: number): void {
    this.#words[position >>> 5]! |= 1 << (position & 31);
    this.#count = UNKNOWN;
  }

  /** Adds positions [start, end). */
  addRange(start: number, end: number): void {
    let at = start;
    while (at < end) {
      if ((at & 31) === 0 && end - at >= 32) {
        this.#words[at >>> 5] = 0xffff_ffff;
        at += 32;
      } else this.add(at++);
    }
    this.#count = UNKNOWN;
  }

  /** Returns the positions below `size`, which must not exceed that of this set. */
  below(size: number): PositionSet {
    if (size === this.size) return this;
    const set = new PositionSet(size, this.#words.slice(0, (size + 31) >>> 5));
    set.#cut();
    return set;
  }

  and(other: PositionSet): PositionSet {
    if (this.#count === this.size) return other;
    if (other.#count === other.size) return this;
    const [a, b] = [this.#words, other.#words];
    const words = new Uint32Array(a.length);
    for (let i = 0; i < words.length; i++) words[i] = a[i]! & b[i]!;
    return new PositionSet(this.size, words);
  }

  or(other: PositionSet): PositionSet {
    const [a, b] = [this.#words, other.#words];
    const words = new Uint32Array(a.length);
    for (let i = 0; i < words.length; i++) words[i] = a[i]! | b[i]!;
    return new PositionSet(this.size, words);
  }

  minus(other: PositionSet): PositionSet {
    if (other.#count === 0) return this;
    const [a, b] = [this.#words, other.#words];
    const words = new Uint32Array(a.length);
    for (let i = 0; i < words.length; i++) words[i] = a[i]! & ~b[i]!;
    const set = new PositionSet(this.size, words);
    // If this set has all positions, the count follows from that of the other set.
    if (this.#count === this.size) set.#count = this.size - other.count;
    return set;
  }

  get isEmpty(): boolean {
    return this.count === 0;
  }

  get count(): number {
    if (this.#count === UNKNOWN) {
      let count = 0;
      for (const word of this.#words) count += bitsIn(word);
      this.#count = count;
    }
    return this.#count;
  }

  /** Returns the positions in ascending order. */
  positions(): Uint32Array {
    const positions = new Uint32Array(this.count);
    if (positions.length === 0) return positions;
    let at = 0;
    for (let i = 0; i < this.#words.length; i++) {
      for (let word = this.#words[i]!; word !== 0; word &= word - 1) {
        positions[at++] = (i << 5) + 31 - Math.clz32(word & -word);
      }
    }
    return positions;
  }

  /** Clears the bits beyond the last position. */
  #cut(): void {
    const rest = this.size & 31;
    if (rest !== 0) this.#words[this.#words.length - 1]! &= (1 << rest) - 1;
  }
}

function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const nibbles = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
