// The end positions of a phrase's words in the emails that have them in sequence, kept as columns instead of one object per
// email.

import type { DocumentBitmap } from './document-bitmap.js';
import { damagedPage } from './index-page.js';
import type { PostingList } from './posting-list.js';
import { VarintReader } from './varint-reader.js';

const FIRST_CAPACITY = 64;

export class PhraseMatcher {
  /** Number of emails. */
  count = 0;
  #docIds = new Int32Array(FIRST_CAPACITY);
  /** The start of each email's positions in `#ends`, and the end of the last one's. */
  #starts = new Int32Array(FIRST_CAPACITY + 1);
  /** Positions of the last matched word. */
  #ends = new Int32Array(FIRST_CAPACITY);

  get docIds(): Int32Array {
    return this.#docIds.subarray(0, this.count);
  }

  /** Octets of memory. */
  get octets(): number {
    return this.#docIds.byteLength + this.#starts.byteLength + this.#ends.byteLength;
  }

  clear(): void {
    this.count = 0;
  }

  /** Adds the positions of the first word in marked emails. Positions before `first` do not count. */
  addFirst(list: PostingList, marks: DocumentBitmap, first: number): void {
    const postings = new PositionedPostings(list);
    while (postings.next()) {
      if (!marks.has(postings.docId)) {
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
      this.#endEmail(postings.docId, end);
    }
  }

  /**
   * Adds the positions of the next word that directly follow the matches in `before`. Parts of a longer list come in their order.
   */
  addNext(before: PhraseMatcher, list: PostingList): void {
    const postings = new PositionedPostings(list);
    let email = 0;
    while (email < before.count && postings.nextFrom(before.#docIds[email]!)) {
      email = before.#seek(postings.docId, email);
      if (email === before.count || before.#docIds[email] !== postings.docId) postings.skipPositions();
      else this.#addBehind(before, email, postings);
    }
  }

  #addBehind(before: PhraseMatcher, email: number, { docId, places, positions }: PositionedPostings): void {
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
    this.#endEmail(docId, end);
  }

  /** The first email from `from` on that does not come before the docId. */
  #seek(docId: number, from: number): number {
    const docIds = this.#docIds;
    const { count } = this;
    let low = from;
    let step = 1;
    while (low < count && docIds[low]! < docId) {
      low += step;
      step *= 2;
    }
    if (step <= 2) return low;
    // The email is among those that the last step passed over.
    let high = Math.min(low, count);
    low -= step / 2 - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (docIds[middle]! < docId) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Makes room for this many positions. Returns where they begin. */
  #beginEmail(places: number): number {
    if (this.count === this.#docIds.length) {
      this.#docIds = grown(this.#docIds, this.count + 1);
      this.#starts = grown(this.#starts, this.#docIds.length + 1);
    }
    const start = this.count === 0 ? 0 : this.#starts[this.count]!;
    if (start + places > this.#ends.length) this.#ends = grown(this.#ends, start + places);
    this.#starts[this.count] = start;
    return start;
  }

  #endEmail(docId: number, end: number): void {
    if (end === this.#starts[this.count]) return;
    this.#docIds[this.count] = docId;
    this.count++;
    this.#starts[this.count] = end;
  }
}

/** Reads the postings of a list, and reads or skips their positions in order. */
class PositionedPostings {
  readonly positions: VarintReader;
  docId = 0;
  /** Number of positions of the current posting. */
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
    this.docId += this.#postings.next() >>> 1;
    this.places = this.positions.next();
    if (this.docId > this.#list.lastDocId || this.places > this.positions.octets.length)
      throw damagedPage('a list ends elsewhere');
    return true;
  }

  /** Moves to the next posting that does not come before the docId: most postings of a frequent word are skipped. */
  nextFrom(docId: number): boolean {
    while (this.next()) {
      if (this.docId >= docId) return true;
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
