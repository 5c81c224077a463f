// The different words of some emails, numbered in the order in which they come, with their octets in UTF-8.

const FIRST_WORDS = 1_024;
const FIRST_OCTETS = 16 * 1024;
/** UTF-8 octets of a character of a JavaScript string, at most. */
const OCTETS_A_CHARACTER = 3;
/** Octets that are read behind the last word. */
const READ_AHEAD = 4;

const UTF8 = new TextEncoder();

export class Vocabulary {
  readonly #numbers = new Map<string, number>();
  /** Of all words, one behind the other. */
  octets = new Uint8Array(FIRST_OCTETS);
  /** Of each word in `octets`, and the end of the last one. */
  starts = new Int32Array(FIRST_WORDS);
  size = 0;

  clear(): void {
    this.#numbers.clear();
    this.size = 0;
  }

  numberOf(word: string): number {
    return this.#numbers.get(word) ?? this.#add(word);
  }

  octetsOf(number: number): number {
    return this.starts[number + 1]! - this.starts[number]!;
  }

  /** 0 behind the end. */
  octetAt(number: number, i: number): number {
    const at = this.starts[number]! + i;
    return at < this.starts[number + 1]! ? this.octets[at]! : 0;
  }

  fourOctets(number: number, from: number): number {
    const at = this.starts[number]! + from;
    const left = this.starts[number + 1]! - at;
    if (left <= 0) return 0;
    const { octets } = this;
    const four = (octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!;
    return (left < 4 ? four & (-1 << (8 * (4 - left))) : four) >>> 0;
  }

  /** Of two words that are the same before `from`. */
  compare(a: number, b: number, from: number): number {
    const { octets, starts } = this;
    const aStart = starts[a]!;
    const bStart = starts[b]!;
    const aLength = starts[a + 1]! - aStart;
    const bLength = starts[b + 1]! - bStart;
    const length = Math.min(aLength, bLength);
    for (let i = from; i < length; i++) {
      const difference = octets[aStart + i]! - octets[bStart + i]!;
      if (difference !== 0) return difference;
    }
    return aLength - bLength;
  }

  #add(word: string): number {
    const number = this.size++;
    this.#numbers.set(word, number);
    const start = this.starts[number]!;
    this.#reserve(start + word.length * OCTETS_A_CHARACTER + READ_AHEAD);
    const { octets } = this;
    let end = start;
    for (let i = 0; i < word.length; i++) {
      const code = word.charCodeAt(i);
      if (code > 0x7f) {
        end = start + UTF8.encodeInto(word, octets.subarray(start)).written;
        break;
      }
      octets[end++] = code;
    }
    this.starts[number + 1] = end;
    return number;
  }

  #reserve(octets: number): void {
    if (octets > this.octets.length) {
      const larger = new Uint8Array(Math.max(octets, 2 * this.octets.length));
      larger.set(this.octets);
      this.octets = larger;
    }
    if (this.size < this.starts.length) return;
    const { starts } = this;
    this.starts = new Int32Array(2 * starts.length);
    this.starts.set(starts);
  }
}
