// Splits the octets of a connection into lines, and into runs of a known length between them (such as a literal of IMAP). The framer copies
// each octet at most twice, limits a line, and knows no protocol: dot-stuffing and `{n}` belong to the protocol. Pure: no socket.

const LF = 10;
const CR = 13;
const EMPTY = Buffer.alloc(0);

export interface LineFramerOptions {
  /** The most octets of a line without its end. */
  readonly maxLine: number;
  /** Whether an LF without CR before it ends a line too, or is an error. */
  readonly bareLf: 'ends-line' | 'refused';
}

/** The peer's octets are not a valid line. The framer continues with the next line. */
export class FramingError extends Error {
  override readonly name = 'FramingError';
  readonly reason: 'line-too-long' | 'bare-line-feed';

  constructor(reason: FramingError['reason']) {
    super(reason);
    this.reason = reason;
  }
}

export class LineFramer {
  readonly #options: LineFramerOptions;
  /** Never overwritten where a line was returned, so that lines stay unchanged. */
  #buffer: Buffer = EMPTY;
  #start = 0;
  #end = 0;
  /** No line ends before this position. */
  #scanned = 0;
  /** The rest of a line that is too long is skipped. */
  #isSkipping = false;

  constructor(options: LineFramerOptions) {
    this.#options = options;
  }

  /** The number of unread octets. */
  get buffered(): number {
    return this.#end - this.#start;
  }

  /** The caller must not change the chunk afterwards. */
  push(chunk: Buffer): void {
    if (this.buffered === 0) {
      this.#buffer = chunk;
      this.#start = 0;
      this.#scanned = 0;
      this.#end = chunk.length;
      return;
    }
    if (this.#end + chunk.length > this.#buffer.length) this.#grow(chunk.length);
    chunk.copy(this.#buffer, this.#end);
    this.#end += chunk.length;
  }

  /** The next line without its end; undefined while it is incomplete. @throws FramingError */
  readLine(): Buffer | undefined {
    const { maxLine, bareLf } = this.#options;
    for (;;) {
      const at = this.#buffer.subarray(0, this.#end).indexOf(LF, this.#scanned);
      if (at < 0) {
        this.#scanned = this.#end;
        if (this.#isSkipping) this.discard();
        // A CR may be the first half of the line end.
        else if (this.buffered > maxLine + 1 || (this.buffered > maxLine && this.#buffer[this.#end - 1] !== CR)) {
          this.#isSkipping = true;
          this.discard();
          throw new FramingError('line-too-long');
        }
        return undefined;
      }
      const isCrLf = at > this.#start && this.#buffer[at - 1] === CR;
      const line = this.#buffer.subarray(this.#start, isCrLf ? at - 1 : at);
      this.#start = at + 1;
      this.#scanned = at + 1;
      if (this.#isSkipping) {
        this.#isSkipping = false;
        continue;
      }
      if (line.length > maxLine) throw new FramingError('line-too-long');
      if (!isCrLf && bareLf === 'refused') throw new FramingError('bare-line-feed');
      return line;
    }
  }

  /** Any octets, at most `most`; undefined while there are none. */
  readOctets(most: number): Buffer | undefined {
    const end = Math.min(this.#end, this.#start + most);
    if (end === this.#start) return undefined;
    const octets = this.#buffer.subarray(this.#start, end);
    this.#start = end;
    this.#scanned = Math.max(this.#scanned, end);
    return octets;
  }

  /** Discards all unread octets. */
  discard(): void {
    this.#buffer = EMPTY;
    this.#start = 0;
    this.#end = 0;
    this.#scanned = 0;
  }

  #grow(more: number): void {
    const grown = Buffer.allocUnsafe(2 * (this.buffered + more));
    this.#buffer.copy(grown, 0, this.#start, this.#end);
    this.#buffer = grown;
    this.#end -= this.#start;
    this.#scanned = Math.max(0, this.#scanned - this.#start);
    this.#start = 0;
  }
}
