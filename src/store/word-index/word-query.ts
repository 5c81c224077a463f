// Finds the emails of a segment that the terms of a search match. It reads whole words first, then phrases, and finally prefixes,
// whose pages are read only once, so that they may be streamed.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SearchTerm } from '../../mail-format/words/search-text.js';
import { type SearchPart, SearchTooLarge } from '../search.js';
import { DocumentBitmap } from './document-bitmap.js';
import { BODY_POSITION, type IndexPage } from './index-page.js';
import { PhraseMatcher } from './phrase-matcher.js';
import { listsIn, markPostings, type PostingList, type WantedWord } from './posting-list.js';

export interface WordLookup {
  /** A binary string. */
  readonly word: string;
  readonly isPrefix: boolean;
}

/** Pages of a prefix may be streamed: they are read once, or never when other terms match nothing. */
export type LookupPages = readonly IndexPage[] | AsyncIterable<IndexPage>;

interface QueryTerm {
  /** Numbers of the lookups of its whole words, in their order. */
  readonly words: readonly number[];
  /** Number of the lookup of the prefix after them. */
  readonly prefix: number | undefined;
}

/** Octets of the phrase matches that are in memory together. */
const MOST_ENDS_OCTETS = 64 * 1024 * 1024;
/** Octets of lists or pages that are read in one turn of the event loop: about a millisecond of work. */
const STRETCH = 256 * 1024;
const NONE = new Uint32Array(0);

export class WordQuery {
  /** Whether pages must include their positions. */
  readonly needsPositions: boolean;
  /** The words and prefixes to look up, each once. */
  readonly lookups: readonly WordLookup[];
  readonly #terms: readonly QueryTerm[];
  readonly #wanted: readonly WantedWord[];
  readonly #isBodyOnly: boolean;
  readonly #mostEndsOctets: number;
  /** Octets read since the event loop had a turn. */
  #octets = 0;

  /** `terms`: at least one. */
  constructor(terms: readonly SearchTerm[], part: SearchPart, mostEndsOctets = MOST_ENDS_OCTETS) {
    this.#mostEndsOctets = mostEndsOctets;
    const lookups: WordLookup[] = [];
    const lookup = (text: string, isPrefix: boolean): number => {
      const word = Buffer.from(text).toString('latin1');
      const known = lookups.findIndex((each) => each.word === word && each.isPrefix === isPrefix);
      return known < 0 ? lookups.push({ word, isPrefix }) - 1 : known;
    };
    this.#terms = terms.map(({ words, prefix }) => ({
      words: (prefix ? words.slice(0, -1) : words).map((word) => lookup(word, false)),
      prefix: prefix ? lookup(words.at(-1)!, true) : undefined,
    }));
    this.lookups = lookups;
    this.needsPositions = terms.some(({ words }) => words.length > 1);
    this.#wanted = lookups.map(({ word, isPrefix }) => ({
      octets: Buffer.from(word, 'latin1'),
      isPrefix,
      withPositions: this.needsPositions,
    }));
    this.#isBodyOnly = part === 'body';
  }

  /**
   * Returns the matching docIds, ascending, in a segment with this many emails. `pages`: of each lookup, in order of first word
   * and part; they may contain other words too. Yields to the event loop between stretches of work, also across several calls.
   * @throws SearchTooLarge
   */
  async matches(emails: number, pages: readonly LookupPages[]): Promise<Uint32Array> {
    const lists = await this.#wholeWords(emails, pages);
    if (lists === undefined) return NONE;
    let marks = await this.#withWords(lists, emails);
    const phrases = new Map<QueryTerm, PhraseMatcher>();
    let octets = 0;
    for (const term of this.#terms) {
      if (term.words.length === 0 || (term.words.length === 1 && term.prefix === undefined)) continue;
      const ends = await this.#endsOf(term, lists, marks, octets);
      if (ends.count === 0) return NONE;
      marks = new DocumentBitmap(emails);
      for (const docId of ends.docIds) marks.add(docId);
      if (term.prefix === undefined) continue;
      phrases.set(term, ends);
      octets += ends.octets;
    }
    for (const [number, { isPrefix }] of this.#wanted.entries()) {
      if (!isPrefix) continue;
      for (const hits of await this.#withPrefix(number, pages[number]!, emails, phrases)) marks.intersect(hits);
      if (marks.isEmpty) return NONE;
    }
    return marks.docIds();
  }

  /** The lists of each lookup of a whole word; undefined when one has none. */
  async #wholeWords(emails: number, pages: readonly LookupPages[]): Promise<PostingList[][] | undefined> {
    const lists: PostingList[][] = [];
    for (const [number, wanted] of this.#wanted.entries()) {
      const some: PostingList[] = [];
      lists.push(some);
      if (wanted.isPrefix) continue;
      for await (const page of pages[number]!) some.push(...listsIn(page, wanted, emails));
      if (some.length === 0) return undefined;
    }
    return lists;
  }

  /** Returns the emails that have every whole word. `emails`: number of emails in the segment. */
  async #withWords(lists: readonly (readonly PostingList[])[], emails: number): Promise<DocumentBitmap> {
    const marks = DocumentBitmap.all(emails);
    for (const [number, some] of lists.entries()) {
      if (this.#wanted[number]!.isPrefix) continue;
      const hits = new DocumentBitmap(emails);
      for (const list of some) {
        markPostings(list, this.#isBodyOnly, hits);
        await this.#worked(list.end - list.start);
      }
      marks.intersect(hits);
    }
    return marks;
  }

  /** Returns the phrase matches of the whole words of a term. `octets`: of the matches that exist already. */
  async #endsOf(
    { words }: QueryTerm,
    lists: readonly (readonly PostingList[])[],
    marks: DocumentBitmap,
    octets: number,
  ): Promise<PhraseMatcher> {
    let ends = new PhraseMatcher();
    for (const [i, number] of words.entries()) {
      const before = ends;
      ends = new PhraseMatcher();
      for (const list of lists[number]!) {
        if (i === 0) ends.addFirst(list, marks, this.#isBodyOnly ? BODY_POSITION : 0);
        else ends.addNext(before, list);
        if (octets + before.octets + ends.octets > this.#mostEndsOctets) throw new SearchTooLarge('phrases');
        await this.#worked(list.positionsEnd - list.positionsStart);
      }
    }
    return ends;
  }

  /** Returns for each term with the prefix the emails that have it directly after the whole words of the term. */
  async #withPrefix(
    number: number,
    pages: LookupPages,
    emails: number,
    phrases: ReadonlyMap<QueryTerm, PhraseMatcher>,
  ): Promise<readonly DocumentBitmap[]> {
    const users = this.#terms
      .filter(({ prefix }) => prefix === number)
      .map((term) => ({ phrase: phrases.get(term), hits: new DocumentBitmap(emails) }));
    let ends: PhraseMatcher | undefined;
    for await (const page of pages) {
      for (const list of listsIn(page, this.#wanted[number]!, emails)) {
        for (const { phrase, hits } of users) {
          if (phrase === undefined) markPostings(list, this.#isBodyOnly, hits);
          else {
            ends ??= new PhraseMatcher();
            ends.clear();
            ends.addNext(phrase, list);
            for (const docId of ends.docIds) hits.add(docId);
          }
        }
      }
      await this.#worked(page.words.length + page.positions.length);
    }
    return users.map(({ hits }) => hits);
  }

  async #worked(octets: number): Promise<void> {
    this.#octets += octets;
    if (this.#octets < STRETCH) return;
    this.#octets = 0;
    await nextTurn();
  }
}
