// Collects the header of a message from the stream of its octets, up to and including its first empty line (RFC 5322 §2.1). The caller
// limits the size.

const EMPTY_LINE = '\r\n\r\n';

export class HeaderCollector {
  /** The first piece itself; later a buffer with spare capacity. */
  #kept: Buffer = Buffer.alloc(0);
  #length = 0;
  /** The octets that may begin an empty line. Initially a line end, because a message may begin with an empty line. */
  #tail: Buffer = Buffer.from('\r\n');

  /** The number of octets so far. */
  get length(): number {
    return this.#length;
  }

  /** Returns the octets after the header once it has ended; undefined before that. */
  push(chunk: Buffer): Buffer | undefined {
    const bodyStart = this.#endIn(chunk);
    if (bodyStart === undefined) {
      this.#keep(chunk);
      this.#tail = Buffer.concat([this.#tail, chunk.subarray(-EMPTY_LINE.length)]).subarray(1 - EMPTY_LINE.length);
      return undefined;
    }
    this.#keep(chunk.subarray(0, bodyStart));
    return chunk.subarray(bodyStart);
  }

  /** Returns the header, once it or the message has ended. */
  header(): Buffer {
    return this.#kept.subarray(0, this.#length);
  }

  #endIn(chunk: Buffer): number | undefined {
    const seam = Buffer.concat([this.#tail, chunk.subarray(0, EMPTY_LINE.length - 1)]).indexOf(EMPTY_LINE);
    if (seam >= 0) return seam + EMPTY_LINE.length - this.#tail.length;
    const at = chunk.indexOf(EMPTY_LINE);
    return at < 0 ? undefined : at + EMPTY_LINE.length;
  }

  #keep(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) this.#kept = piece;
    else {
      if (length > this.#kept.length || this.#kept.length === this.#length) this.#grow(length);
      piece.copy(this.#kept, this.#length);
    }
    this.#length = length;
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafe(2 * length);
    this.#kept.copy(grown, 0, 0, this.#length);
    this.#kept = grown;
  }
}
