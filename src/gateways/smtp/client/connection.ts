// nodemailer's SMTPConnection with four things it lacks: an end to what a server may say (it keeps every empty line of an
// endless flood), SMTPUTF8 for headers and not for addresses alone (RFC 6531 §3.4), a view of what EHLO announced, and one
// write for a message that is in memory and needs no dot put before its lines, in place of a chain of streams. The
// methods and fields of `Inside` are the library's own and not in its types: the tests beside this hold it to them.
import SMTPConnection from 'nodemailer/lib/smtp-connection';

type Replied = (error: SMTPConnection.SMTPError | null, reply?: string) => void;

interface Inside {
  _responseActions: ((reply: string) => void)[];
  _actionSMTPStream(reply: string, callback: Replied): void;
  _createSendStream(callback: Replied): object;
  _supportedExtensions: readonly string[];
  _maxAllowedSize: number;
  _onData(chunk: Buffer): void;
  _onResponseTooLarge(): void;
  _sendCommand(text: string, shown?: string): void;
}

const inside = SMTPConnection.prototype as unknown as Inside;

export class ClientConnection extends SMTPConnection {
  readonly #replyOctets: number;
  #received = 0;
  #isInternational = false;
  #isPlain = false;

  /** `replyOctets`: what the server may say between two calls of `begin`. */
  constructor(options: SMTPConnection.Options, replyOctets: number) {
    super({ ...options, maxResponseSize: replyOctets });
    this.#replyOctets = replyOctets;
  }

  /**
   * A transaction begins. `isInternational`: it needs SMTPUTF8 whatever its addresses are; `isPlain`: its message is given
   * to `end` whole and goes out as it is, before the final dot.
   */
  begin(isInternational: boolean, isPlain: boolean): void {
    this.#received = 0;
    this.#isInternational = isInternational;
    this.#isPlain = isPlain;
  }

  /** Keyword of an extension the library knows: `8BITMIME`, `SMTPUTF8`, `SIZE`, `PIPELINING`. */
  supports(extension: string): boolean {
    return (this as unknown as Inside)._supportedExtensions.includes(extension);
  }

  /** Octets of the largest message, 0 when the server does not say. */
  get largestMessage(): number {
    return (this as unknown as Inside)._maxAllowedSize;
  }

  /** @internal */
  _onData(chunk: Buffer): void {
    this.#received += chunk.length;
    if (this.#received > this.#replyOctets) inside._onResponseTooLarge.call(this);
    else inside._onData.call(this, chunk);
  }

  /** @internal */
  _createSendStream(callback: Replied): object {
    if (!this.#isPlain) return inside._createSendStream.call(this, callback);
    const { _responseActions, _actionSMTPStream } = this as unknown as Inside;
    _responseActions.push((reply) => _actionSMTPStream.call(this, reply, callback));
    return new PlainMessage((octets) => {
      // What has ended is told of by its end.
      if (this._socket && !this._socket.destroyed) this._socket.write(octets);
    });
  }

  /** @internal */
  _sendCommand(text: string, shown?: string): void {
    const marked = this.#isInternational && text.startsWith('MAIL FROM:') && !text.endsWith(' SMTPUTF8');
    inside._sendCommand.call(this, marked && !text.includes('> SMTPUTF8 ') ? `${text} SMTPUTF8` : text, shown);
  }
}

const FINAL_DOT = Buffer.from('.\r\n');

/** Where a plain message goes: what the library's stream is to who writes the message, and to the library. */
class PlainMessage {
  outByteCount = 0;
  readonly #put: (octets: Uint8Array) => void;
  readonly #pieces: Uint8Array[] = [];

  constructor(put: (octets: Uint8Array) => void) {
    this.#put = put;
  }

  write(text: string, encoding: 'latin1'): void {
    this.#pieces.push(Buffer.from(text, encoding));
  }

  end(octets: Uint8Array): void {
    const whole = Buffer.concat([...this.#pieces, octets, FINAL_DOT]);
    this.outByteCount = whole.length;
    this.#put(whole);
  }
}
