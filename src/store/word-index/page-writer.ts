// Writes pages: words arrive in order, each with its postings in order. Words share pages while these are small enough for a row
// that the database does not store in parts; a longer list has its own pages.
import { BODY_POSITION, damagedPage, type IndexPage, NO_POSITION } from './index-page.js';
import { LONGEST_VARINT, OctetBuffer, putOctets, putVarint } from './octet-buffer.js';
import { binaryString, type PageEntries } from './page-entries.js';
import { VarintReader } from './varint-reader.js';

/**
 * Octets of words and positions together in a page that words share: with the rest of its row it fills a page of the database.
 */
const SHARED_OCTETS = 7_600;
/** A page of a long list ends once it has this many octets, and before it would exceed the limit `MOST_…`. */
const LIST_OCTETS = 3_000;
const MOST_LIST_OCTETS = 7_000;
const POSITIONS_OCTETS = 24_000;
const MOST_POSITIONS_OCTETS = 64_000;
/** Largest overhead of an entry, without the octets of its word, its list and its positions. */
const ENTRY_OCTETS = 6 * LONGEST_VARINT;
const FIRST_CAPACITY = 16 * 1024;
const FIRST_WORD_CAPACITY = 512;

export class PageWriter {
  /** Complete pages, in order; the caller takes them and empties the list. */
  readonly ready: IndexPage[] = [];
  /** The page that is being written. */
  readonly #words = new OctetBuffer(FIRST_CAPACITY);
  readonly #positions = new OctetBuffer(FIRST_CAPACITY);
  #firstWord = '';
  /** The word that is being written. */
  #word = new OctetBuffer(FIRST_WORD_CAPACITY);
  #otherWord = new OctetBuffer(FIRST_WORD_CAPACITY);
  /** The last word in the page. */
  #previous = this.#otherWord.octets;
  #previousStart = 0;
  #previousEnd = 0;
  /** Postings of the current word that are not in a page yet. */
  readonly #list = new OctetBuffer(FIRST_CAPACITY);
  readonly #listPositions = new OctetBuffer(FIRST_CAPACITY);
  #count = 0;
  #lastDocId = 0;
  /** Number of the word's postings that are in pages. */
  #written = 0;

  beginWord(octets: Uint8Array, start: number, end: number): void {
    const word = this.#word;
    word.length = 0;
    word.length = putOctets(word.reserve(end - start), 0, octets, start, end);
    this.#written = 0;
  }

  /** Writes a word of a single email, as most words of a small segment are. `octets` must not change until the end. */
  wordOfOne(
    octets: Uint8Array,
    start: number,
    end: number,
    docId: number,
    positions: Int32Array,
    from: number,
    to: number,
  ): void {
    const words = this.#words;
    const listPositions = this.#positions;
    const most = end - start + (1 + to - from) * LONGEST_VARINT + ENTRY_OCTETS;
    if (words.length + listPositions.length + most > SHARED_OCTETS) {
      this.beginWord(octets, start, end);
      this.posting(docId, positions, from, to);
      this.endWord();
      return;
    }
    const shared = this.#sharedOctets(octets, start, end);
    if (words.length === 0) this.#firstWord = binaryString(octets, start, end);
    this.#setPrevious(octets, start, end);
    const entry = words.reserve(most);
    let at = putVarint(entry, words.length, shared);
    at = putVarint(entry, at, end - start - shared);
    at = putOctets(entry, at, octets, start + shared, end);
    at = putVarint(entry, at, 1);
    at = putVarint(entry, at, docId);
    const posting = docId * 2 + (positions[to - 1]! >= BODY_POSITION ? 1 : 0);
    entry[at] = putVarint(entry, at + 1, posting) - at - 1;
    words.length = at + 1 + entry[at]!;
    const places = listPositions.reserve(most);
    const begin = listPositions.length + 1;
    let last = putPositions(places, begin, positions, from, to);
    const length = last - begin;
    if (length > 0x7f) {
      places.copyWithin(begin + 1, begin, last);
      last++;
    }
    putVarint(places, begin - 1, length);
    listPositions.length = last;
  }

  isWord(octets: Uint8Array, length: number): boolean {
    const word = this.#word;
    if (length !== word.length) return false;
    for (let i = length - 1; i >= 0; i--) if (octets[i] !== word.octets[i]) return false;
    return true;
  }

  /** Adds an email that has the word at these positions. */
  posting(docId: number, positions: Int32Array, from: number, to: number): void {
    this.#beginPosting(docId, positions[to - 1]! >= BODY_POSITION, 0, (1 + to - from) * LONGEST_VARINT);
    const { octets, length } = this.#listPositions;
    this.#listPositions.length = putPositions(octets, length, positions, from, to);
    this.#count++;
    this.#lastDocId = docId;
  }

  /** Adds an email that has the word, with its positions as a page has them. */
  copyPosting(docId: number, isInBody: boolean, positions: Uint8Array, start: number, end: number): void {
    this.#beginPosting(docId, isInBody, 0, end - start);
    this.#copyPositions(positions, start, end);
    this.#count++;
    this.#lastDocId = docId;
  }

  /** Adds all postings of an entry, whose docIds begin at `base` here. */
  copyPostings(entries: PageEntries, base: number): void {
    const { words, positions, listStart, listEnd, positionsStart, positionsEnd } = entries;
    const list = new VarintReader(words, listStart, listEnd);
    const first = list.next();
    this.#beginPosting(base + (first >>> 1), (first & 1) === 1, listEnd - list.at, positionsEnd - positionsStart);
    this.#list.length = putOctets(this.#list.octets, this.#list.length, words, list.at, listEnd);
    this.#copyPositions(positions, positionsStart, positionsEnd);
    this.#count += entries.count;
    this.#lastDocId = base + entries.lastDocId;
  }

  endWord(): void {
    if (this.#count === 0) return;
    if (this.#written > 0) {
      this.#writePart();
      return;
    }
    const word = this.#word;
    const shared = this.#sharedOctets(word.octets, 0, word.length);
    const octets = word.length + this.#list.length + this.#listPositions.length + ENTRY_OCTETS;
    if (octets > SHARED_OCTETS) {
      this.#writePart();
      return;
    }
    const isFull = this.#words.length + this.#positions.length + octets - shared > SHARED_OCTETS;
    if (isFull) this.end();
    if (this.#words.length === 0) this.#firstWord = this.#wordText();
    this.#writeEntry(isFull ? 0 : shared);
    this.#setPrevious(word.octets, 0, word.length);
    this.#word = this.#otherWord;
    this.#otherWord = word;
  }

  end(): void {
    if (this.#words.length > 0) this.#endPage(this.#firstWord, 0);
  }

  /** Makes room for a posting and for the octets that follow, and writes its distance. */
  #beginPosting(docId: number, isInBody: boolean, listOctets: number, positionOctets: number): void {
    const list = this.#list;
    const positions = this.#listPositions;
    if (this.#count > 0 && docId <= this.#lastDocId) throw damagedPage('postings are not in order');
    const isFull = list.length >= LIST_OCTETS || positions.length >= POSITIONS_OCTETS;
    const isTooMuch =
      list.length + listOctets > MOST_LIST_OCTETS || positions.length + positionOctets > MOST_POSITIONS_OCTETS;
    if (this.#count > 0 && (isFull || isTooMuch)) this.#writePart();
    list.reserve(LONGEST_VARINT + listOctets);
    positions.reserve(positionOctets);
    list.length = putVarint(list.octets, list.length, (docId - this.#lastDocId) * 2 + (isInBody ? 1 : 0));
  }

  #copyPositions(octets: Uint8Array, start: number, end: number): void {
    const positions = this.#listPositions;
    positions.length = putOctets(positions.octets, positions.length, octets, start, end);
  }

  /** Writes a page that has only postings of the current word. */
  #writePart(): void {
    if (this.#written === 0) this.end();
    const [part, count] = [this.#written, this.#count];
    this.#writeEntry(0);
    this.#endPage(this.#wordText(), part);
    this.#written = part + count;
  }

  #writeEntry(shared: number): void {
    const word = this.#word;
    const list = this.#list;
    const listPositions = this.#listPositions;
    const words = this.#words;
    const positions = this.#positions;
    const octets = words.reserve(word.length + list.length + ENTRY_OCTETS);
    let at = putVarint(octets, words.length, shared);
    at = putVarint(octets, at, word.length - shared);
    at = putOctets(octets, at, word.octets, shared, word.length);
    at = putVarint(octets, at, this.#count);
    at = putVarint(octets, at, this.#lastDocId);
    at = putVarint(octets, at, list.length);
    words.length = putOctets(octets, at, list.octets, 0, list.length);
    const places = positions.reserve(listPositions.length + LONGEST_VARINT);
    at = putVarint(places, positions.length, listPositions.length);
    positions.length = putOctets(places, at, listPositions.octets, 0, listPositions.length);
    list.length = 0;
    listPositions.length = 0;
    this.#count = 0;
    this.#lastDocId = 0;
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
    this.#previousEnd = this.#previousStart;
  }

  #setPrevious(octets: Uint8Array, start: number, end: number): void {
    this.#previous = octets;
    this.#previousStart = start;
    this.#previousEnd = end;
  }

  /** Number of octets that a word shares with the previous one in the page. */
  #sharedOctets(octets: Uint8Array, start: number, end: number): number {
    const previous = this.#previous;
    const previousStart = this.#previousStart;
    const previousLength = this.#previousEnd - previousStart;
    const most = Math.min(previousLength, end - start);
    let shared = 0;
    while (shared < most && previous[previousStart + shared] === octets[start + shared]) shared++;
    const isBehind =
      shared < most ? previous[previousStart + shared]! < octets[start + shared]! : end - start > previousLength;
    if (!isBehind) throw damagedPage('words are not in order');
    return shared;
  }

  #wordText(): string {
    return binaryString(this.#word.octets, 0, this.#word.length);
  }
}

/** Writes the count and the distances of positions. Returns the position after them. */
function putPositions(octets: Uint8Array, start: number, positions: Int32Array, from: number, to: number): number {
  let placed = 0;
  for (let i = from; i < to; i++) if (positions[i] !== NO_POSITION) placed++;
  let at = putVarint(octets, start, placed);
  let last = 0;
  for (let i = from; i < to; i++) {
    const position = positions[i]!;
    if (position === NO_POSITION) continue;
    at = putVarint(octets, at, position - last);
    last = position;
  }
  return at;
}
