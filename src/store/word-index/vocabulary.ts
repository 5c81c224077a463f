// The different words of some emails: each has a number, and its octets in UTF-8.

const FIRST_WORDS = 1_024;
const FIRST_OCTETS = 16 * 1024;
/** UTF-8 octets of a character of a JavaScript string, at most. */
const OCTETS_A_CHARACTER = 3;

export class Vocabulary {
  readonly #numbers = new Map<string, number>();
  octets = Buffer.allocUnsafeSlow(FIRST_OCTETS);
  /** Of each word in `octets`, and the end of the last one. */
  starts = new Int32Array(FIRST_WORDS);
  size = 0;

  numberOf(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    const number = this.size++;
    this.#numbers.set(word, number);
    this.#addOctets(word);
    return number;
  }

  octetsOf(number: number): number {
    return this.starts[number + 1]! - this.starts[number]!;
  }

  /** Numbers of the words in the order of the octets. */
  inOrder(): Int32Array {
    const { octets, starts } = this;
    return Int32Array.from({ length: this.size }, (_, i) => i).sort((a, b) =>
      octets.compare(octets, starts[b]!, starts[b + 1]!, starts[a]!, starts[a + 1]!),
    );
  }

  #addOctets(word: string): void {
    const start = this.starts[this.size - 1]!;
    const most = start + word.length * OCTETS_A_CHARACTER;
    if (most > this.octets.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(most, 2 * this.octets.length));
      this.octets.copy(larger, 0, 0, start);
      this.octets = larger;
    }
    if (this.size + 1 > this.starts.length) {
      const larger = new Int32Array(2 * this.starts.length);
      larger.set(this.starts);
      this.starts = larger;
    }
    this.starts[this.size] = start + this.octets.write(word, start);
  }
}
