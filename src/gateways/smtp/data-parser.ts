// smtp-server's parser of the peer's octets, with four changes: our decoder reads DATA (see data-decoder); the octets of BDAT
// are read by their number (RFC 3030); a message that is too large is read only up to a cap; and a connection whose first octets
// belong to another protocol is not read. The library parses the commands.
import type { SMTPServerDataStream } from 'smtp-server';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { DataDecoder } from './data-decoder.js';
import { LineEnds } from './line-ends.js';

/** The content of one message without the dots of transparency; `decoder.malformed` is final once the stream has ended. */
export interface MessageStream extends SMTPServerDataStream {
  decoder: { malformed: boolean };
}

/** Octets beyond the limit that are still read of a too large message, for the reply after its end; then the connection ends. */
export const EXCESS = 1_048_576;
const NOTHING = Buffer.alloc(0);
/** An HTTP request of any version (`PRI` begins HTTP/2). */
const HTTP = /^(?:CONNECT|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PRI|PUT|TRACE) /i;
/** TLS begins with octet 22; other protocols begin with octets that begin no command (Postfix: smtpd_forbidden_commands). */
const NO_COMMAND = /^[^A-Za-z\s]/;
const LONGEST_METHOD = 'CONNECT '.length;

/** The input exceeds a limit so far that reading on is of no use. */
export class TooLong extends Error {
  readonly what: 'command' | 'message';

  constructor(what: 'command' | 'message') {
    super(`${what} too long`);
    this.what = what;
  }
}

/** The peer speaks another protocol. */
export class WrongProtocol extends Error {}

type Written = (error?: Error | null) => void;

interface Chunk {
  left: number;
  readonly isLast: boolean;
  readonly taken: () => void;
}

export class DataParser extends SMTPStream {
  #decoder = new DataDecoder();
  #lineEnds = new LineEnds();
  /** The chunk that is being read; `taken` is called when all of it has arrived. */
  #chunk: Chunk | undefined;
  /** Whether the first octets are not yet known to be SMTP. */
  #isOpening = true;

  override _write(chunk: Buffer, encoding: BufferEncoding, done: Written): void {
    if (this.#isOpening && !this.isClosed && this.#isForeign(chunk)) done(new WrongProtocol());
    else super._write(chunk, encoding, done);
  }

  #isForeign(chunk: Buffer): boolean {
    const opening = this._remainder + chunk.toString('latin1', 0, LONGEST_METHOD);
    this.#isOpening = opening.length < LONGEST_METHOD && !opening.includes('\n');
    return NO_COMMAND.test(opening) || HTTP.test(opening);
  }

  override startDataMode(maxBytes?: number | string | null): MessageStream {
    this.#decoder = new DataDecoder();
    return Object.assign(super.startDataMode(maxBytes), { decoder: this.#decoder });
  }

  /** Begins a message whose octets come through `takeChunk`. */
  startChunks(maxBytes?: number | string | null): MessageStream {
    this.#lineEnds = new LineEnds();
    const stream = Object.assign(super.startDataMode(maxBytes), { decoder: this.#lineEnds });
    this._dataMode = false;
    return stream;
  }

  /** Aborts the message between two chunks. */
  abandonChunks(): void {
    const stream = this._dataStream;
    this._dataStream = null;
    stream?.destroy();
  }

  /**
   * Reads the next octets as a chunk of the message, or skips them when no message has begun. `callback` continues after the command;
   * after the last chunk only `continue` does.
   */
  takeChunk(octets: number, isLast: boolean, taken: () => void, callback: () => void): void {
    this.#chunk = { left: octets, isLast, taken };
    this._dataMode = true;
    if (octets === 0) this.#endChunk(NOTHING, callback);
    else callback();
  }

  #feedChunk(octets: Buffer, chunk: Chunk, done: Written): void {
    const content = octets.subarray(0, chunk.left);
    const rest = octets.subarray(content.length);
    chunk.left -= content.length;
    const stream = this._dataStream;
    const next = (): void => (chunk.left > 0 ? done() : this.#endChunk(rest, done));
    if (stream === null) {
      next();
      return;
    }
    this.#lineEnds.check(content);
    this._countDataBytes(content.length);
    if (this.dataBytes > this._maxBytes + EXCESS) done(new TooLong('message'));
    else if (!stream.writable || stream.write(content) || stream.destroyed) next();
    else whenDrained(stream, next);
  }

  #endChunk(rest: Buffer, done: Written): void {
    const { isLast, taken } = this.#chunk!;
    this.#chunk = undefined;
    if (isLast && this._dataStream !== null) {
      this._endDataMode(this.#lineEnds.end(), rest, done);
      taken();
      return;
    }
    this._dataMode = false;
    taken();
    this._write(rest, 'binary', done);
  }

  override _feedDataStream(chunk: Buffer, done: Written): void {
    if (this.#chunk !== undefined) {
      this.#feedChunk(chunk, this.#chunk, done);
      return;
    }
    const stream = this._dataStream;
    if (stream === null) {
      done();
      return;
    }
    const end = this.#decoder.decode(chunk);
    const content = chunk.subarray(0, this.#decoder.contentLength);
    this._countDataBytes(content.length);
    if (end >= 0) {
      this._endDataMode(content, chunk.subarray(end), done);
      return;
    }
    if (this.dataBytes > this._maxBytes + EXCESS) {
      done(new TooLong('message'));
      return;
    }
    if (content.length === 0 || !stream.writable || stream.write(content) || stream.destroyed) {
      done();
      return;
    }
    whenDrained(stream, done);
  }

  override _commandTooLong(): Error {
    super._commandTooLong();
    return new TooLong('command');
  }
}

function whenDrained(stream: SMTPServerDataStream, then: () => void): void {
  const resume = (): void => {
    stream.removeListener('drain', resume);
    stream.removeListener('close', resume);
    then();
  };
  stream.once('drain', resume);
  stream.once('close', resume);
}
