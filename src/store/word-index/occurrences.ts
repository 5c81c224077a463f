// Every place of every word of some emails, in the order of the places; then sorted by word. Typed arrays are used again: an
// object an occurrence would cost more than all else.
import { endianness } from 'node:os';
import { NO_POSITION } from './index-page.js';
import { Vocabulary } from './vocabulary.js';

/** Words that are added at a time, at most. */
export const MOST_AT_ONCE = 10_000;
const FIRST_CAPACITY = 16 * 1024;
/** Larger arrays are given back. */
const KEPT_CAPACITY = 256 * 1024;
/** Of the different words of an email; the words of a longer text are not found. Each counts a little more than its octets. */
const EMAIL_OCTETS = 800_000;
const WORD_OCTETS = 8;
/** A key is five octets of a word, and where the word is. */
const KEY_OCTETS = 5;
const NUMBER_BITS = 24;
const NUMBERS = 2 ** NUMBER_BITS - 1;
/** The 32-bit halves of a key. */
const [HIGH, LOW] = endianness() === 'LE' ? [1, 0] : [0, 1];
/** Words that are sorted one by one. */
const FEW = 8;

export class Occurrences {
  readonly vocabulary = new Vocabulary();
  length = 0;
  /** Of each occurrence, with the number of its word in the vocabulary. */
  #words = new Int32Array(FIRST_CAPACITY);
  #ordinals = new Int32Array(FIRST_CAPACITY);
  #positions = new Int32Array(FIRST_CAPACITY);
  /** The same in the order of `words`. */
  #sortedOrdinals = new Int32Array(FIRST_CAPACITY);
  #sortedPositions = new Int32Array(FIRST_CAPACITY);
  /** What the words are sorted by. */
  #keys = new BigUint64Array(FIRST_CAPACITY);
  /** Of each word: how often it came, and in which email it came last. */
  #counts = new Int32Array(FIRST_CAPACITY);
  #lastOrdinals = new Int32Array(FIRST_CAPACITY);
  #ordinal = 0;
  #octets = 0;

  get isReusable(): boolean {
    return Math.max(this.#words.length, this.#counts.length) <= KEPT_CAPACITY;
  }

  get ordinals(): Int32Array {
    return this.#sortedOrdinals;
  }

  get positions(): Int32Array {
    return this.#sortedPositions;
  }

  clear(): void {
    this.vocabulary.clear();
    this.length = 0;
  }

  beginEmail(ordinal: number): void {
    this.#ordinal = ordinal;
    this.#octets = 0;
  }

  /** Words `from` to `to` of a field, of which the first is at `position`. Those from `end` on have none. */
  add(field: readonly string[], from: number, to: number, position: number, end: number): void {
    this.#reserve();
    const { vocabulary } = this;
    const ordinal = this.#ordinal;
    const [words, ordinals, positions] = [this.#words, this.#ordinals, this.#positions];
    const [counts, lastOrdinals] = [this.#counts, this.#lastOrdinals];
    let at = this.length;
    let known = vocabulary.size;
    for (let i = from; i < to; i++) {
      const word = vocabulary.numberOf(field[i]!);
      if (word === known) {
        known++;
        counts[word] = 0;
        lastOrdinals[word] = -1;
      }
      if (lastOrdinals[word] !== ordinal) {
        this.#octets += vocabulary.octetsOf(word) + WORD_OCTETS;
        if (this.#octets > EMAIL_OCTETS) break;
        lastOrdinals[word] = ordinal;
      }
      counts[word]!++;
      words[at] = word;
      ordinals[at] = ordinal;
      positions[at++] = position + i < end ? position + i : NO_POSITION;
    }
    this.length = at;
  }

  /** The words in the order of their octets, and by word where its occurrences end: they follow those of the word before. */
  sort(): { readonly words: Int32Array; readonly ends: Int32Array } {
    const words = this.#sortedWords();
    const counts = this.#counts;
    // From now on, where the next occurrence of each word goes.
    let place = 0;
    for (const word of words) {
      const count = counts[word]!;
      counts[word] = place;
      place += count;
    }
    if (this.#sortedOrdinals.length < this.length) {
      this.#sortedOrdinals = new Int32Array(this.#words.length);
      this.#sortedPositions = new Int32Array(this.#words.length);
    }
    const [occurrences, ordinals, positions] = [this.#words, this.#ordinals, this.#positions];
    const [sortedOrdinals, sortedPositions] = [this.#sortedOrdinals, this.#sortedPositions];
    for (let i = 0; i < this.length; i++) {
      const at = counts[occurrences[i]!]!++;
      sortedOrdinals[at] = ordinals[i]!;
      sortedPositions[at] = positions[i]!;
    }
    return { words, ends: counts };
  }

  #sortedWords(): Int32Array {
    const words = new Int32Array(this.vocabulary.size);
    for (let word = 0; word < words.length; word++) words[word] = word;
    this.#sortWords(words, 0);
    return words;
  }

  /** Of these words the octets before `offset` are the same. */
  #sortWords(words: Int32Array, offset: number): void {
    const { vocabulary } = this;
    const count = words.length;
    if (count <= FEW) {
      sortFew(words, vocabulary, offset);
      return;
    }
    const unsorted = words.slice();
    const keys = offset === 0 ? this.#firstKeys(count) : new BigUint64Array(count);
    const halves = new Uint32Array(keys.buffer, 0, 2 * count);
    for (let i = 0; i < count; i++) {
      const word = unsorted[i]!;
      halves[2 * i + HIGH] = vocabulary.fourOctets(word, offset);
      halves[2 * i + LOW] = vocabulary.octetAt(word, offset + 4) * (NUMBERS + 1) + i;
    }
    keys.sort();
    for (let i = 0; i < count; i++) words[i] = unsorted[halves[2 * i + LOW]! & NUMBERS]!;
    for (let from = 0; from < count; ) {
      const [high, low] = [halves[2 * from + HIGH], halves[2 * from + LOW]! >>> NUMBER_BITS];
      let to = from + 1;
      while (to < count && halves[2 * to + HIGH] === high && halves[2 * to + LOW]! >>> NUMBER_BITS === low) to++;
      // A word that is at its end is alone.
      if (to - from > 1 && low !== 0) this.#sortWords(words.subarray(from, to), offset + KEY_OCTETS);
      from = to;
    }
  }

  #firstKeys(count: number): BigUint64Array<ArrayBuffer> {
    if (this.#keys.length < count) this.#keys = new BigUint64Array(this.#counts.length);
    return this.#keys.subarray(0, count);
  }

  /** For as many words as are added at once. */
  #reserve(): void {
    const occurrences = this.length + MOST_AT_ONCE;
    if (occurrences > this.#words.length) {
      this.#words = grown(this.#words, occurrences);
      this.#ordinals = grown(this.#ordinals, occurrences);
      this.#positions = grown(this.#positions, occurrences);
    }
    const words = this.vocabulary.size + MOST_AT_ONCE;
    if (words <= this.#counts.length) return;
    this.#counts = grown(this.#counts, words);
    this.#lastOrdinals = grown(this.#lastOrdinals, words);
  }
}

function sortFew(words: Int32Array, vocabulary: Vocabulary, offset: number): void {
  for (let i = 1; i < words.length; i++) {
    const word = words[i]!;
    let at = i;
    for (; at > 0 && vocabulary.compare(word, words[at - 1]!, offset) < 0; at--) words[at] = words[at - 1]!;
    words[at] = word;
  }
}

function grown(numbers: Int32Array, needed: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(needed, 2 * numbers.length));
  larger.set(numbers);
  return larger;
}
