// Checks the line ends of a message that comes in chunks (RFC 3030): finds a CR without LF and an LF without CR wherever chunks are
// cut, and returns what is missing at the end of the last line. Dots have no meaning here.

const CR = 13;
const LF = 10;
const CRLF = Buffer.from('\r\n');
const NOTHING = Buffer.alloc(0);

export class LineEnds {
  /** Whether a CR without LF or an LF without CR was seen; the message must not be kept then. */
  malformed = false;
  #isAfterCr = false;
  #endsLine = true;

  check(octets: Buffer): void {
    if (octets.length === 0 || this.malformed) return;
    if (this.#isAfterCr && octets[0] !== LF) this.malformed = true;
    for (let at = octets.indexOf(LF); at >= 0; at = octets.indexOf(LF, at + 1)) {
      if (at === 0 ? !this.#isAfterCr : octets[at - 1] !== CR) this.malformed = true;
    }
    for (let at = octets.indexOf(CR); at >= 0; at = octets.indexOf(CR, at + 1)) {
      if (at + 1 < octets.length && octets[at + 1] !== LF) this.malformed = true;
    }
    this.#isAfterCr = octets[octets.length - 1] === CR;
    this.#endsLine = octets[octets.length - 1] === LF;
  }

  /** Ends the message; returns what its last line lacks. */
  end(): Buffer {
    if (this.#isAfterCr) this.malformed = true;
    return this.#endsLine || this.malformed ? NOTHING : CRLF;
  }
}
