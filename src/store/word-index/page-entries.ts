// Reads the entries of a page one by one. It checks what a page states about itself, so that truncated or changed octets cause an
// error.
import { damagedPage, type IndexPage } from './index-page.js';
import { VarintReader } from './varint-reader.js';

export class PageEntries {
  readonly words: Uint8Array;
  readonly positions: Uint8Array;
  /** Number of octets that the word of this entry shares with the previous word. */
  shared = 0;
  /** Range in `words` of the octets that follow. */
  restStart = 0;
  restEnd = 0;
  /** Number of postings. */
  count = 0;
  lastDocId = 0;
  /** Range of the list in `words`. */
  listStart = 0;
  listEnd = 0;
  /** Range of the positions in `positions`, when they are read. */
  positionsStart = 0;
  positionsEnd = 0;
  #wordLength = 0;
  readonly #wordsReader: VarintReader;
  readonly #positionsReader: VarintReader | undefined;

  constructor({ words, positions }: IndexPage, withPositions: boolean) {
    this.words = words;
    this.positions = positions;
    this.#wordsReader = new VarintReader(words, 0, words.length);
    if (withPositions) this.#positionsReader = new VarintReader(positions, 0, positions.length);
  }

  /** Returns false after the last entry. */
  next(): boolean {
    const reader = this.#wordsReader;
    if (reader.isAtEnd) {
      if (this.#positionsReader?.isAtEnd === false) throw damagedPage('its positions go on');
      return false;
    }
    const shared = reader.next();
    const rest = reader.next();
    if (shared > this.#wordLength) throw damagedPage('a word shares more than there is');
    this.shared = shared;
    this.restStart = reader.at;
    this.restEnd = reader.at + rest;
    this.#wordLength = shared + rest;
    reader.at = this.restEnd;
    this.count = reader.next();
    this.lastDocId = reader.next();
    const octets = reader.next();
    this.listStart = reader.at;
    this.listEnd = reader.at + octets;
    reader.at = this.listEnd;
    if (this.listEnd > this.words.length) throw damagedPage('a list is cut');
    if (this.count === 0 || octets < this.count || this.lastDocId < this.count - 1)
      throw damagedPage('a list is too short');
    if (this.#positionsReader !== undefined) this.#nextPositions(this.#positionsReader);
    return true;
  }

  #nextPositions(reader: VarintReader): void {
    const octets = reader.next();
    this.positionsStart = reader.at;
    this.positionsEnd = reader.at + octets;
    reader.at = this.positionsEnd;
    if (this.positionsEnd > this.positions.length || octets < this.count) throw damagedPage('positions are cut');
  }
}

/** Octets as a binary string. */
export function binaryString(octets: Uint8Array, start: number, end: number): string {
  return Buffer.from(octets.buffer, octets.byteOffset + start, end - start).toString('latin1');
}
