// Drives a parser that reads octets in its own order, as a generator, with pieces of any size. The parser asks for a few octets
// or passes over many; only what it has asked for is held.

/** `pass` octets are passed over; the first `keep` of them come back. */
interface Wish {
  readonly pass: number;
  readonly keep: number;
}
export type OctetParse<R> = Generator<Wish, R, Buffer>;

export class OctetParser {
  readonly #parse: OctetParse<void>;
  #kept: Buffer[] = [];
  #keptLength = 0;
  /** Octets that are still to be kept, and those that are passed over behind them. */
  #keep = 0;
  #pass = 0;
  #isDone = false;

  constructor(parse: OctetParse<void>) {
    this.#parse = parse;
    this.#go(parse.next());
  }

  push(piece: Uint8Array): void {
    let at = 0;
    while (at < piece.length && !this.#isDone) {
      const kept = Math.min(this.#keep, piece.length - at);
      if (kept > 0) {
        this.#kept.push(Buffer.from(piece.subarray(at, at + kept)));
        this.#keptLength += kept;
        this.#keep -= kept;
        at += kept;
      }
      const passed = Math.min(this.#pass, piece.length - at);
      if (this.#keep === 0) {
        this.#pass -= passed;
        at += passed;
      }
      this.#satisfy();
    }
  }

  #satisfy(): void {
    while (!this.#isDone && this.#keep === 0 && this.#pass === 0) {
      const octets = this.#kept.length === 1 ? this.#kept[0]! : Buffer.concat(this.#kept, this.#keptLength);
      this.#kept = [];
      this.#keptLength = 0;
      this.#go(this.#parse.next(octets));
    }
  }

  #go(next: IteratorResult<Wish, void>): void {
    if (next.done === true) {
      this.#isDone = true;
    } else {
      this.#keep = Math.min(next.value.keep, next.value.pass);
      this.#pass = next.value.pass - this.#keep;
    }
  }
}
