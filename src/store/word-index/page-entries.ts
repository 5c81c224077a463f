// Walks through the entries of a page. What a page says about itself is checked, so that cut or changed octets are an error.
import { damagedPage, type IndexPage } from './index-page.js';

/** Octets that an entry has at least behind its word. */
const AFTER_WORD = 4;
const BEFORE_WORD = 2;
const VARINT_BITS = 28;

export class PageEntries {
  readonly words: Uint8Array;
  readonly positions: Uint8Array;
  /** Of the word of this entry, how many octets are those of the word before. */
  shared = 0;
  /** The octets that follow, in `words`. */
  restStart = 0;
  restEnd = 0;
  /** Of postings. */
  count = 0;
  lastOrdinal = 0;
  /** In `words`. */
  listStart = 0;
  listEnd = 0;
  /** In `positions`, when they are read. */
  positionsStart = 0;
  positionsEnd = 0;
  #wordLength = 0;
  #at = 0;
  readonly #withPositions: boolean;

  constructor(page: IndexPage, withPositions: boolean) {
    this.words = page.words;
    this.positions = page.positions;
    this.#withPositions = withPositions;
  }

  /** False after the last entry. */
  next(): boolean {
    const { words } = this;
    const start = this.listEnd;
    if (start === words.length) {
      if (this.#withPositions && this.positionsEnd !== this.positions.length) throw damagedPage('its positions go on');
      return false;
    }
    if (start + BEFORE_WORD > words.length) throw damagedPage('an entry is cut');
    this.#at = start;
    const shared = this.#varint(words);
    const rest = this.#varint(words);
    if (shared > this.#wordLength) throw damagedPage('a word shares more than there is');
    this.restStart = this.#at;
    this.restEnd = this.#at + rest;
    if (this.restEnd + AFTER_WORD > words.length) throw damagedPage('a word is cut');
    this.#at = this.restEnd;
    const count = this.#varint(words);
    this.lastOrdinal = this.#varint(words);
    const octets = this.#varint(words);
    this.listStart = this.#at;
    this.listEnd = this.#at + octets;
    if (this.listEnd > words.length) throw damagedPage('a list is cut');
    if (count === 0 || octets < count || this.lastOrdinal < count - 1) throw damagedPage('a list is too short');
    this.shared = shared;
    this.count = count;
    this.#wordLength = shared + rest;
    if (this.#withPositions) this.#nextPositions();
    return true;
  }

  #nextPositions(): void {
    const { positions } = this;
    this.#at = this.positionsEnd;
    const octets = this.#varint(positions);
    this.positionsStart = this.#at;
    this.positionsEnd = this.#at + octets;
    if (this.positionsEnd > positions.length || octets < this.count) throw damagedPage('positions are cut');
  }

  #varint(octets: Uint8Array): number {
    const at = this.#at;
    if (at >= octets.length) throw damagedPage('a number is cut');
    const first = octets[at]!;
    if (first < 0x80) {
      this.#at = at + 1;
      return first;
    }
    const value = varintAt(octets, at, octets.length);
    this.#at = afterVarint(octets, at);
    return value;
  }
}

/** The varint at `at`, which ends before `end`. */
export function varintAt(octets: Uint8Array, at: number, end: number): number {
  let value = 0;
  for (let i = at, bits = 0; i < end && bits <= VARINT_BITS; i++, bits += 7) {
    const octet = octets[i]!;
    value |= (octet & 0x7f) << bits;
    if (octet < 0x80) return value >>> 0;
  }
  throw damagedPage('a number is cut');
}

/** Where the varint at `at`, which is whole, ends. */
export function afterVarint(octets: Uint8Array, at: number): number {
  let end = at;
  while (octets[end]! >= 0x80) end++;
  return end + 1;
}

/** Octets as a binary string. */
export function binaryString(octets: Uint8Array, start: number, end: number): string {
  return Buffer.from(octets.buffer, octets.byteOffset + start, end - start).toString('latin1');
}
