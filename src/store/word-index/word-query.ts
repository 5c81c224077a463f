// Which emails of a segment the terms of a search match. Whole words come first, then phrases, and at last beginnings, whose
// pages are read once, so that they may be streamed.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SearchTerm } from '../../mail/search-text.js';
import type { SearchPart } from '../search.js';
import { BODY_POSITION, type IndexPage } from './index-page.js';
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

/** Octets of pages that are read in one turn of the event loop: about a millisecond of work. */
const STRETCH = 256 * 1024;

export class WordQuery {
  /** Whether pages have to come with their positions. */
  readonly needsPositions: boolean;
  /** What has to be looked up: each word or beginning once. */
  readonly lookups: readonly WordLookup[];
  readonly #terms: readonly QueryTerm[];
  readonly #wanted: readonly WantedWord[];
  readonly #isBodyOnly: boolean;
  /** Octets of pages read since the event loop had a turn. */
  #octets = 0;

  /** `terms`: at least one. */
  constructor(terms: readonly SearchTerm[], part: SearchPart) {
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
   * other words too. Yields the event loop between stretches of work, also of several calls.
   */
  async matches(emails: number, pages: readonly LookupPages[]): Promise<Uint32Array> {
    const lists: PostingList[][] = [];
    for (const [number, wanted] of this.#wanted.entries()) {
      lists.push([]);
      if (wanted.isBeginning) continue;
      for await (const page of pages[number]!) {
        await this.#read(page);
        lists[number]!.push(...listsIn(page, wanted, emails));
      }
      if (lists[number]!.length === 0) return new Uint32Array(0);
    }
    let marks = this.#withWords(lists, new Uint8Array(emails).fill(1));
    const phrases = new Map<QueryTerm, PhraseEnds>();
    for (const term of this.#terms) {
      if (term.words.length + (term.beginning === undefined ? 0 : 1) < 2 || term.words.length === 0) continue;
      const [first, ...others] = term.words.map((number) => lists[number]!) as [PostingList[], ...PostingList[][]];
      let ends = PhraseEnds.ofFirstWord(first, marks, this.#isBodyOnly ? BODY_POSITION : 0);
      for (const other of others) ends = ends.withNext(other);
      if (ends.ordinals.length === 0) return new Uint32Array(0);
      const next = new Uint8Array(emails);
      for (const ordinal of ends.ordinals) next[ordinal] = 1;
      marks = next;
      phrases.set(term, ends);
    }
    for (const [number, wanted] of this.#wanted.entries()) {
      if (!wanted.isBeginning) continue;
      const users = this.#terms
        .filter(({ beginning }) => beginning === number)
        .map((term) => ({ phrase: phrases.get(term), hits: new Uint8Array(emails) }));
      for await (const page of pages[number]!) {
        await this.#read(page);
        const found = listsIn(page, wanted, emails);
        for (const { phrase, hits } of users) {
          if (phrase !== undefined) for (const [ordinal] of phrase.followedBy(found)) hits[ordinal] = marks[ordinal]!;
          else for (const list of found) markPostings(list, this.#isBodyOnly, marks, hits);
        }
      }
      marks = users.map(({ hits }) => hits).reduce(common);
      if (!marks.includes(1)) break;
    }
    return ordinalsOf(marks);
  }

  /** Emails of `marks` that have each whole word. */
  #withWords(lists: readonly (readonly PostingList[])[], marks: Uint8Array): Uint8Array {
    const whole = lists.filter((_, number) => !this.#wanted[number]!.isBeginning);
    return whole.reduce((from, some) => {
      const to = new Uint8Array(from.length);
      for (const list of some) markPostings(list, this.#isBodyOnly, from, to);
      return to;
    }, marks);
  }

  async #read({ words, positions }: IndexPage): Promise<void> {
    this.#octets += words.length + positions.length;
    if (this.#octets < STRETCH) return;
    this.#octets = 0;
    await nextTurn();
  }
}

function common(a: Uint8Array<ArrayBuffer>, b: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return a.map((mark, ordinal) => mark & b[ordinal]!);
}

function ordinalsOf(marks: Uint8Array): Uint32Array {
  let count = 0;
  for (const mark of marks) count += mark;
  const ordinals = new Uint32Array(count);
  for (let ordinal = 0, at = 0; at < count; ordinal++) if (marks[ordinal] === 1) ordinals[at++] = ordinal;
  return ordinals;
}
