// The folded form of each character for the search, as octets in UTF-8, with a zero between words. A character is folded in the same way
// alone and within a text: folding looks at no neighbours. Forms are made when a character is first seen, and kept.
import { foldedCharacter } from '../words/search-text.js';

/** The octet of a folded ASCII character; 0 when it is not part of a word. */
export const FOLDED_ASCII = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[a-z0-9]/i.test(character) ? character.toLowerCase().charCodeAt(0) : 0;
});
const BLOCK_BITS = 8;
const BLOCK = 1 << BLOCK_BITS;
const BLOCKS = 0x110000 >> BLOCK_BITS;
/** An entry holds the offset of a form's octets and, in these low bits, their count. */
const COUNT_BITS = 8;
const MOST_COUNT = (1 << COUNT_BITS) - 1;
const FIRST_OCTETS = 16 * 1024;
/** The octets within which a break between words is searched for. */
const MOST_BEYOND = 4_096;
/** Larger arrays are released. */
const KEPT_OCTETS = 256 * 1024;

const blocks: (Int32Array | undefined)[] = Array.from({ length: BLOCKS });
let octetsOfForms = new Uint8Array(FIRST_OCTETS);
/** Starts at 1, so that no entry is 0. */
let countOfOctets = 1;

export class FoldedForms {
  /** The length of the text that was folded last. */
  length = 0;
  #folded = Buffer.allocUnsafeSlow(FIRST_OCTETS);

  /** Folds the octets [start, end) of valid UTF-8. The next call overwrites the result. */
  fold(text: Buffer, start: number, end: number): Buffer {
    if (this.#folded.length > KEPT_OCTETS) this.#folded = Buffer.allocUnsafeSlow(FIRST_OCTETS);
    let folded = this.#folded;
    let length = 0;
    for (let at = start; at < end; ) {
      if (length + MOST_COUNT > folded.length) folded = this.#grown(folded, length);
      const octet = text[at]!;
      if (octet < 0x80) {
        folded[length++] = FOLDED_ASCII[octet]!;
        at++;
        continue;
      }
      const form = formOf(characterAt(text, at));
      at += octetsOfCharacter(octet);
      const from = form >>> COUNT_BITS;
      const to = from + (form & MOST_COUNT);
      for (let i = from; i < to; i++) folded[length++] = octetsOfForms[i]!;
    }
    this.length = length;
    return folded;
  }

  /**
   * Returns the next position at or after `start` that is not within a word; if a word goes on for thousands of octets, a position within
   * it.
   */
  nextBreak(text: Buffer, start: number): number {
    const end = text.length;
    let at = Math.min(start, end);
    while (at < end && (text[at]! & 0xc0) === 0x80) at++;
    for (const last = at + MOST_BEYOND; at < end; ) {
      const octet = text[at]!;
      if (octet < 0x80 ? FOLDED_ASCII[octet] === 0 : beginsWithBreak(formOf(characterAt(text, at)))) return at;
      if (at >= last) return at;
      at += octetsOfCharacter(octet);
    }
    return end;
  }

  #grown(folded: Buffer, length: number): Buffer<ArrayBuffer> {
    this.#folded = Buffer.allocUnsafeSlow(2 * folded.length);
    this.#folded.set(folded.subarray(0, length));
    return this.#folded;
  }
}

const beginsWithBreak = (form: number): boolean => (form & MOST_COUNT) > 0 && octetsOfForms[form >>> COUNT_BITS] === 0;

const octetsOfCharacter = (first: number): number => (first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4);

function characterAt(text: Buffer, at: number): number {
  const first = text[at]!;
  const second = text[at + 1]! & 0x3f;
  if (first < 0xe0) return ((first & 0x1f) << 6) | second;
  const third = text[at + 2]! & 0x3f;
  if (first < 0xf0) return ((first & 0x0f) << 12) | (second << 6) | third;
  return ((first & 0x07) << 18) | (second << 12) | (third << 6) | (text[at + 3]! & 0x3f);
}

function formOf(character: number): number {
  const number = character >> BLOCK_BITS;
  let block = blocks[number];
  if (block === undefined) {
    block = new Int32Array(BLOCK);
    blocks[number] = block;
  }
  const form = block[character & (BLOCK - 1)]!;
  if (form !== 0) return form;
  const made = makeForm(character);
  block[character & (BLOCK - 1)] = made;
  return made;
}

function makeForm(character: number): number {
  const form = Buffer.from(foldedCharacter(String.fromCodePoint(character)));
  const start = countOfOctets;
  if (start + form.length > octetsOfForms.length) {
    const larger = new Uint8Array(2 * octetsOfForms.length);
    larger.set(octetsOfForms);
    octetsOfForms = larger;
  }
  octetsOfForms.set(form, start);
  countOfOctets += form.length;
  return (start << COUNT_BITS) | form.length;
}
