// The different words of some emails, numbered in the order in which they occur, with their octets in UTF-8. Look-ups use a hash
// table with open addressing and compare its entries with the octets.
import { putOctets } from './octet-buffer.js';
import { binaryString } from './page-entries.js';

const FIRST_WORDS = 1_024;
const FIRST_OCTETS = 16 * 1024;
/** Octets after the last word that may be read. */
const READ_AHEAD = 4;
/** Numbers per word for comparison: its last four octets, the four before them, its length and its hash. */
const TOLD_BY = 4;
/** Words with at most this many octets are identified by these numbers alone. */
const FEW_OCTETS = 8;
/** Masks by the length of a word: which of the four octets belong to it. */
const LOW_MASKS = Int32Array.of(0, 0xff, 0xffff, 0xffffff, -1, -1, -1, -1, -1);
const HIGH_MASKS = Int32Array.of(0, 0, 0, 0, 0, 0xff, 0xffff, 0xffffff, -1);
/** Places of the table: at least twice the number of words. */
const FIRST_PLACES = 4 * 1024;
/** Larger tables are released. */
const KEPT_PLACES = 16 * 1024;
/**
 * A word may be in this many places after that of its hash. This bounds the search for words that an attacker chose for their
 * hashes; the rest are in `#others`.
 */
const MOST_TRIED = 32;

export class TermDictionary {
  /** Each place has the number of a word plus 1, or 0. */
  #table = new Int32Array(FIRST_PLACES);
  #tellings = new Int32Array(TOLD_BY * FIRST_WORDS);
  /** Words that have no place in the table. */
  readonly #others = new Map<string, number>();
  /** The octets of all words, concatenated. */
  octets = new Uint8Array(FIRST_OCTETS);
  /** The start of each word in `octets`, and the end of the last one. */
  starts = new Int32Array(FIRST_WORDS);
  size = 0;

  clear(): void {
    if (this.#table.length > KEPT_PLACES) this.#table = new Int32Array(FIRST_PLACES);
    else this.#table.fill(0);
    this.#others.clear();
    this.size = 0;
  }

  /** Returns the number of a word, which is added when it is new. The eight octets before `end` must be readable. */
  numberOf(octets: Uint8Array, start: number, end: number): number {
    const table = this.#table;
    const tellings = this.#tellings;
    const last = table.length - 1;
    const length = end - start;
    const few = Math.min(length, FEW_OCTETS);
    const low = fourBefore(octets, end) & LOW_MASKS[few]!;
    const high = fourBefore(octets, end - 4) & HIGH_MASKS[few]!;
    const hash = hashOf(low, high, length);
    for (let tried = 0; tried < MOST_TRIED; tried++) {
      const number = table[(hash + tried) & last]! - 1;
      if (number < 0) return this.#add(octets, start, end, low, high, hash);
      const telling = TOLD_BY * number;
      if (tellings[telling] !== low || tellings[telling + 1] !== high || tellings[telling + 2] !== length) continue;
      if (length <= FEW_OCTETS || this.#beginsWith(number, octets, start, end - FEW_OCTETS)) return number;
    }
    return this.#others.get(binaryString(octets, start, end)) ?? this.#add(octets, start, end, low, high, hash);
  }

  octetsOf(number: number): number {
    return this.starts[number + 1]! - this.starts[number]!;
  }

  /** Returns 0 after the end of the word. */
  octetAt(number: number, i: number): number {
    const at = this.starts[number]! + i;
    return at < this.starts[number + 1]! ? this.octets[at]! : 0;
  }

  fourOctets(number: number, from: number): number {
    const at = this.starts[number]! + from;
    const left = this.starts[number + 1]! - at;
    if (left <= 0) return 0;
    const { octets } = this;
    const four = (octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!;
    return (left < 4 ? four & (-1 << (8 * (4 - left))) : four) >>> 0;
  }

  /** Compares two words that are the same before `from`. */
  compare(a: number, b: number, from: number): number {
    const { octets, starts } = this;
    const aStart = starts[a]!;
    const bStart = starts[b]!;
    const aLength = starts[a + 1]! - aStart;
    const bLength = starts[b + 1]! - bStart;
    const length = Math.min(aLength, bLength);
    for (let i = from; i < length; i++) {
      const difference = octets[aStart + i]! - octets[bStart + i]!;
      if (difference !== 0) return difference;
    }
    return aLength - bLength;
  }

  #beginsWith(number: number, octets: Uint8Array, start: number, end: number): boolean {
    const own = this.octets;
    const ownStart = this.starts[number]!;
    for (let i = end - start - 1; i >= 0; i--) if (own[ownStart + i] !== octets[start + i]) return false;
    return true;
  }

  #add(octets: Uint8Array, start: number, end: number, low: number, high: number, hash: number): number {
    const number = this.size++;
    const ownStart = this.starts[number]!;
    this.#reserve(ownStart + end - start + READ_AHEAD);
    this.starts[number + 1] = putOctets(this.octets, ownStart, octets, start, end);
    const tellings = this.#tellings;
    const telling = TOLD_BY * number;
    tellings[telling] = low;
    tellings[telling + 1] = high;
    tellings[telling + 2] = end - start;
    tellings[telling + 3] = hash;
    if (2 * this.size > this.#table.length) this.#enlarge();
    else this.#place(number);
    return number;
  }

  #place(number: number): void {
    const table = this.#table;
    const first = this.#tellings[TOLD_BY * number + 3]!;
    for (let tried = 0; tried < MOST_TRIED; tried++) {
      const place = (first + tried) & (table.length - 1);
      if (table[place] !== 0) continue;
      table[place] = number + 1;
      return;
    }
    this.#others.set(binaryString(this.octets, this.starts[number]!, this.starts[number + 1]!), number);
  }

  #enlarge(): void {
    this.#table = new Int32Array(2 * this.#table.length);
    this.#others.clear();
    for (let number = 0; number < this.size; number++) this.#place(number);
  }

  #reserve(octets: number): void {
    if (octets > this.octets.length) {
      const larger = new Uint8Array(Math.max(octets, 2 * this.octets.length));
      larger.set(this.octets);
      this.octets = larger;
    }
    if (this.size < this.starts.length) return;
    const { starts } = this;
    this.starts = new Int32Array(2 * starts.length);
    this.starts.set(starts);
    const tellings = this.#tellings;
    this.#tellings = new Int32Array(2 * tellings.length);
    this.#tellings.set(tellings);
  }
}

function fourBefore(octets: Uint8Array, end: number): number {
  return (octets[end - 4]! << 24) | (octets[end - 3]! << 16) | (octets[end - 2]! << 8) | octets[end - 1]!;
}

function hashOf(low: number, high: number, length: number): number {
  const mixed = Math.imul(low, 0x9e3779b1) ^ Math.imul(high + length, 0x85ebca6b);
  return mixed ^ (Math.imul(mixed, 0x2c1b3c6d) >>> 16);
}
