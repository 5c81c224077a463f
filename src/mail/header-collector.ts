// Collects the header of a message from the stream of its octets, up to its first empty line and with it (RFC 5322 §2.1).
// The caller bounds the size.

const EMPTY_LINE = '\r\n\r\n';

export class HeaderCollector {
  /** The first piece itself, then a buffer with room for more. */
  #kept: Buffer = Buffer.alloc(0);
  #length = 0;
  /** Octets that may begin an empty line; a message begins as if a line had ended before it. */
  #tail: Buffer = Buffer.from('\r\n');

  /** Octets so far. */
  get length(): number {
    return this.#length;
  }

  /** The octets after the header, once it has ended; undefined before. */
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

  /** The header, once it or the message has ended. */
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
