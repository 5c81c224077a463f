// Writes pages: words come in order, each with its postings in order. Words share pages as long as these stay small enough for
// a row without parts elsewhere; a longer list has pages of its own.
import { damagedPage, type IndexPage } from './index-page.js';
import { OctetBuffer } from './octet-buffer.js';
import { binaryString } from './page-entries.js';

/** Of words and positions together, of a page that words share: with the rest of its row it fills a page of the database. */
const SHARED_OCTETS = 7_600;
/** A page of a long list ends once it has so much, and before it would have more than `MOST_`. */
const LIST_OCTETS = 3_000;
const MOST_LIST_OCTETS = 7_000;
const POSITIONS_OCTETS = 24_000;
const MOST_POSITIONS_OCTETS = 64_000;
const FIRST_CAPACITY = 16 * 1024;
const FIRST_WORD_CAPACITY = 512;

export class PageWriter {
  /** Pages that are whole, in order; whoever takes them empties the list. */
  readonly ready: IndexPage[] = [];
  /** The page of several words that is being written. */
  readonly #words = new OctetBuffer(FIRST_CAPACITY);
  readonly #positions = new OctetBuffer(FIRST_CAPACITY);
  readonly #previous = new OctetBuffer(FIRST_WORD_CAPACITY);
  #firstWord = '';
  /** The word that is being written, with what is not in a page yet of its postings. */
  readonly #word = new OctetBuffer(FIRST_WORD_CAPACITY);
  readonly #list = new OctetBuffer(FIRST_CAPACITY);
  readonly #listPositions = new OctetBuffer(FIRST_CAPACITY);
  #count = 0;
  #lastOrdinal = 0;
  /** Postings in pages already. */
  #written = 0;

  beginWord(octets: Uint8Array, start: number, end: number): void {
    this.#word.length = 0;
    this.#word.copy(octets, start, end);
    this.#written = 0;
    this.#clearList();
  }

  isWord(octets: Uint8Array, length: number): boolean {
    if (length !== this.#word.length) return false;
    const word = this.#word.octets;
    for (let i = length - 1; i >= 0; i--) if (octets[i] !== word[i]) return false;
    return true;
  }

  /** A posting of the word. Its positions follow. */
  posting(ordinal: number, isInBody: boolean, positions: number): void {
    this.#makeRoom(0, 0);
    this.#list.varint(this.#distance(ordinal) * 2 + (isInBody ? 1 : 0));
    this.#lastOrdinal = ordinal;
    this.#count++;
    this.#listPositions.varint(positions);
  }

  /** Of the last posting. */
  position(distance: number): void {
    this.#listPositions.varint(distance);
  }

  /** Positions of the last posting, as they are written. */
  copyPositions(octets: Uint8Array, start: number, end: number): void {
    this.#listPositions.copy(octets, start, end);
  }

  /** Postings as they are in a page, from the second on. The first one is `firstOrdinal`. */
  copyList(
    list: { readonly octets: Uint8Array; readonly start: number; readonly end: number },
    positions: { readonly octets: Uint8Array; readonly start: number; readonly end: number },
    first: { readonly ordinal: number; readonly isInBody: boolean },
    rest: { readonly count: number; readonly lastOrdinal: number },
  ): void {
    this.#makeRoom(list.end - list.start, positions.end - positions.start);
    this.#list.varint(this.#distance(first.ordinal) * 2 + (first.isInBody ? 1 : 0));
    this.#list.copy(list.octets, list.start, list.end);
    this.#listPositions.copy(positions.octets, positions.start, positions.end);
    this.#count += 1 + rest.count;
    this.#lastOrdinal = rest.lastOrdinal;
  }

  endWord(): void {
    if (this.#count === 0) return;
    if (this.#written > 0) {
      this.#writePart();
      return;
    }
    let shared = this.#sharedOctets();
    const octets = this.#list.length + this.#listPositions.length;
    const before = this.#words.length + this.#positions.length;
    // What an entry has besides.
    const most = this.#word.length + 4 * 5 + 4;
    if (before > 0 && before + octets + most - shared > SHARED_OCTETS) {
      this.#endPage();
      shared = 0;
    }
    if (octets + most > SHARED_OCTETS) {
      this.#writePart();
      return;
    }
    if (this.#words.length === 0) this.#firstWord = this.#wordText();
    this.#writeEntry(this.#words, this.#positions, shared);
    this.#previous.length = 0;
    this.#previous.copy(this.#word.octets, 0, this.#word.length);
  }

  end(): void {
    this.#endPage();
  }

  #distance(ordinal: number): number {
    if (this.#count === 0) return ordinal;
    if (ordinal <= this.#lastOrdinal) throw damagedPage('postings are not in order');
    return ordinal - this.#lastOrdinal;
  }

  #makeRoom(list: number, positions: number): void {
    if (this.#count === 0) return;
    const isFull = this.#list.length >= LIST_OCTETS || this.#listPositions.length >= POSITIONS_OCTETS;
    const isTooMuch =
      this.#list.length + list > MOST_LIST_OCTETS || this.#listPositions.length + positions > MOST_POSITIONS_OCTETS;
    if (isFull || isTooMuch) this.#writePart();
  }

  /** A page with nothing but postings of the word. */
  #writePart(): void {
    if (this.#written === 0) this.#endPage();
    const [part, count] = [this.#written, this.#count];
    this.#writeEntry(this.#words, this.#positions, 0);
    this.ready.push({
      firstWord: this.#wordText(),
      part,
      words: this.#words.take(),
      positions: this.#positions.take(),
    });
    this.#written = part + count;
    this.#previous.length = 0;
  }

  #writeEntry(words: OctetBuffer, positions: OctetBuffer, shared: number): void {
    const { octets, length } = this.#word;
    words.varint(shared);
    words.varint(length - shared);
    words.copy(octets, shared, length);
    words.varint(this.#count);
    words.varint(this.#lastOrdinal);
    words.varint(this.#list.length);
    words.copy(this.#list.octets, 0, this.#list.length);
    positions.varint(this.#listPositions.length);
    positions.copy(this.#listPositions.octets, 0, this.#listPositions.length);
    this.#clearList();
  }

  #clearList(): void {
    this.#count = 0;
    this.#lastOrdinal = 0;
    this.#list.length = 0;
    this.#listPositions.length = 0;
  }

  #endPage(): void {
    if (this.#words.length === 0) return;
    const [words, positions] = [this.#words.take(), this.#positions.take()];
    this.ready.push({ firstWord: this.#firstWord, part: 0, words, positions });
    this.#previous.length = 0;
  }

  /** With the word before it in the page. */
  #sharedOctets(): number {
    const [previous, word] = [this.#previous, this.#word];
    const length = Math.min(previous.length, word.length);
    let shared = 0;
    while (shared < length && previous.octets[shared] === word.octets[shared]) shared++;
    const isAfter =
      shared === previous.length
        ? word.length > shared
        : shared < word.length && previous.octets[shared]! < word.octets[shared]!;
    if (!isAfter && previous.length > 0) throw damagedPage('words are not in order');
    return shared;
  }

  #wordText(): string {
    return binaryString(this.#word.octets, 0, this.#word.length);
  }
}
