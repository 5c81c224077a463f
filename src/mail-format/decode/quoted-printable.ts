// Quoted-printable (RFC 2045 §6.7) in pieces and in constant memory. Mansio has its own code because libqp decodes only whole bodies and
// takes quadratic time for runs of white space (seconds for 64 kB of spaces). A `=` without an escape is a literal `=`.

const CR = 0x0d;
const LF = 0x0a;
const EQUALS = 0x3d;

/** White space before a line end is dropped; a run longer than a legal line is content. */
const LONGEST_SPACE = 1000;

const HEX = new Int8Array(256).fill(-1);
for (let i = 0; i < 16; i++) {
  HEX['0123456789ABCDEF'.charCodeAt(i)] = i;
  HEX['0123456789abcdef'.charCodeAt(i)] = i;
}

// The states of the decoder.
const TEXT = 0;
const AFTER_EQUALS = 1;
const AFTER_DIGIT = 2;
/** The decoder has read `=` and white space: this is a soft line break if the line ends here. */
const AFTER_EQUALS_SPACE = 3;
const AFTER_EQUALS_CR = 4;

export class QuotedPrintableDecoder {
  #state = TEXT;
  #digit = 0;
  readonly #space = Buffer.alloc(LONGEST_SPACE);
  #spaces = 0;
  #out: Buffer = Buffer.alloc(0);
  #at = 0;

  push(piece: Uint8Array): Uint8Array {
    this.#out = Buffer.allocUnsafe(piece.length + this.#spaces + 2);
    this.#at = 0;
    const length = piece.length;
    for (let i = 0; i < length; i++) {
      const octet = piece[i]!;
      if (this.#state === TEXT) {
        // The common case: an ordinary octet, and no white space is held.
        if (octet > 0x20 && octet !== EQUALS && this.#spaces === 0) this.#out[this.#at++] = octet;
        else this.#text(octet);
      } else this.#escape(octet);
    }
    return this.#out.subarray(0, this.#at);
  }

  finish(): Uint8Array {
    this.#out = Buffer.allocUnsafe(2);
    this.#at = 0;
    if (this.#state === AFTER_DIGIT) this.#emit(EQUALS, this.#digit);
    else if (this.#state === AFTER_EQUALS_CR) this.#emit(EQUALS, CR);
    this.#state = TEXT;
    this.#spaces = 0;
    return this.#out.subarray(0, this.#at);
  }

  #text(octet: number): void {
    if (octet === 0x20 || octet === 0x09) {
      this.#append(octet);
      return;
    }
    if (octet === CR || octet === LF) this.#spaces = 0;
    else this.#release();
    if (octet === EQUALS) this.#state = AFTER_EQUALS;
    else this.#out[this.#at++] = octet;
  }

  #escape(octet: number): void {
    const state = this.#state;
    if (state === AFTER_DIGIT) {
      this.#state = TEXT;
      if (HEX[octet]! >= 0) this.#out[this.#at++] = (HEX[this.#digit]! << 4) | HEX[octet]!;
      else {
        this.#emit(EQUALS, this.#digit);
        this.#text(octet);
      }
    } else if (octet === LF) {
      this.#state = TEXT;
      this.#spaces = 0;
    } else if (state === AFTER_EQUALS_CR) {
      this.#state = TEXT;
      this.#spaces = 0;
      this.#emit(EQUALS, CR);
      this.#text(octet);
    } else if (octet === CR) this.#state = AFTER_EQUALS_CR;
    else if (octet === 0x20 || octet === 0x09) {
      this.#state = AFTER_EQUALS_SPACE;
      if (this.#spaces < LONGEST_SPACE) this.#space[this.#spaces++] = octet;
      else this.#literalEquals(octet);
    } else if (state === AFTER_EQUALS && HEX[octet]! >= 0) {
      this.#state = AFTER_DIGIT;
      this.#digit = octet;
    } else this.#literalEquals(octet);
  }

  #literalEquals(next: number): void {
    this.#state = TEXT;
    this.#out[this.#at++] = EQUALS;
    this.#release();
    this.#text(next);
  }

  #append(octet: number): void {
    if (this.#spaces === LONGEST_SPACE) this.#release();
    this.#space[this.#spaces++] = octet;
  }

  #release(): void {
    if (this.#spaces === 0) return;
    this.#at += this.#space.copy(this.#out, this.#at, 0, this.#spaces);
    this.#spaces = 0;
  }

  #emit(first: number, second: number): void {
    this.#out[this.#at++] = first;
    this.#out[this.#at++] = second;
  }
}
