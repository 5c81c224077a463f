// Divides the octets of a message, received in pieces of any size, into header blocks, body octets and delimiter lines (RFC 2046 §5.1.1);
// the indexer interprets them. Lines end in CRLF or LF. The scanner holds back at most one line that may be a delimiter and the line break
// before it. Buffer.indexOf does the search, so long bodies take little time.
import { Boundaries, type Delimiter, LONGEST_DELIMITER_LINE } from './boundaries.js';
import { HeaderBlock } from './header-block.js';

const LF = 0x0a;
const CR = 0x0d;
const DASH = 0x2d;
const DELIMITER_START = Buffer.from('\n--');
const EMPTY = Buffer.alloc(0);
const LINE_FEED = Buffer.from('\n');
const CARRIAGE_RETURN = Buffer.from('\r');
const LINE_BREAK = Buffer.from('\r\n');

/** `lines` is always the number of line feeds before the offset that it accompanies. */
export interface PartEvents {
  /** Called when a header has ended. Returns true when another header follows at once (an embedded message). */
  header(block: Buffer, cut: boolean, bodyStart: number, lines: number): boolean;
  /** Called for octets of the current body; returns the number of line feeds in them. */
  body(data: Buffer, from: number, to: number): number;
  /** Called when a delimiter has ended a body at `bodyEnd`. Returns true when a header begins at `next`. */
  delimiter(delimiter: Delimiter, bodyEnd: number, lines: number, next: number): boolean;
}

export class PartScanner {
  readonly boundaries = new Boundaries();
  readonly headers: HeaderBlock;
  readonly #events: PartEvents;
  /** The number of octets before the current piece, without the octets held back from the last one. */
  #base = 0;
  /** The start of a line that may be a delimiter; its end has not arrived. */
  #pending: Buffer = EMPTY;
  #inHeader = true;
  #atLineStart = true;
  #lines = 0;
  /** The line break at the end of the octets so far: it belongs to the body unless a delimiter follows. */
  #break: Buffer = EMPTY;

  constructor(headerOctets: number, events: PartEvents) {
    this.headers = new HeaderBlock(headerOctets);
    this.#events = events;
  }

  /** The number of octets read so far. */
  get offset(): number {
    return this.#base;
  }

  get lines(): number {
    return this.#lines;
  }

  push(chunk: Uint8Array): void {
    const fresh = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const data = this.#pending.length === 0 ? fresh : Buffer.concat([this.#pending, fresh]);
    const read = this.#read(data, false);
    this.#pending = read === data.length ? EMPTY : Buffer.from(data.subarray(read));
    this.#base += read;
  }

  finish(): void {
    this.#base += this.#read(this.#pending, true);
    this.#pending = EMPTY;
    this.#endHeaders(this.#base);
    if (this.#break.length > 0) this.#lines += this.#events.body(this.#break, 0, this.#break.length);
  }

  /** Reads `data` up to a line that may be a delimiter; returns the offset reached. */
  #read(data: Buffer, last: boolean): number {
    let at = 0;
    while (at < data.length) {
      const next = this.#inHeader ? this.#readHeader(data, at, last) : this.#readBody(data, at, last);
      if (next === at) break;
      at = next;
    }
    this.headers.detach();
    return at;
  }

  #readHeader(data: Buffer, start: number, last: boolean): number {
    let at = start;
    while (at < data.length) {
      const lineFeed = data.indexOf(LF, at);
      if (lineFeed < 0 && !last && this.#atLineStart && data.length - at <= LONGEST_DELIMITER_LINE) return at;
      const end = lineFeed < 0 ? data.length : lineFeed + 1;
      if (this.#atLineStart) {
        if (lineFeed === at || (lineFeed === at + 1 && data[at] === CR)) {
          this.#lines++;
          this.#endHeader(this.#base + end);
          return end;
        }
        const delimiter = this.#delimiter(data, at, lineFeed < 0 ? end : lineFeed);
        if (delimiter !== undefined) {
          // There is no empty line: the part has only a header.
          this.#endHeaders(this.#base + at);
          return this.#endBody(delimiter, at, end, lineFeed >= 0);
        }
      }
      this.headers.keep(data, at, end);
      this.#atLineStart = lineFeed >= 0;
      if (lineFeed >= 0) this.#lines++;
      at = end;
    }
    return at;
  }

  #readBody(data: Buffer, start: number, last: boolean): number {
    let at = start;
    while (at < data.length) {
      if (this.boundaries.none) {
        this.#body(data, at, data.length);
        return data.length;
      }
      if (this.#atLineStart && data[at] === DASH) {
        const lineFeed = data.indexOf(LF, at);
        if (lineFeed < 0 && !last && data.length - at <= LONGEST_DELIMITER_LINE) return at;
        const end = lineFeed < 0 ? data.length : lineFeed;
        const delimiter = this.#delimiter(data, at, end);
        if (delimiter !== undefined) {
          return this.#endBody(delimiter, at, lineFeed < 0 ? end : end + 1, lineFeed >= 0);
        }
      }
      const found = data.indexOf(DELIMITER_START, at);
      const stop = found < 0 ? data.length : found + 1;
      // A dash at the start of the last line of the piece may begin a delimiter: it waits for the next piece.
      const undecided = found < 0 && !last && stop - at > 1 && data[stop - 1] === DASH && data[stop - 2] === LF;
      const end = undecided ? stop - 1 : stop;
      this.#body(data, at, end);
      this.#atLineStart = data[end - 1] === LF;
      at = end;
      if (undecided) return at;
    }
    return at;
  }

  #delimiter(data: Buffer, start: number, end: number): Delimiter | undefined {
    if (data[start] !== DASH || data[start + 1] !== DASH || this.boundaries.none) return undefined;
    return this.boundaries.match(data, start, end);
  }

  #endHeader(bodyStart: number): void {
    const cut = this.headers.cut;
    this.#inHeader = this.#events.header(this.headers.take(), cut, bodyStart, this.#lines);
    this.#atLineStart = true;
  }

  /** Ends the header of the part and that of the embedded message that the part may be. */
  #endHeaders(bodyStart: number): void {
    while (this.#inHeader) this.#endHeader(bodyStart);
  }

  #body(data: Buffer, from: number, to: number): void {
    const tail = lineBreakBefore(data, from, to);
    if (this.#break === CARRIAGE_RETURN && to - from === 1 && data[from] === LF) {
      this.#break = LINE_BREAK;
      return;
    }
    if (this.#break.length > 0) this.#lines += this.#events.body(this.#break, 0, this.#break.length);
    this.#break = tail;
    const end = to - tail.length;
    if (end > from) this.#lines += this.#events.body(data, from, end);
  }

  /** Ends a body at the delimiter line [start, end) of the piece. */
  #endBody(delimiter: Delimiter, start: number, end: number, terminated: boolean): number {
    const bodyEnd = this.#base + start - this.#break.length;
    const lines = this.#lines;
    this.#lines += (this.#break.length > 0 ? 1 : 0) + (terminated ? 1 : 0);
    this.#break = EMPTY;
    this.#atLineStart = true;
    this.#inHeader = this.#events.delimiter(delimiter, bodyEnd, lines, this.#base + end);
    return end;
  }
}

/** Returns the line break that ends [from, to), or the start of one. */
function lineBreakBefore(data: Buffer, from: number, to: number): Buffer {
  const last = data[to - 1];
  if (last === CR) return CARRIAGE_RETURN;
  if (last !== LF) return EMPTY;
  return to - from > 1 && data[to - 2] === CR ? LINE_BREAK : LINE_FEED;
}
