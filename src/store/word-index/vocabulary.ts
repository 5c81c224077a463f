// The different words of some emails, numbered in the order in which they come, with their octets in UTF-8.

const FIRST_WORDS = 1_024;
const FIRST_OCTETS = 16 * 1024;
/** UTF-8 octets of a character of a JavaScript string, at most. */
const OCTETS_A_CHARACTER = 3;
/** Octets that words are sorted by at first. */
const SORTED_OCTETS = 5;

const UTF8 = new TextEncoder();

export class Vocabulary {
  readonly #numbers = new Map<string, number>();
  /** Of all words, one behind the other. */
  octets = new Uint8Array(FIRST_OCTETS);
  /** Of each word in `octets`, and the end of the last one. */
  starts = new Int32Array(FIRST_WORDS);
  /** The first four octets of each word, and the fifth one. */
  firstOctets = new Uint32Array(FIRST_WORDS);
  fifthOctets = new Uint8Array(FIRST_WORDS);
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

  /** Of two words whose first five octets are the same. */
  compare(a: number, b: number): number {
    const { octets, starts } = this;
    const [aStart, bStart] = [starts[a]!, starts[b]!];
    const [aLength, bLength] = [starts[a + 1]! - aStart, starts[b + 1]! - bStart];
    const length = Math.min(aLength, bLength);
    for (let i = SORTED_OCTETS; i < length; i++) {
      const difference = octets[aStart + i]! - octets[bStart + i]!;
      if (difference !== 0) return difference;
    }
    return aLength - bLength;
  }

  #add(word: string): number {
    const number = this.size++;
    this.#numbers.set(word, number);
    const start = this.starts[number]!;
    this.#reserve(start + word.length * OCTETS_A_CHARACTER + SORTED_OCTETS);
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
    // A shorter word comes before those that go on.
    for (let at = end; at < start + SORTED_OCTETS; at++) octets[at] = 0;
    this.firstOctets[number] =
      (octets[start]! << 24) | (octets[start + 1]! << 16) | (octets[start + 2]! << 8) | octets[start + 3]!;
    this.fifthOctets[number] = octets[start + 4]!;
    return number;
  }

  #reserve(octets: number): void {
    if (octets > this.octets.length) {
      const larger = new Uint8Array(Math.max(octets, 2 * this.octets.length));
      larger.set(this.octets);
      this.octets = larger;
    }
    if (this.size < this.starts.length) return;
    const [starts, firstOctets, fifthOctets] = [this.starts, this.firstOctets, this.fifthOctets];
    this.starts = new Int32Array(2 * starts.length);
    this.starts.set(starts);
    this.firstOctets = new Uint32Array(this.starts.length);
    this.firstOctets.set(firstOctets);
    this.fifthOctets = new Uint8Array(this.starts.length);
    this.fifthOctets.set(fifthOctets);
  }
}
