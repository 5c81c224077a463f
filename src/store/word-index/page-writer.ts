// Writes pages: words come in order, each with its postings in order. Words share pages as long as these stay small enough for
// a row without parts elsewhere; a longer list has pages of its own.
import { BODY_POSITION, damagedPage, type IndexPage, NO_POSITION } from './index-page.js';
import { LONGEST_VARINT, OctetBuffer } from './octet-buffer.js';
import { binaryString, type PageEntries } from './page-entries.js';
import { VarintReader } from './varint-reader.js';

/** Of words and positions together, of a page that words share: with the rest of its row it fills a page of the database. */
const SHARED_OCTETS = 7_600;
/** A page of a long list ends once it has so much, and before it would have more than `MOST_`. */
const LIST_OCTETS = 3_000;
const MOST_LIST_OCTETS = 7_000;
const POSITIONS_OCTETS = 24_000;
const MOST_POSITIONS_OCTETS = 64_000;
/** What an entry has beside the octets of its word, its list and its positions, at most. */
const ENTRY_OCTETS = 6 * LONGEST_VARINT;
const FIRST_CAPACITY = 16 * 1024;
const FIRST_WORD_CAPACITY = 512;

export class PageWriter {
  /** Pages that are whole, in order; whoever takes them empties the list. */
  readonly ready: IndexPage[] = [];
  /** The page that is being written. */
  readonly #words = new OctetBuffer(FIRST_CAPACITY);
  readonly #positions = new OctetBuffer(FIRST_CAPACITY);
  #firstWord = '';
  /** The word that is being written, and the last one in the page. */
  #word = new OctetBuffer(FIRST_WORD_CAPACITY);
  #previous = new OctetBuffer(FIRST_WORD_CAPACITY);
  /** What is not in a page yet of the postings of the word. */
  readonly #list = new OctetBuffer(FIRST_CAPACITY);
  readonly #listPositions = new OctetBuffer(FIRST_CAPACITY);
  #count = 0;
  #lastOrdinal = 0;
  /** Postings of the word that are in pages. */
  #written = 0;

  beginWord(octets: Uint8Array, start: number, end: number): void {
    const word = this.#word;
    word.length = 0;
    word.reserve(end - start);
    word.copy(octets, start, end);
    this.#written = 0;
  }

  isWord(octets: Uint8Array, length: number): boolean {
    const word = this.#word;
    if (length !== word.length) return false;
    for (let i = length - 1; i >= 0; i--) if (octets[i] !== word.octets[i]) return false;
    return true;
  }

  /** An email with the word, at these positions. */
  posting(ordinal: number, positions: Int32Array, from: number, to: number): void {
    this.#beginPosting(ordinal, positions[to - 1]! >= BODY_POSITION, 0, (1 + to - from) * LONGEST_VARINT);
    let placed = 0;
    for (let at = from; at < to; at++) if (positions[at] !== NO_POSITION) placed++;
    const octets = this.#listPositions;
    octets.varint(placed);
    let last = 0;
    for (let at = from; at < to; at++) {
      const position = positions[at]!;
      if (position === NO_POSITION) continue;
      octets.varint(position - last);
      last = position;
    }
    this.#count++;
    this.#lastOrdinal = ordinal;
  }

  /** An email with the word, with positions as they are in a page. */
  copyPosting(ordinal: number, isInBody: boolean, positions: Uint8Array, start: number, end: number): void {
    this.#beginPosting(ordinal, isInBody, 0, end - start);
    this.#listPositions.copy(positions, start, end);
    this.#count++;
    this.#lastOrdinal = ordinal;
  }

  /** All postings of an entry, whose ordinals begin at `base` here. */
  copyPostings(entries: PageEntries, base: number): void {
    const { words, positions, listStart, listEnd, positionsStart, positionsEnd } = entries;
    const list = new VarintReader(words, listStart, listEnd);
    const first = list.next();
    this.#beginPosting(base + (first >>> 1), (first & 1) === 1, listEnd - list.at, positionsEnd - positionsStart);
    this.#list.copy(words, list.at, listEnd);
    this.#listPositions.copy(positions, positionsStart, positionsEnd);
    this.#count += entries.count;
    this.#lastOrdinal = base + entries.lastOrdinal;
  }

  endWord(): void {
    if (this.#count === 0) return;
    if (this.#written > 0) {
      this.#writePart();
      return;
    }
    const shared = this.#sharedOctets();
    const octets = this.#word.length + this.#list.length + this.#listPositions.length + ENTRY_OCTETS;
    if (octets > SHARED_OCTETS) {
      this.#writePart();
      return;
    }
    const isFull = this.#words.length + this.#positions.length + octets - shared > SHARED_OCTETS;
    if (isFull) this.end();
    if (this.#words.length === 0) this.#firstWord = this.#wordText();
    this.#writeEntry(isFull ? 0 : shared);
    const word = this.#previous;
    this.#previous = this.#word;
    this.#word = word;
  }

  end(): void {
    if (this.#words.length > 0) this.#endPage(this.#firstWord, 0);
  }

  /** Makes room for its octets and those of others behind it, and writes its distance. */
  #beginPosting(ordinal: number, isInBody: boolean, listOctets: number, positionOctets: number): void {
    const [list, positions] = [this.#list, this.#listPositions];
    if (this.#count > 0 && ordinal <= this.#lastOrdinal) throw damagedPage('postings are not in order');
    const isFull = list.length >= LIST_OCTETS || positions.length >= POSITIONS_OCTETS;
    const isTooMuch =
      list.length + listOctets > MOST_LIST_OCTETS || positions.length + positionOctets > MOST_POSITIONS_OCTETS;
    if (this.#count > 0 && (isFull || isTooMuch)) this.#writePart();
    list.reserve(LONGEST_VARINT + listOctets);
    positions.reserve(positionOctets);
    list.varint((ordinal - this.#lastOrdinal) * 2 + (isInBody ? 1 : 0));
  }

  /** A page with nothing but postings of the word. */
  #writePart(): void {
    if (this.#written === 0) this.end();
    const [part, count] = [this.#written, this.#count];
    this.#writeEntry(0);
    this.#endPage(this.#wordText(), part);
    this.#written = part + count;
  }

  #writeEntry(shared: number): void {
    const [word, list, listPositions] = [this.#word, this.#list, this.#listPositions];
    const [words, positions] = [this.#words, this.#positions];
    words.reserve(word.length + list.length + ENTRY_OCTETS);
    words.varint(shared);
    words.varint(word.length - shared);
    words.copy(word.octets, shared, word.length);
    words.varint(this.#count);
    words.varint(this.#lastOrdinal);
    words.varint(list.length);
    words.copy(list.octets, 0, list.length);
    positions.reserve(listPositions.length + LONGEST_VARINT);
    positions.varint(listPositions.length);
    positions.copy(listPositions.octets, 0, listPositions.length);
    list.length = 0;
    listPositions.length = 0;
    this.#count = 0;
    this.#lastOrdinal = 0;
  }

  #endPage(firstWord: string, part: number): void {
    const [words, positions] = [this.#words, this.#positions];
    this.ready.push({
      firstWord,
      part,
      words: words.octets.slice(0, words.length),
      positions: positions.octets.slice(0, positions.length),
    });
    words.length = 0;
    positions.length = 0;
    this.#previous.length = 0;
  }

  /** Of the word, with the one before it in the page. */
  #sharedOctets(): number {
    const [{ octets: previous, length: previousLength }, { octets: word, length }] = [this.#previous, this.#word];
    const most = Math.min(previousLength, length);
    let shared = 0;
    while (shared < most && previous[shared] === word[shared]) shared++;
    const isBehind = shared < most ? previous[shared]! < word[shared]! : length > previousLength;
    if (!isBehind) throw damagedPage('words are not in order');
    return shared;
  }

  #wordText(): string {
    return binaryString(this.#word.octets, 0, this.#word.length);
  }
}
