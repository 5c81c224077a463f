// Which emails of a segment the terms of a search match. Whole words come first, then phrases, and at last beginnings, whose
// pages are read once, so that they may be streamed.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SearchTerm } from '../../mail/search-text.js';
import { type SearchPart, SearchTooLarge } from '../search.js';
import { BODY_POSITION, type IndexPage } from './index-page.js';
import { OrdinalSet } from './ordinal-set.js';
import { PhraseEnds } from './phrase-ends.js';
import { listsIn, markPostings, type PostingList, type WantedWord } from './posting-list.js';

export interface WordLookup {
  /** A binary string. */
  readonly word: string;
  readonly isBeginning: boolean;
}

/** Pages of a beginning may be streamed: they are read once, and not at all when other terms match nothing. */
export type LookupPages = readonly IndexPage[] | AsyncIterable<IndexPage>;

interface QueryTerm {
  /** Numbers of the lookups of its whole words, in their order. */
  readonly words: readonly number[];
  /** Of the beginning behind them. */
  readonly beginning: number | undefined;
}

/** Of the ends of phrases, which are in memory together. */
const MOST_ENDS_OCTETS = 64 * 1024 * 1024;
/** Octets of lists or pages that are read in one turn of the event loop: about a millisecond of work. */
const STRETCH = 256 * 1024;
const NONE = new Uint32Array(0);

export class WordQuery {
  /** Whether pages have to come with their positions. */
  readonly needsPositions: boolean;
  /** What has to be looked up: each word or beginning once. */
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
    const lookup = (text: string, isBeginning: boolean): number => {
      const word = Buffer.from(text).toString('latin1');
      const known = lookups.findIndex((each) => each.word === word && each.isBeginning === isBeginning);
      return known < 0 ? lookups.push({ word, isBeginning }) - 1 : known;
    };
    this.#terms = terms.map(({ words, prefix }) => ({
      words: (prefix ? words.slice(0, -1) : words).map((word) => lookup(word, false)),
      beginning: prefix ? lookup(words.at(-1)!, true) : undefined,
    }));
    this.lookups = lookups;
    this.needsPositions = terms.some(({ words }) => words.length > 1);
    this.#wanted = lookups.map(({ word, isBeginning }) => ({
      octets: Buffer.from(word, 'latin1'),
      isBeginning,
      withPositions: this.needsPositions,
    }));
    this.#isBodyOnly = part === 'body';
  }

  /**
   * Ordinals, ascending, in a segment of so many emails. `pages`: of each lookup, in order of first word and part; they may hold
   * other words too. Yields the event loop between stretches of work, also of several calls. @throws SearchTooLarge
   */
  async matches(emails: number, pages: readonly LookupPages[]): Promise<Uint32Array> {
    const lists = await this.#wholeWords(emails, pages);
    if (lists === undefined) return NONE;
    let marks = await this.#withWords(lists, emails);
    const phrases = new Map<QueryTerm, PhraseEnds>();
    let octets = 0;
    for (const term of this.#terms) {
      if (term.words.length === 0 || (term.words.length === 1 && term.beginning === undefined)) continue;
      const ends = await this.#endsOf(term, lists, marks, octets);
      if (ends.count === 0) return NONE;
      marks = new OrdinalSet(emails);
      for (const ordinal of ends.ordinals) marks.add(ordinal);
      if (term.beginning === undefined) continue;
      phrases.set(term, ends);
      octets += ends.octets;
    }
    for (const [number, { isBeginning }] of this.#wanted.entries()) {
      if (!isBeginning) continue;
      for (const hits of await this.#withBeginning(number, pages[number]!, emails, phrases)) marks.intersect(hits);
      if (marks.isEmpty) return NONE;
    }
    return marks.ordinals();
  }

  /** The lists of each lookup of a whole word; undefined when one has none. */
  async #wholeWords(emails: number, pages: readonly LookupPages[]): Promise<PostingList[][] | undefined> {
    const lists: PostingList[][] = [];
    for (const [number, wanted] of this.#wanted.entries()) {
      const some: PostingList[] = [];
      lists.push(some);
      if (wanted.isBeginning) continue;
      for await (const page of pages[number]!) some.push(...listsIn(page, wanted, emails));
      if (some.length === 0) return undefined;
    }
    return lists;
  }

  /** Emails of a segment of so many that have each whole word. */
  async #withWords(lists: readonly (readonly PostingList[])[], emails: number): Promise<OrdinalSet> {
    const marks = OrdinalSet.all(emails);
    for (const [number, some] of lists.entries()) {
      if (this.#wanted[number]!.isBeginning) continue;
      const hits = new OrdinalSet(emails);
      for (const list of some) {
        markPostings(list, this.#isBodyOnly, hits);
        await this.#worked(list.end - list.start);
      }
      marks.intersect(hits);
    }
    return marks;
  }

  /** Of the whole words of a term. `octets`: of the ends that are there already. */
  async #endsOf(
    { words }: QueryTerm,
    lists: readonly (readonly PostingList[])[],
    marks: OrdinalSet,
    octets: number,
  ): Promise<PhraseEnds> {
    let ends = new PhraseEnds();
    for (const [i, number] of words.entries()) {
      const before = ends;
      ends = new PhraseEnds();
      for (const list of lists[number]!) {
        if (i === 0) ends.addFirst(list, marks, this.#isBodyOnly ? BODY_POSITION : 0);
        else ends.addNext(before, list);
        if (octets + before.octets + ends.octets > this.#mostEndsOctets) throw new SearchTooLarge('phrases');
        await this.#worked(list.positionsEnd - list.positionsStart);
      }
    }
    return ends;
  }

  /** For each term with the beginning, the emails of a segment of so many that have it behind the whole words of the term. */
  async #withBeginning(
    number: number,
    pages: LookupPages,
    emails: number,
    phrases: ReadonlyMap<QueryTerm, PhraseEnds>,
  ): Promise<readonly OrdinalSet[]> {
    const users = this.#terms
      .filter(({ beginning }) => beginning === number)
      .map((term) => ({ phrase: phrases.get(term), hits: new OrdinalSet(emails) }));
    let ends: PhraseEnds | undefined;
    for await (const page of pages) {
      for (const list of listsIn(page, this.#wanted[number]!, emails)) {
        for (const { phrase, hits } of users) {
          if (phrase === undefined) markPostings(list, this.#isBodyOnly, hits);
          else {
            ends ??= new PhraseEnds();
            ends.clear();
            ends.addNext(phrase, list);
            for (const ordinal of ends.ordinals) hits.add(ordinal);
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
