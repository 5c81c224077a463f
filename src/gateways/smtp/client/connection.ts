// nodemailer's SMTPConnection with three things it lacks: an end to what a server may say (it keeps every empty line of an
// endless flood), SMTPUTF8 for headers and not for addresses alone (RFC 6531 §3.4), and a view of what EHLO announced. The
// methods and fields of `Inside` are the library's own and not in its types: the tests beside this hold it to them.
import SMTPConnection from 'nodemailer/lib/smtp-connection';

interface Inside {
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

  /** `replyOctets`: what the server may say between two calls of `begin`. */
  constructor(options: SMTPConnection.Options, replyOctets: number) {
    super({ ...options, maxResponseSize: replyOctets });
    this.#replyOctets = replyOctets;
  }

  /** A transaction begins; `isInternational`: it needs SMTPUTF8 whatever its addresses are. */
  begin(isInternational: boolean): void {
    this.#received = 0;
    this.#isInternational = isInternational;
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
  _sendCommand(text: string, shown?: string): void {
    const marked = this.#isInternational && text.startsWith('MAIL FROM:') && !text.endsWith(' SMTPUTF8');
    inside._sendCommand.call(this, marked && !text.includes('> SMTPUTF8 ') ? `${text} SMTPUTF8` : text, shown);
  }
}
