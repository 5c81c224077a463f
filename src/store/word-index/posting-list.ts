// Finds lists of postings in pages by their word.

import type { DocumentBitmap } from './document-bitmap.js';
import { damagedPage, type IndexPage } from './index-page.js';
import { PageEntries } from './page-entries.js';
import { VarintReader } from './varint-reader.js';

export interface PostingList {
  readonly octets: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly count: number;
  readonly lastDocId: number;
  readonly positions: Uint8Array;
  readonly positionsStart: number;
  readonly positionsEnd: number;
}

export interface WantedWord {
  /** In UTF-8. */
  readonly octets: Uint8Array;
  readonly isPrefix: boolean;
  readonly withPositions: boolean;
}

/** Lists of the word or, for a prefix, of all words that begin with it. `emails`: number of emails in the segment. */
export function listsIn(page: IndexPage, wanted: WantedWord, emails: number): PostingList[] {
  const { octets, isPrefix, withPositions } = wanted;
  const lists: PostingList[] = [];
  const entries = new PageEntries(page, withPositions);
  const { words, positions } = entries;
  // Number of octets of the wanted word with which the current entry's word begins.
  let matched = 0;
  while (entries.next()) {
    const { shared, restStart, restEnd } = entries;
    // The words differ where the previous ones did: this word comes after the wanted one, or still before it.
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
    if (!isPrefix && shared + restEnd - restStart > octets.length) break;
    if (entries.lastDocId >= emails) throw damagedPage('a docId is too large');
    const { listStart: start, listEnd: end, count, lastDocId, positionsStart, positionsEnd } = entries;
    lists.push({ octets: words, start, end, count, lastDocId, positions, positionsStart, positionsEnd });
  }
  return lists;
}

/** Adds the emails of the list to `hits`; with `isBodyOnly`, only those that have the word in the body part. */
export function markPostings(list: PostingList, isBodyOnly: boolean, hits: DocumentBitmap): void {
  const reader = new VarintReader(list.octets, list.start, list.end);
  const leastFlag = isBodyOnly ? 1 : 0;
  let docId = 0;
  while (!reader.isAtEnd) {
    const posting = reader.next();
    docId += posting >>> 1;
    if ((posting & 1) >= leastFlag) hits.add(docId);
  }
  if (docId !== list.lastDocId) throw damagedPage('a list ends elsewhere');
}
