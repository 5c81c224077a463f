// Where the words of a phrase end in the emails that have them one after the other: columns, not an object an email.
import { damagedPage } from './index-page.js';
import type { OrdinalSet } from './ordinal-set.js';
import type { PostingList } from './posting-list.js';
import { VarintReader } from './varint-reader.js';

const FIRST_CAPACITY = 64;

export class PhraseEnds {
  /** Of emails. */
  count = 0;
  #ordinals = new Int32Array(FIRST_CAPACITY);
  /** Where the positions of each email begin in `#ends`, and where those of the last one end. */
  #starts = new Int32Array(FIRST_CAPACITY + 1);
  /** Positions of the last word so far. */
  #ends = new Int32Array(FIRST_CAPACITY);

  get ordinals(): Int32Array {
    return this.#ordinals.subarray(0, this.count);
  }

  /** Of memory. */
  get octets(): number {
    return this.#ordinals.byteLength + this.#starts.byteLength + this.#ends.byteLength;
  }

  clear(): void {
    this.count = 0;
  }

  /** Those of the first word, of emails that are marked. Positions before `first` do not count. */
  addFirst(list: PostingList, marks: OrdinalSet, first: number): void {
    const postings = new PositionedPostings(list);
    while (postings.next()) {
      if (!marks.has(postings.ordinal)) {
        postings.skipPositions();
        continue;
      }
      const { positions } = postings;
      let end = this.#beginEmail(postings.places);
      let position = 0;
      for (let left = postings.places; left > 0; left--) {
        position += positions.next();
        if (position >= first) this.#ends[end++] = position;
      }
      this.#endEmail(postings.ordinal, end);
    }
  }

  /** Those of the word that follows. Lists of a longer list come in their order. */
  addNext(before: PhraseEnds, list: PostingList): void {
    const postings = new PositionedPostings(list);
    let email = 0;
    while (email < before.count && postings.nextFrom(before.#ordinals[email]!)) {
      email = before.#seek(postings.ordinal, email);
      if (email === before.count || before.#ordinals[email] !== postings.ordinal) postings.skipPositions();
      else this.#addBehind(before, email, postings);
    }
  }

  #addBehind(before: PhraseEnds, email: number, { ordinal, places, positions }: PositionedPostings): void {
    const ends = before.#ends;
    let at = before.#starts[email]!;
    const beforeEnd = before.#starts[email + 1]!;
    let end = this.#beginEmail(places);
    let position = 0;
    for (let left = places; left > 0; left--) {
      position += positions.next();
      while (at < beforeEnd && ends[at]! < position - 1) at++;
      if (at < beforeEnd && ends[at] === position - 1) this.#ends[end++] = position;
    }
    this.#endEmail(ordinal, end);
  }

  /** The first email from `from` on that does not come before the ordinal. */
  #seek(ordinal: number, from: number): number {
    const ordinals = this.#ordinals;
    const { count } = this;
    let low = from;
    let step = 1;
    while (low < count && ordinals[low]! < ordinal) {
      low += step;
      step *= 2;
    }
    if (step <= 2) return low;
    // It is among those that the last step passed over.
    let high = Math.min(low, count);
    low -= step / 2 - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ordinals[middle]! < ordinal) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Makes room for so many positions. Returns where they begin. */
  #beginEmail(places: number): number {
    if (this.count === this.#ordinals.length) {
      this.#ordinals = grown(this.#ordinals, this.count + 1);
      this.#starts = grown(this.#starts, this.#ordinals.length + 1);
    }
    const start = this.count === 0 ? 0 : this.#starts[this.count]!;
    if (start + places > this.#ends.length) this.#ends = grown(this.#ends, start + places);
    this.#starts[this.count] = start;
    return start;
  }

  #endEmail(ordinal: number, end: number): void {
    if (end === this.#starts[this.count]) return;
    this.#ordinals[this.count] = ordinal;
    this.count++;
    this.#starts[this.count] = end;
  }
}

/** The postings of a list, of which the positions are read or skipped one after the other. */
class PositionedPostings {
  readonly positions: VarintReader;
  ordinal = 0;
  /** How many positions there are. */
  places = 0;
  readonly #list: PostingList;
  readonly #postings: VarintReader;

  constructor(list: PostingList) {
    this.#list = list;
    this.#postings = new VarintReader(list.octets, list.start, list.end);
    this.positions = new VarintReader(list.positions, list.positionsStart, list.positionsEnd);
  }

  next(): boolean {
    if (this.#postings.isAtEnd) return false;
    this.ordinal += this.#postings.next() >>> 1;
    this.places = this.positions.next();
    if (this.ordinal > this.#list.lastOrdinal || this.places > this.positions.octets.length)
      throw damagedPage('a list ends elsewhere');
    return true;
  }

  /** The next one that does not come before the ordinal: most postings of a frequent word are passed over. */
  nextFrom(ordinal: number): boolean {
    while (this.next()) {
      if (this.ordinal >= ordinal) return true;
      this.positions.skip(this.places);
    }
    return false;
  }

  skipPositions(): void {
    this.positions.skip(this.places);
  }
}

function grown(numbers: Int32Array, needed: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(needed, 2 * numbers.length));
  larger.set(numbers);
  return larger;
}
