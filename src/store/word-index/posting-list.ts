// Lists of postings as they are in pages: found by their word, and read.
import { damagedPage, type IndexPage } from './index-page.js';
import { afterVarint, PageEntries, varintAt } from './page-entries.js';

export interface PostingList {
  readonly octets: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly count: number;
  readonly lastOrdinal: number;
  readonly positions: Uint8Array;
  readonly positionsStart: number;
  readonly positionsEnd: number;
}

export interface WantedWord {
  /** In UTF-8. */
  readonly octets: Uint8Array;
  readonly isBeginning: boolean;
  readonly withPositions: boolean;
}

/** Those of the word or, of a beginning, of all words that begin so. `emails`: of the segment. */
export function listsIn(page: IndexPage, wanted: WantedWord, emails: number): PostingList[] {
  const { octets, isBeginning, withPositions } = wanted;
  const lists: PostingList[] = [];
  const entries = new PageEntries(page, withPositions);
  const { words, positions } = entries;
  // Octets of the wanted word with which the word of the entry begins.
  let matched = 0;
  while (entries.next()) {
    const { shared, restStart, restEnd } = entries;
    // The words differ where those before did: this one comes behind the wanted word, or still before it.
    if (shared < matched) break;
    if (matched < octets.length) {
      if (shared > matched) continue;
      let at = restStart;
      while (at < restEnd && matched < octets.length && words[at] === octets[matched]) {
        at++;
        matched++;
      }
      if (matched < octets.length) {
        if (at < restEnd && words[at]! > octets[matched]!) break;
        continue;
      }
    }
    if (!isBeginning && shared + restEnd - restStart > octets.length) break;
    if (entries.lastOrdinal >= emails) throw damagedPage('an ordinal is too large');
    const { listStart: start, listEnd: end, count, lastOrdinal, positionsStart, positionsEnd } = entries;
    lists.push({ octets: words, start, end, count, lastOrdinal, positions, positionsStart, positionsEnd });
  }
  return lists;
}

/** Sets `to` as `from` is for each email of the list; with `isBodyOnly` of those that have the word in the body part. */
export function markPostings(list: PostingList, isBodyOnly: boolean, from: Uint8Array, to: Uint8Array): void {
  const { octets, end } = list;
  let ordinal = 0;
  for (let at = list.start; at < end; ) {
    let posting = octets[at]!;
    if (posting < 0x80) at++;
    else {
      posting = varintAt(octets, at, end);
      at = afterVarint(octets, at);
    }
    ordinal += posting >>> 1;
    if (!isBodyOnly || (posting & 1) === 1) to[ordinal] = from[ordinal]!;
  }
  if (ordinal !== list.lastOrdinal) throw damagedPage('a list ends elsewhere');
}

/** Goes through a list with its positions. */
export class PostingReader {
  ordinal = 0;
  readonly #list: PostingList;
  #read = 0;
  #at: number;
  #positionsAt: number;
  /** Positions of this posting that are not read. */
  #left = 0;

  constructor(list: PostingList) {
    this.#list = list;
    this.#at = list.start;
    this.#positionsAt = list.positionsStart;
  }

  /** False after the last posting. */
  next(): boolean {
    const { octets, end, count, lastOrdinal } = this.#list;
    for (; this.#left > 0; this.#left--) this.#position();
    if (this.#read === count) {
      if (this.ordinal !== lastOrdinal) throw damagedPage('a list ends elsewhere');
      return false;
    }
    this.ordinal += varintAt(octets, this.#at, end) >>> 1;
    this.#at = afterVarint(octets, this.#at);
    this.#read++;
    if (this.ordinal > lastOrdinal) throw damagedPage('a list ends elsewhere');
    this.#left = this.#position();
    return true;
  }

  /** Those of this posting, ascending, from `first` on. */
  positions(first: number): number[] {
    const positions: number[] = [];
    for (let position = 0; this.#left > 0; this.#left--) {
      position += this.#position();
      if (position >= first) positions.push(position);
    }
    return positions;
  }

  #position(): number {
    const { positions, positionsEnd } = this.#list;
    const value = varintAt(positions, this.#positionsAt, positionsEnd);
    this.#positionsAt = afterVarint(positions, this.#positionsAt);
    return value;
  }
}
