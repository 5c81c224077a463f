// Cuts text into the words that `wordsOf` finds, as octets: no string and no other object a word. ASCII octets are folded and
// hashed in one loop. Stretches around other characters are folded as text first; where ASCII follows for long, the loop goes on.
import { ASCII, fold, LONGEST_WORD, wordsOfFolded } from './search-text.js';

/** The octet of a folded word; 0 of what is between words. In UTF-8, octets beyond ASCII are of letters here. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, code) => {
  if (code > 0x7f) return code;
  const character = String.fromCharCode(code);
  return /[a-z0-9]/i.test(character) ? character.toLowerCase().charCodeAt(0) : 0;
});
const SPACE = 0x20;
/** Octets of a word that was cut before. */
const LONGEST_OCTETS = 4 * LONGEST_WORD;
const PRIME = 0x01000193;

// biome-ignore lint/suspicious/noControlCharactersInRegex: it says ASCII
const NOT_ASCII = /[^\x00-\x7f]/g;
/** ASCII characters that are worth the loop. */
const WORTH = 128;

const FIRST_OCTETS = 48 * 1024;
const FIRST_WORDS = 16 * 1024;
/** Larger arrays are given back. */
const KEPT_OCTETS = 256 * 1024;

export class WordCutter {
  /** Of the words in UTF-8, one behind the other. */
  octets = new Uint8Array(FIRST_OCTETS);
  /** Of each word, in `octets`. */
  ends = new Int32Array(FIRST_WORDS);
  hashes = new Int32Array(FIRST_WORDS);
  count = 0;
  /** Of the words together, in octets. */
  length = 0;
  #source = Buffer.allocUnsafeSlow(FIRST_OCTETS);

  /** Its words take the place of those before: in order, at most `limit`. */
  cut(text: string, limit = Number.POSITIVE_INFINITY): void {
    this.count = 0;
    this.length = 0;
    if (this.#source.length > KEPT_OCTETS) this.#source = Buffer.allocUnsafeSlow(FIRST_OCTETS);
    if (this.octets.length > KEPT_OCTETS) this.octets = new Uint8Array(FIRST_OCTETS);
    if (ASCII.test(text)) this.#cutAscii(text, limit);
    else this.#cutStretches(text, limit);
  }

  #cutStretches(text: string, limit: number): void {
    for (let start = 0; start < text.length && this.count < limit; ) {
      const from = startOfOthers(text, start);
      if (from > start) this.#cutAscii(text.slice(start, from), limit);
      const to = endOfOthers(text, from);
      if (to > from) this.#cutOthers(text.slice(from, to), limit);
      start = to;
    }
  }

  #cutOthers(text: string, limit: number): void {
    const folded = fold(text);
    if (ASCII.test(folded)) {
      this.#cutAscii(folded, limit);
      return;
    }
    const words = wordsOfFolded(folded).join(' ');
    this.#source = roomFor(this.#source, words.length * 3);
    this.#cutOctets(this.#source.write(words, 'utf8'), LONGEST_OCTETS, limit);
  }

  #cutAscii(text: string, limit: number): void {
    this.#source = roomFor(this.#source, text.length);
    this.#cutOctets(this.#source.write(text, 'latin1'), LONGEST_WORD, limit);
  }

  /** So many octets of the source. */
  #cutOctets(length: number, longest: number, limit: number): void {
    this.#reserve(length);
    const source = this.#source;
    const { octets, ends, hashes } = this;
    let { count } = this;
    let end = this.length;
    source[length] = SPACE;
    for (let at = 0; at < length && count < limit; at++) {
      let code = FOLDED[source[at]!]!;
      if (code === 0) continue;
      const most = end + longest;
      let hash = 0;
      do {
        if (end < most) {
          octets[end++] = code;
          hash = Math.imul(hash ^ code, PRIME);
        }
        code = FOLDED[source[++at]!]!;
      } while (code !== 0);
      ends[count] = end;
      hashes[count++] = hash;
    }
    this.count = count;
    this.length = end;
  }

  /** For the words of so many octets. */
  #reserve(length: number): void {
    this.octets = grown(this.octets, this.length + length);
    const words = this.count + (length >> 1) + 1;
    this.ends = grown(this.ends, words);
    this.hashes = grown(this.hashes, words);
  }
}

/** Where the word begins in which the next character stands that is not ASCII. */
function startOfOthers(text: string, start: number): number {
  NOT_ASCII.lastIndex = start;
  let from = NOT_ASCII.exec(text)?.index ?? text.length;
  if (from < text.length) while (from > start && FOLDED[text.charCodeAt(from - 1)]! > 0) from--;
  return from;
}

/** Behind a word, where nothing but ASCII follows for long. */
function endOfOthers(text: string, start: number): number {
  let ascii = 0;
  let end = -1;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) {
      ascii = 0;
      end = -1;
      continue;
    }
    ascii++;
    if (end < 0 && FOLDED[code] === 0) end = at;
    if (end >= 0 && ascii >= WORTH) return end;
  }
  return text.length;
}

/** With one octet more. */
function roomFor(buffer: Buffer<ArrayBuffer>, octets: number): Buffer<ArrayBuffer> {
  return buffer.length > octets ? buffer : Buffer.allocUnsafeSlow(octets + 1);
}

function grown<T extends Uint8Array | Int32Array>(array: T, length: number): T {
  if (array.length >= length) return array;
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, 2 * array.length));
  larger.set(array);
  return larger;
}
