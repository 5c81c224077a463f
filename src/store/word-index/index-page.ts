// A page of an account's word index: words in the order of their UTF-8 octets, each with its list of postings, and separately the
// positions of each word in each email. Every page can be read without the others.
import { StoreFault } from '../errors.js';

export interface IndexPage {
  /** A binary string: each character is an octet of the word in UTF-8. */
  readonly firstWord: string;
  /** The number of postings in the previous pages, for a list that is longer than a page; otherwise 0. */
  readonly part: number;
  /**
   * Entries: number of octets shared with the previous word, number of octets that follow, these octets, count of postings, last
   * docId, octets of the list, the list. A posting is twice the distance to the previous docId, plus 1 when the body part has the
   * word. Numbers are varints.
   */
  readonly words: Uint8Array;
  /**
   * Each entry has its number of octets, and then for each posting a count and the distances from position to position. They may
   * be left out.
   */
  readonly positions: Uint8Array;
}

/** A segment: its emails are its documents, numbered from 0 (`docId`) in the order of `ids`, 16 octets each. */
export interface Segment {
  readonly ids: Uint8Array;
  readonly emails: number;
  /** The greatest id. */
  readonly lastId: string;
  readonly pages: readonly IndexPage[];
}

/** Positions in the body part begin here; those of header fields end well before. */
export const BODY_POSITION = 8_192;
/** The position of words that are far back in header fields: searches find them as single words, not in phrases. */
export const NO_POSITION = 0;

/** Segments of one level hold between 16^level and 16^(level + 1) emails. */
export function levelOf(emails: number): number {
  let level = 0;
  for (let most = 16; emails >= most; most *= 16) level++;
  return level;
}

export function damagedPage(problem: string): StoreFault {
  return new StoreFault('store-failed', `a page of the word index is damaged: ${problem}`, { temporary: false });
}
