// Feeds pieces of any size to a parser that is written as a generator and reads octets in its own order. The parser asks for a few octets
// or skips many; only the octets that it asks for are held.

/** The parser skips `pass` octets and receives the first `keep` of them. */
interface Wish {
  readonly pass: number;
  readonly keep: number;
}
export type OctetParse<R> = Generator<Wish, R, Buffer>;

export class OctetParser {
  readonly #parse: OctetParse<void>;
  #kept: Buffer[] = [];
  #keptLength = 0;
  /** The octets that are still to be kept, and those that are then skipped. */
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
