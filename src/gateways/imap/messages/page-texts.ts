// The texts of the messages of a page, joined: one long string needs far less memory than many short ones, and no text keeps the
// octets alive from which it was cut. A text is set once, under the small number of its message within the page.

/** Texts that wait to be joined; with a smaller number, all texts are copied more often. */
const MOST_ADDED = 32;
/** Characters from which on a text is stored apart, so that the joined string is copied fast and never exceeds the limit of a string. */
const LONG = 4096;
/** Memory without the characters: of the object, of an entry for a text, and of a text that is stored apart. */
const OWN_OCTETS = 300;
const PLACE_OCTETS = 8;
const APART_OCTETS = 80;
const FIRST_PLACES = 8;
/** A string with such a character takes two bytes per character. */
const WIDE = /[^\0-\xff]/;

export class PageTexts {
  #joined = '';
  /** Texts that follow `#joined`. */
  #added: string[] = [];
  /** Characters of both. */
  #length = 0;
  #octetsOfCharacter = 1;
  /** The start + 1 and the end of each text; 0 and 0 when there is none. */
  #bounds = new Uint32Array(2 * FIRST_PLACES);
  readonly #apart = new Map<number, string>();
  #octetsApart = 0;

  /** Approximate bytes of memory. */
  get octets(): number {
    const places = (this.#bounds.length / 2) * PLACE_OCTETS;
    return OWN_OCTETS + places + this.#length * this.#octetsOfCharacter + this.#octetsApart;
  }

  has(number: number): boolean {
    return (this.#bounds[2 * number] ?? 0) > 0 || (this.#apart.size > 0 && this.#apart.has(number));
  }

  get(number: number): string | undefined {
    const start = this.#bounds[2 * number] ?? 0;
    if (start === 0) return this.#apart.get(number);
    const end = this.#bounds[2 * number + 1]!;
    if (end > this.#joined.length) this.#join();
    return this.#joined.slice(start - 1, end);
  }

  /** The number must not have a text yet. */
  set(number: number, text: string): void {
    const isWide = WIDE.test(text);
    if (text.length >= LONG) {
      this.#apart.set(number, text);
      this.#octetsApart += APART_OCTETS + text.length * (isWide ? 2 : 1);
      return;
    }
    if (isWide) this.#octetsOfCharacter = 2;
    this.#makePlace(number);
    this.#bounds[2 * number] = this.#length + 1;
    this.#length += text.length;
    this.#bounds[2 * number + 1] = this.#length;
    this.#added.push(text);
    if (this.#added.length >= MOST_ADDED) this.#join();
  }

  #join(): void {
    if (this.#added.length === 0) return;
    this.#joined = [this.#joined, ...this.#added].join('');
    this.#added = [];
  }

  #makePlace(number: number): void {
    let places = this.#bounds.length / 2;
    if (number < places) return;
    while (places <= number) places *= 2;
    const bounds = new Uint32Array(2 * places);
    bounds.set(this.#bounds);
    this.#bounds = bounds;
  }
}
