// A set of positions in a view, a bit each: searches join and divide such sets, 32 messages at a time. What a method returns may be
// known to others: only whoever has made a set with `new` adds to it.

/** A count that is not known. */
const UNKNOWN = -1;

/** The last one that was asked for: searches of one folder follow each other. */
let lastWhole: PositionSet | undefined;

export class PositionSet {
  /** Positions are below it. */
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

  /** Positions of the numbers that have the bit. */
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

  /** Positions [start, end). */
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

  /** The positions below `size`, which is at most that of this set. */
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
    // Sets that are divided more than once know their count.
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

  /** Ascending. */
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

  /** Nothing is behind the last position. */
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
