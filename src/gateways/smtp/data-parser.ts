// smtp-server's parser of the peer's octets, with three changes: our decoder reads DATA (see data-decoder); a message
// that is too large is read only up to a cap; and a connection whose first octets belong to another protocol is not read.
// The library parses the commands.
import type { SMTPServerDataStream } from 'smtp-server';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { DataDecoder } from './data-decoder.js';

/** The content of one message, dots taken out; `decoder.malformed` is final once the stream has ended. */
export interface MessageStream extends SMTPServerDataStream {
  decoder: DataDecoder;
}

/** Octets still read of a message that is too large, for the reply after its end, before the connection is ended. */
const EXCESS = 1_048_576;
/** An HTTP request, whichever version (`PRI` begins HTTP/2). */
const HTTP = /^(?:CONNECT|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PRI|PUT|TRACE) /i;
/** TLS begins with an octet of 22, others with something else that begins no command (Postfix: smtpd_forbidden_commands). */
const NO_COMMAND = /^[^A-Za-z\s]/;
const LONGEST_METHOD = 'CONNECT '.length;

/** What the peer sent is so far beyond a limit that reading on is no use. */
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

export class DataParser extends SMTPStream {
  #decoder = new DataDecoder();
  /** The first octets are not yet known to be SMTP. */
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

  override _feedDataStream(chunk: Buffer, done: Written): void {
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
    const resume = (): void => {
      stream.removeListener('drain', resume);
      stream.removeListener('close', resume);
      done();
    };
    stream.once('drain', resume);
    stream.once('close', resume);
  }

  override _commandTooLong(): Error {
    super._commandTooLong();
    return new TooLong('command');
  }
}
