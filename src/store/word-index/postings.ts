// Every position of every word of some emails, in the order in which they occur, and then sorted by word. Typed arrays are
// reused: one object per occurrence would cost more than everything else.
import { endianness } from 'node:os';
import type { Tokenizer } from '../../mail-format/words/tokenizer.js';
import { BODY_POSITION, NO_POSITION } from './index-page.js';
import { TermDictionary } from './term-dictionary.js';

/** This gap between fields prevents phrases across them. */
export const GAP = 10;
/** End of the positions in header fields: one gap before those of the body part. */
const HEADER_END = BODY_POSITION - GAP;
const FIRST_CAPACITY = 16 * 1024;
/** Larger arrays are released. */
const KEPT_CAPACITY = 256 * 1024;
/**
 * Limit for the different words of an email; later words of a longer text are not found. Each word counts WORD_OCTETS more than
 * its octets.
 */
const EMAIL_OCTETS = 800_000;
const WORD_OCTETS = 8;
/**
 * Limit for one word in the header fields of an email, and in its body part: later positions are not kept, so phrases are
 * bounded.
 */
const MOST_PLACES = 256;
/** A key consists of five octets of a word, and the position of the word in the unsorted list. */
const KEY_OCTETS = 5;
const NUMBER_BITS = 24;
const NUMBERS = 2 ** NUMBER_BITS - 1;
/** The 32-bit halves of a key. */
const [HIGH, LOW] = endianness() === 'LE' ? [1, 0] : [0, 1];
/** Up to this many words with the same key are sorted by insertion. */
const FEW = 8;
/** Words that are sorted by one key in one turn of the event loop, unless a single group has more: about 1 ms of work. */
const MOST_SORTED = 16 * 1024;

export class Postings {
  readonly dictionary = new TermDictionary();
  length = 0;
  /** The postings as columns; words are numbers in the dictionary. */
  #words = new Int32Array(FIRST_CAPACITY);
  #docIds = new Int32Array(FIRST_CAPACITY);
  #positions = new Int32Array(FIRST_CAPACITY);
  /** The postings in the order of the words. */
  #sortedDocIds = new Int32Array(FIRST_CAPACITY);
  #sortedPositions = new Int32Array(FIRST_CAPACITY);
  /** The sort keys, and the words before sorting. */
  #keys = new BigUint64Array(FIRST_CAPACITY);
  #unsorted = new Int32Array(FIRST_CAPACITY);
  /** Words sorted since the event loop had a turn. */
  #sorted = 0;
  /**
   * Columns of the words: the count of each, and after sorting where its postings end; the email and half in which it last
   * occurred, and how often there.
   */
  #counts = new Int32Array(FIRST_CAPACITY);
  #lastHalves = new Int32Array(FIRST_CAPACITY);
  #places = new Uint16Array(FIRST_CAPACITY);
  #docId = 0;
  #octets = 0;

  get isReusable(): boolean {
    return Math.max(this.#words.length, this.#counts.length) <= KEPT_CAPACITY;
  }

  /** The end of each word's sorted postings. */
  get ends(): Int32Array {
    return this.#counts;
  }

  get docIds(): Int32Array {
    return this.#sortedDocIds;
  }

  get positions(): Int32Array {
    return this.#sortedPositions;
  }

  clear(): void {
    this.dictionary.clear();
    this.length = 0;
  }

  beginEmail(docId: number): void {
    this.#docId = docId;
    this.#octets = 0;
  }

  /** Adds the words of a field, the first at `position`. Words of header fields after the last position get none. */
  add(tokenizer: Tokenizer, position: number, isInBody: boolean): void {
    if (this.#octets > EMAIL_OCTETS) return;
    const { octets, ends, count } = tokenizer;
    this.#reserve(count);
    const { dictionary } = this;
    const docId = this.#docId;
    const [words, docIds, positions] = [this.#words, this.#docIds, this.#positions];
    const [counts, lastHalves, places] = [this.#counts, this.#lastHalves, this.#places];
    const half = docId * 2 + (isInBody ? 1 : 0);
    const end = isInBody ? Number.POSITIVE_INFINITY : HEADER_END;
    let at = this.length;
    let known = dictionary.size;
    let { start } = tokenizer;
    for (let i = 0; i < count; i++) {
      const word = dictionary.numberOf(octets, start, tokenizer.endOfWord(start, ends[i]!));
      start = ends[i]!;
      if (word === known) {
        known++;
        counts[word] = 0;
        lastHalves[word] = -1;
      }
      if (lastHalves[word] !== half) {
        if (lastHalves[word]! >> 1 !== docId) {
          this.#octets += dictionary.octetsOf(word) + WORD_OCTETS;
          if (this.#octets > EMAIL_OCTETS) break;
        }
        lastHalves[word] = half;
        places[word] = 0;
      }
      if (places[word]! === MOST_PLACES) continue;
      places[word]!++;
      counts[word]!++;
      words[at] = word;
      docIds[at] = docId;
      positions[at++] = position + i < end ? position + i : NO_POSITION;
    }
    this.length = at;
  }

  /**
   * Sorts the words by their octets. Afterwards `place` puts the postings of each in its range. Yields between stretches of work.
   */
  *sort(): Generator<void, Int32Array, void> {
    const words = new Int32Array(this.dictionary.size);
    for (let word = 0; word < words.length; word++) words[word] = word;
    this.#sorted = 0;
    yield* this.#sortWords(words, 0, words.length, 0);
    const ends = this.#counts;
    let place = 0;
    for (const word of words) {
      const count = ends[word]!;
      ends[word] = place;
      place += count;
    }
    if (this.#sortedDocIds.length < this.length) {
      this.#sortedDocIds = new Int32Array(this.#words.length);
      this.#sortedPositions = new Int32Array(this.#words.length);
    }
    return words;
  }

  /** Puts the postings `from` to `to` into the ranges of their words. Once all are placed, `ends` has the end of each range. */
  place(from: number, to: number): void {
    const ends = this.#counts;
    const [words, docIds, positions] = [this.#words, this.#docIds, this.#positions];
    const [sortedDocIds, sortedPositions] = [this.#sortedDocIds, this.#sortedPositions];
    for (let i = from; i < to; i++) {
      const at = ends[words[i]!]!++;
      sortedDocIds[at] = docIds[i]!;
      sortedPositions[at] = positions[i]!;
    }
  }

  /** Sorts the words in [start, end), whose octets before `offset` are the same. */
  *#sortWords(words: Int32Array, start: number, end: number, offset: number): Generator<void, void, void> {
    this.#sorted += end - start;
    if (this.#sorted > MOST_SORTED) {
      yield;
      this.#sorted = end - start;
    }
    const alike = this.#sortByKeys(words, start, end, offset);
    for (let i = 0; i < alike.length; i += 2)
      yield* this.#sortWords(words, alike[i]!, alike[i + 1]!, offset + KEY_OCTETS);
  }

  /**
   * Sorts by the octets of a key, and small groups with the same key completely. Returns start and end of each other group with
   * the same key.
   */
  #sortByKeys(words: Int32Array, start: number, end: number, offset: number): readonly number[] {
    const { dictionary } = this;
    const count = end - start;
    if (this.#keys.length < count) {
      this.#keys = new BigUint64Array(this.#counts.length);
      this.#unsorted = new Int32Array(this.#counts.length);
    }
    const keys = this.#keys.subarray(0, count);
    const halves = new Uint32Array(keys.buffer, 0, 2 * count);
    const unsorted = this.#unsorted;
    for (let i = 0; i < count; i++) {
      const word = words[start + i]!;
      unsorted[i] = word;
      halves[2 * i + HIGH] = dictionary.fourOctets(word, offset);
      halves[2 * i + LOW] = dictionary.octetAt(word, offset + 4) * (NUMBERS + 1) + i;
    }
    keys.sort();
    for (let i = 0; i < count; i++) words[start + i] = unsorted[halves[2 * i + LOW]! & NUMBERS]!;
    const alike: number[] = [];
    for (let from = 0; from < count; ) {
      const [high, low] = [halves[2 * from + HIGH], halves[2 * from + LOW]! >>> NUMBER_BITS];
      let to = from + 1;
      while (to < count && halves[2 * to + HIGH] === high && halves[2 * to + LOW]! >>> NUMBER_BITS === low) to++;
      // Words that end within the key are unique.
      if (to - from > FEW && low !== 0) alike.push(start + from, start + to);
      else if (to - from > 1 && low !== 0) sortFew(words, start + from, start + to, dictionary, offset + KEY_OCTETS);
      from = to;
    }
    return alike;
  }

  /** Makes room for `count` more words. */
  #reserve(count: number): void {
    const postings = this.length + count;
    if (postings > this.#words.length) {
      this.#words = grown(this.#words, postings);
      this.#docIds = grown(this.#docIds, postings);
      this.#positions = grown(this.#positions, postings);
    }
    const words = this.dictionary.size + count;
    if (words <= this.#counts.length) return;
    this.#counts = grown(this.#counts, words);
    this.#lastHalves = grown(this.#lastHalves, words);
    const places = new Uint16Array(this.#counts.length);
    places.set(this.#places);
    this.#places = places;
  }
}

/** Sorts few words in [start, end) by insertion; their octets before `offset` are the same. */
function sortFew(words: Int32Array, start: number, end: number, dictionary: TermDictionary, offset: number): void {
  for (let i = start + 1; i < end; i++) {
    const word = words[i]!;
    let at = i;
    for (; at > start && dictionary.compare(word, words[at - 1]!, offset) < 0; at--) words[at] = words[at - 1]!;
    words[at] = word;
  }
}

function grown(numbers: Int32Array, needed: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(needed, 2 * numbers.length));
  larger.set(numbers);
  return larger;
}
