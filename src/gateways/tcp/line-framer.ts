// Octets of a connection as lines, and as runs of a known length between them (a literal of IMAP is one). The framer copies each
// octet at most twice, bounds a line, and knows no protocol: dot-stuffing and `{n}` are the protocol's. Pure: no socket.

const LF = 10;
const CR = 13;
const EMPTY = Buffer.alloc(0);

export interface LineFramerOptions {
  /** Octets of a line without its end. */
  readonly maxLine: number;
  /** An LF without CR before it ends a line too, or is an error. */
  readonly bareLf: 'ends-line' | 'refused';
}

/** What the peer sent is no line. The framer goes on with the line after it. */
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
  /** Never written to where a line was handed out, so lines stay what they are. */
  #buffer: Buffer = EMPTY;
  #start = 0;
  #end = 0;
  /** Nothing before it ends a line. */
  #scanned = 0;
  /** The rest of a line that is too long is passed over. */
  #isSkipping = false;

  constructor(options: LineFramerOptions) {
    this.#options = options;
  }

  /** Octets that nobody has read. */
  get held(): number {
    return this.#end - this.#start;
  }

  /** The chunk must not be changed afterwards. */
  push(chunk: Buffer): void {
    if (this.held === 0) {
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
        // A CR may be the first half of the line's end.
        else if (this.held > maxLine + 1 || (this.held > maxLine && this.#buffer[this.#end - 1] !== CR)) {
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

  /** Up to `most` octets, whatever they are; undefined while there are none. */
  readOctets(most: number): Buffer | undefined {
    const end = Math.min(this.#end, this.#start + most);
    if (end === this.#start) return undefined;
    const octets = this.#buffer.subarray(this.#start, end);
    this.#start = end;
    this.#scanned = Math.max(this.#scanned, end);
    return octets;
  }

  /** Forgets what nobody has read. */
  discard(): void {
    this.#buffer = EMPTY;
    this.#start = 0;
    this.#end = 0;
    this.#scanned = 0;
  }

  #grow(more: number): void {
    const grown = Buffer.allocUnsafe(2 * (this.held + more));
    this.#buffer.copy(grown, 0, this.#start, this.#end);
    this.#buffer = grown;
    this.#end -= this.#start;
    this.#scanned = Math.max(0, this.#scanned - this.#start);
    this.#start = 0;
  }
}
