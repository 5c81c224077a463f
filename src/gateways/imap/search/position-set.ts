// A set of positions in a view, a bit each: searches join and divide such sets, 32 messages at a time.

export class PositionSet {
  /** Positions are below it. */
  readonly size: number;
  readonly #words: Uint32Array;

  constructor(size: number, words = new Uint32Array((size + 31) >>> 5)) {
    this.size = size;
    this.#words = words;
  }

  static of(size: number, positions: Iterable<number>): PositionSet {
    const set = new PositionSet(size);
    for (const position of positions) set.add(position);
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

  add(position: number): void {
    this.#words[position >>> 5]! |= 1 << (position & 31);
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
  }

  and(other: PositionSet): PositionSet {
    return new PositionSet(
      this.size,
      this.#words.map((word, i) => word & other.#words[i]!),
    );
  }

  or(other: PositionSet): PositionSet {
    return new PositionSet(
      this.size,
      this.#words.map((word, i) => word | other.#words[i]!),
    );
  }

  minus(other: PositionSet): PositionSet {
    return new PositionSet(
      this.size,
      this.#words.map((word, i) => word & ~other.#words[i]!),
    );
  }

  get isEmpty(): boolean {
    return this.#words.every((word) => word === 0);
  }

  get count(): number {
    let count = 0;
    for (const word of this.#words) count += bitsIn(word);
    return count;
  }

  /** Ascending. */
  positions(): Uint32Array {
    const positions = new Uint32Array(this.count);
    let at = 0;
    for (let i = 0; i < this.#words.length; i++) {
      for (let word = this.#words[i]!; word !== 0; word &= word - 1) {
        positions[at++] = (i << 5) + 31 - Math.clz32(word & -word);
      }
    }
    return positions;
  }
}

function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const nibbles = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
