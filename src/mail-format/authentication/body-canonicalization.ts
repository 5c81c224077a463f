// The body canonicalizations of DKIM (RFC 6376 §3.4.3, §3.4.4) over pieces of any size, in one pass and in constant memory: line ends are
// counted until other octets follow them, and white space is remembered as one bit. mailauth keeps whole lines and runs of empty lines in
// memory, and a peer decides how long those are.

export type BodyCanonicalization = 'simple' | 'relaxed';

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
/** All bodies share this buffer: it is emptied before a call returns. */
const BUFFER = Buffer.alloc(16_384);
/** Shorter runs are copied, because each call of the sink costs more than the copy. */
const WITHOUT_COPY = 512;

export class CanonicalBody {
  readonly #relaxed: boolean;
  readonly #sink: (octets: Uint8Array) => void;
  #used = 0;
  #isEmpty = true;
  /** The line ends that count only when other octets follow. */
  #lineEnds = 0;
  #whiteSpace = false;
  #carriageReturn = false;

  /** `sink` must not use the octets after it returns. */
  constructor(kind: BodyCanonicalization, sink: (octets: Uint8Array) => void) {
    this.#relaxed = kind === 'relaxed';
    this.#sink = sink;
  }

  write(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; ) {
      at = this.#pass(piece, at);
      if (at < piece.length) this.#take(piece[at++]!);
    }
    this.#flush();
  }

  /** Called once, after the last piece. */
  finish(): void {
    if (this.#carriageReturn) this.#content(CR);
    // An empty body is empty in `relaxed`, and a line end in `simple`.
    if (!this.#isEmpty || !this.#relaxed) this.#lineEnd();
    this.#flush();
  }

  /** Passes on the octets that stay as they are while nothing is held back; returns where they end. */
  #pass(piece: Uint8Array, from: number): number {
    if (this.#lineEnds > 0 || this.#whiteSpace || this.#carriageReturn) return from;
    const end = endOfCanonical(piece, from);
    if (end === from) return from;
    this.#isEmpty = false;
    if (end - from >= WITHOUT_COPY) {
      this.#flush();
      this.#sink(piece.subarray(from, end));
    } else {
      if (this.#used + end - from > BUFFER.length) this.#flush();
      for (let at = from; at < end; at++) BUFFER[this.#used++] = piece[at]!;
    }
    return end;
  }

  #take(octet: number): void {
    if (octet === LF) {
      this.#carriageReturn = false;
      this.#whiteSpace = false;
      this.#lineEnds++;
      return;
    }
    if (this.#carriageReturn) this.#content(CR);
    this.#carriageReturn = octet === CR;
    if (octet === CR) return;
    if (this.#relaxed && (octet === SPACE || octet === TAB)) this.#whiteSpace = true;
    else this.#content(octet);
  }

  #content(octet: number): void {
    for (; this.#lineEnds > 0; this.#lineEnds--) this.#lineEnd();
    if (this.#whiteSpace) this.#put(SPACE);
    this.#whiteSpace = false;
    this.#isEmpty = false;
    this.#put(octet);
  }

  #lineEnd(): void {
    this.#put(CR);
    this.#put(LF);
  }

  #put(octet: number): void {
    if (this.#used === BUFFER.length) this.#flush();
    BUFFER[this.#used++] = octet;
  }

  #flush(): void {
    if (this.#used > 0) this.#sink(BUFFER.subarray(0, this.#used));
    this.#used = 0;
  }
}

/** Returns the position of the first octet that `relaxed` may change. Single spaces and line ends within the text stay. */
function endOfCanonical(piece: Uint8Array, from: number): number {
  let at = from;
  for (; at < piece.length; at++) {
    const octet = piece[at]!;
    if (octet > SPACE) continue;
    if (octet === SPACE && piece[at + 1]! > SPACE) continue;
    if (octet !== CR || piece[at + 1] !== LF || !(piece[at + 2]! > SPACE)) break;
    at++;
  }
  return at;
}
