// Texts of the messages of a page, joined: one long string takes far less memory than many short ones, and no text keeps the
// octets alive that it was cut from. A text is set once. Numbers of texts are small: those of a page's messages.

/** Texts that wait until they are joined with the others: the fewer, the more often all are copied. */
const MOST_ADDED = 32;
/** Characters from which on a text stays apart, so that the joined ones are copied fast and never too long for a string. */
const LONG = 4096;
/** Memory beside the characters: of the object, of a place for a text, and of a text that stays apart. */
const OWN_OCTETS = 300;
const PLACE_OCTETS = 8;
const APART_OCTETS = 80;
const FIRST_PLACES = 8;
/** A string with such a character takes two octets for each. */
const WIDE = /[^\0-\xff]/;

export class PageTexts {
  #joined = '';
  /** Behind `#joined`. */
  #added: string[] = [];
  /** Characters of both. */
  #length = 0;
  #octetsOfCharacter = 1;
  /** Of each text its start + 1 and its end; 0 and 0 of one that is not there. */
  #bounds = new Uint32Array(2 * FIRST_PLACES);
  readonly #apart = new Map<number, string>();
  #octetsApart = 0;

  /** Of memory, roughly. */
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

  /** Of a number that has none. */
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
