// Splits a mailbox file at its `From ` lines, piece by piece. A line that begins with `From ` separates two messages when it has
// a date; when the first one in the file has no date, each such line does.
import { fromLineDate } from './mbox-fields.js';
import { MOST_OCTETS } from './source.js';

const LF = 0x0a;
const CR = 0x0d;
const FROM = Buffer.from('From ');
const FROM_BEHIND_LINE = Buffer.from('\nFrom ');
/** Octets of a `From ` line. */
const LONGEST_FROM_LINE = 1_000;

export class NotMbox extends Error {
  override readonly name = 'NotMbox';

  constructor() {
    super('the file does not begin with a "From " line: it is no mailbox file');
  }
}

export interface SplitMessage {
  /** Position of the `From ` line in the file. */
  readonly octet: number;
  /** ms since the epoch. */
  readonly date: number | undefined;
  /** The octets between the `From ` lines, without the empty line before the second; undefined when there are too many. */
  readonly bytes: Buffer | undefined;
}

export class MboxSplitter {
  /** Octets that have not been searched completely. */
  #pending: Buffer = Buffer.alloc(0);
  /** This many of them, at the start, belong to no message. */
  #passed = 0;
  /** Position of these octets in the file. */
  #offset = 0;
  #begun: Omit<SplitMessage, 'bytes'> | undefined;
  #isUndated = false;
  #pieces: Buffer[] = [];
  #octets = 0;
  readonly #mostOctets: number;

  constructor(mostOctets = MOST_OCTETS) {
    this.#mostOctets = mostOctets;
  }

  /** @throws NotMbox */
  *push(piece: Buffer): Generator<SplitMessage, void> {
    const data = this.#pending.length === 0 ? piece : Buffer.concat([this.#pending, piece]);
    let taken = this.#passed;
    let at = 0;
    if (this.#begun === undefined) {
      const feed = data.indexOf(LF);
      if (feed < 0 && data.length < LONGEST_FROM_LINE) return this.#hold(data, 0, 0);
      if (feed < 0 || !data.subarray(0, FROM.length).equals(FROM)) throw new NotMbox();
      this.#begun = { octet: 0, date: dateIn(data, 0, feed) };
      this.#isUndated = this.#begun.date === undefined;
      taken = feed + 1;
      at = feed;
    }
    for (;;) {
      const found = data.indexOf(FROM_BEHIND_LINE, at);
      if (found < 0) break;
      const line = found + 1;
      const feed = data.indexOf(LF, line);
      if (feed < 0 && data.length - line < LONGEST_FROM_LINE) return this.#hold(data, taken, found);
      const date = feed < 0 ? undefined : dateIn(data, line, feed);
      at = line;
      if (feed < 0 || (date === undefined && !this.#isUndated)) continue;
      this.#take(data.subarray(taken, line));
      yield this.#finish();
      this.#begun = { octet: this.#offset + line, date };
      taken = feed + 1;
      at = feed;
    }
    this.#hold(data, taken, Math.max(at, data.length - FROM_BEHIND_LINE.length + 1));
  }

  /** @throws NotMbox */
  *end(): Generator<SplitMessage, void> {
    if (this.#begun === undefined) {
      if (this.#pending.length > 0) throw new NotMbox();
      return;
    }
    this.#take(this.#pending.subarray(this.#passed));
    yield this.#finish();
  }

  /** Keeps the octets after `from` for the next piece. */
  #hold(data: Buffer, taken: number, from: number): void {
    if (from > taken) this.#take(data.subarray(taken, from));
    this.#passed = Math.max(0, taken - from);
    this.#offset += from;
    this.#pending = data.subarray(from);
  }

  #take(piece: Buffer): void {
    this.#octets += piece.length;
    if (this.#octets > this.#mostOctets) this.#pieces = [];
    else this.#pieces.push(piece);
  }

  #finish(): SplitMessage {
    const bytes = this.#octets > this.#mostOctets ? undefined : withoutEmptyLine(Buffer.concat(this.#pieces));
    this.#pieces = [];
    this.#octets = 0;
    return { ...this.#begun!, bytes };
  }
}

const dateIn = (data: Buffer, line: number, feed: number): number | undefined =>
  fromLineDate(data.toString('latin1', line, feed));

function withoutEmptyLine(bytes: Buffer): Buffer {
  const end = bytes.length - 1;
  if (bytes[end] !== LF) return bytes;
  const start = bytes[end - 1] === CR ? end - 1 : end;
  return start === 0 || bytes[start - 1] === LF ? bytes.subarray(0, start) : bytes;
}
