// Encodes a message as a multi-line response (RFC 1939 §3): a dot precedes every line that begins with one, and CRLF, a dot and
// CRLF end the response. Pieces may end anywhere. A line begins after LF, with or without CR, because some clients end lines there.

const LF = 10;
const CR = 13;
const DOT = 46;
const A_DOT = Buffer.from('.');
const LF_DOT = Buffer.from('\n.');
const NOTHING: readonly Buffer[] = [];

export class DotStuffing {
  #isLineStart = true;
  /** Whether the last octet was a CR. */
  #isAfterCr = false;
  /** Whether nothing was sent yet, or the last two octets were CRLF. */
  #isComplete = true;

  /** Returns the pieces to send for these octets of the message. */
  stuffed(octets: Buffer): readonly Buffer[] {
    const { length } = octets;
    if (length === 0) return NOTHING;
    const pieces: Buffer[] = [];
    if (this.#isLineStart && octets[0] === DOT) pieces.push(A_DOT);
    let start = 0;
    for (let at = octets.indexOf(LF_DOT); at >= 0; at = octets.indexOf(LF_DOT, start)) {
      pieces.push(octets.subarray(start, at + 1), A_DOT);
      start = at + 1;
    }
    pieces.push(start === 0 ? octets : octets.subarray(start));
    const last = octets[length - 1];
    this.#isLineStart = last === LF;
    this.#isComplete = last === LF && (length > 1 ? octets[length - 2] === CR : this.#isAfterCr);
    this.#isAfterCr = last === CR;
    return pieces;
  }

  /** The end of the response. It completes a message whose last line has no CRLF. */
  get end(): string {
    return this.#isComplete ? '.\r\n' : '\r\n.\r\n';
  }
}

/** Selects what TOP sends: the header of a message, the empty line after it and the first lines of its body. */
export class TopOfMessage {
  /** Whether everything that is wanted was passed. */
  isOver = false;
  #bodyLines: number;
  #isBody = false;
  /** Octets that earlier pieces contained of the current line. */
  #lineOctets = 0;
  #isAfterCr = false;

  constructor(bodyLines: number) {
    this.#bodyLines = bodyLines;
  }

  /** Returns the part of these octets that is wanted. */
  wanted(octets: Buffer): Buffer {
    let start = 0;
    for (let at = octets.indexOf(LF); at >= 0 && !this.isOver; at = octets.indexOf(LF, start)) {
      const length = this.#lineOctets + at - start;
      const isAfterCr = at > 0 ? octets[at - 1] === CR : this.#isAfterCr;
      if (this.#isBody) this.#bodyLines--;
      else this.#isBody = length === 0 || (length === 1 && isAfterCr);
      this.isOver = this.#isBody && this.#bodyLines === 0;
      this.#lineOctets = 0;
      start = at + 1;
    }
    if (this.isOver) return octets.subarray(0, start);
    this.#lineOctets += octets.length - start;
    if (octets.length > 0) this.#isAfterCr = octets.at(-1) === CR;
    return octets;
  }
}
