// Lists of postings as they are in pages, found by their word.
import { damagedPage, type IndexPage } from './index-page.js';
import type { OrdinalSet } from './ordinal-set.js';
import { PageEntries } from './page-entries.js';
import { VarintReader } from './varint-reader.js';

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

/** Adds the emails of the list to `hits`; with `isBodyOnly` those that have the word in the body part. */
export function markPostings(list: PostingList, isBodyOnly: boolean, hits: OrdinalSet): void {
  const reader = new VarintReader(list.octets, list.start, list.end);
  const leastFlag = isBodyOnly ? 1 : 0;
  let ordinal = 0;
  while (!reader.isAtEnd) {
    const posting = reader.next();
    ordinal += posting >>> 1;
    if ((posting & 1) >= leastFlag) hits.add(ordinal);
  }
  if (ordinal !== list.lastOrdinal) throw damagedPage('a list ends elsewhere');
}
