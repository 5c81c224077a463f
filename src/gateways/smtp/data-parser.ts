// smtp-server's parser of what the peer sends, with our decoder of the octets after DATA in place of its own (see
// line-discipline) and a cap on how much of a message that is too large is still read. Commands stay the library's.
import type { SMTPServerDataStream } from 'smtp-server';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { LineDiscipline } from './line-discipline.js';

/** The content of one message, dots taken out; `discipline.malformed` is final once the stream has ended. */
export interface MessageStream extends SMTPServerDataStream {
  discipline: LineDiscipline;
}

/** Octets still read of a message twice as large as it may be, before the connection is ended. */
const EXCESS = 1_048_576;

/** What the peer sent is so far beyond a limit that reading on is no use. */
export class Overlong extends Error {
  readonly what: 'command' | 'message';

  constructor(what: 'command' | 'message') {
    super(`${what} too long`);
    this.what = what;
  }
}

export class DataParser extends SMTPStream {
  #discipline = new LineDiscipline();

  override startDataMode(maxBytes?: number | string | null): MessageStream {
    this.#discipline = new LineDiscipline();
    return Object.assign(super.startDataMode(maxBytes), { discipline: this.#discipline });
  }

  override _feedDataStream(chunk: Buffer, done: (error?: Error | null) => void): void {
    const stream = this._dataStream;
    if (stream === null) {
      done();
      return;
    }
    const end = this.#discipline.decode(chunk);
    const content = chunk.subarray(0, this.#discipline.contentLength);
    this._countDataBytes(content.length);
    if (end >= 0) {
      this._endDataMode(content, chunk.subarray(end), done);
      return;
    }
    if (this.dataBytes > this._maxBytes * 2 + EXCESS) {
      done(new Overlong('message'));
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
    return new Overlong('command');
  }
}
