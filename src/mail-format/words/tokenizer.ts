// Divides UTF-8 text into the words that `wordsOf` finds, as octets: no string and no other object is made per word. ASCII is folded while
// it is read. Text with other characters is folded first, each character by its form.
import { isAscii } from 'node:buffer';
import { FOLDED_ASCII, FoldedForms } from '../header/folded-forms.js';
import { LONGEST_WORD } from './search-text.js';

/** The upper bits of an octet, which tell whether it continues a character. */
const UPPER_BITS = 0xc0;
const CONTINUATION = 0x80;
const AS_IT_IS = Uint8Array.from({ length: 256 }, (_, octet) => octet);

/** The octets that may be read before the end of a word. */
const READ_BEFORE = 8;
const FIRST_OCTETS = 48 * 1024;
const FIRST_WORDS = 16 * 1024;
/** Larger arrays are released. */
const KEPT_OCTETS = 256 * 1024;

export class Tokenizer {
  /** The offset of the first word: eight octets before the end of any word may be read. */
  readonly start: number = READ_BEFORE;
  /** The words in UTF-8, one after the other. */
  octets = new Uint8Array(FIRST_OCTETS);
  /** The end of each word in `octets`, before the word is cut to its length: see `endOfWord`. */
  ends = new Int32Array(FIRST_WORDS);
  count = 0;
  /** The octets of all words together. */
  length = 0;
  readonly #forms = new FoldedForms();

  /** Replaces the words by those of the octets [start, end) of valid UTF-8: in order, at most `limit`. */
  tokenize(text: Buffer, start: number, end: number, limit = Number.POSITIVE_INFINITY): void {
    if (isAscii(text.subarray(start, end))) this.#tokenizeOctets(text, start, end, FOLDED_ASCII);
    else this.#tokenizeOctets(this.#forms.fold(text, start, end), 0, this.#forms.length, AS_IT_IS);
    this.count = Math.min(this.count, limit);
    this.length = this.count === 0 ? 0 : this.ends[this.count - 1]! - this.start;
  }

  /** Returns the end of a word after it is cut to the letters that count. */
  endOfWord(start: number, end: number): number {
    return end - start <= LONGEST_WORD ? end : endOfLetters(this.octets, start, end);
  }

  /** Returns the end of a piece that begins at `start`: after at least `length` octets, between two words. */
  endOfPiece(text: Buffer, start: number, length: number): number {
    return this.#forms.nextBreak(text, start + length);
  }

  /**
   * `table` has the folded form of each octet, 0 between words. No branch depends on the text, because a processor predicts the ends of
   * words badly.
   */
  #tokenizeOctets(source: Buffer, start: number, stop: number, table: Uint8Array): void {
    this.#reserve(stop - start);
    const { octets, ends } = this;
    let count = 0;
    let end = this.start;
    let wasInWord = 0;
    for (let at = start; at < stop; at++) {
      const code = table[source[at]!]!;
      const isInWord = code === 0 ? 0 : 1;
      octets[end] = code;
      end += isInWord;
      ends[count] = end;
      count += wasInWord & (isInWord ^ 1);
      wasInWord = isInWord;
    }
    this.count = count + wasInWord;
  }

  /** Makes room for the words of `count` octets. */
  #reserve(count: number): void {
    const length = this.start + count + 1;
    if (this.octets.length > KEPT_OCTETS) this.octets = new Uint8Array(FIRST_OCTETS);
    if (this.octets.length < length) this.octets = new Uint8Array(2 * length);
    const words = (count >> 1) + 2;
    if (this.ends.length < words) this.ends = new Int32Array(2 * words);
  }
}

/** Returns the end of the letters of a long word that are kept. */
function endOfLetters(octets: Uint8Array, start: number, end: number): number {
  let letters = 0;
  for (let at = start; at < end; at++)
    if ((octets[at]! & UPPER_BITS) !== CONTINUATION && letters++ === LONGEST_WORD) return at;
  return end;
}
