// nodemailer's SMTPConnection with additions: a limit on the octets of replies (the library keeps every empty line of an endless
// flood), SMTPUTF8 for headers and not for addresses alone (RFC 6531 §3.4), a view of what EHLO announced, one write for a
// message that is in memory and needs no dot put before its lines, and RFC 5321 where the library is lenient: 354 alone
// starts the message, a reply comes after its command, and all lines of a reply have one class. The reply to the message is the
// exception: the first one is the verdict, whatever follows it (decision 0059). The methods and fields of `Inside` are the
// library's own and not in its types: the tests beside this hold it to them.
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { hasOneClass, isClosing } from '../mail/delivery-status.js';

type Replied = (error: SMTPConnection.SMTPError | null, reply?: string) => void;

interface Inside {
  _responseActions: ((reply: string) => void)[];
  /** Replies, each with its lines parted by line feeds; the last one is incomplete while `_responsePartial` holds. */
  _responseQueue: string[];
  _responsePartial: boolean;
  /** Of a line that has not ended. */
  _remainder: string;
  _processResponse(): void;
  _onError(error: Error, code: string, reply: string | false, command: string): void;
  _formatError(message: string, code: string, reply: string, command: string): SMTPConnection.SMTPError;
  _envelopeError(reply: string): SMTPConnection.SMTPError | null;
  _actionDATA(reply: string, callback: Replied): void;
  _actionSMTPStream(reply: string, callback: Replied): void;
  _createSendStream(callback: Replied): object;
  _recipientQueue: readonly string[];
  _supportedExtensions: readonly string[];
  _maxAllowedSize: number;
  _onData(chunk: Buffer): void;
  _onResponseTooLarge(): void;
  _sendCommand(text: string, shown?: string): void;
}

const inside = SMTPConnection.prototype as unknown as Inside;

/** Parameters of MAIL, and of RCPT by address, each with a blank before it (RFC 3461). */
export interface EnvelopeDsn {
  readonly mail: string;
  rcpt(address: string): string;
}

const NO_DSN: EnvelopeDsn = { mail: '', rcpt: () => '' };

export class ClientConnection extends SMTPConnection {
  readonly #replyOctets: number;
  #received = 0;
  #isInternational = false;
  #isPlain = false;
  #isOutOfStep = false;
  #dsn = NO_DSN;
  /** The reply that comes next is the one to the message. */
  #awaitsVerdict = false;

  /** `replyOctets`: what the server may say between two calls of `begin`. */
  constructor(options: SMTPConnection.Options, replyOctets: number) {
    super({ ...options, maxResponseSize: replyOctets });
    this.#replyOctets = replyOctets;
  }

  /**
   * A transaction begins. `isInternational`: it needs SMTPUTF8 whatever its addresses are; `isPlain`: its message is given
   * to `end` whole and goes out as it is, before the final dot. `dsn`: what the sender asks to be told, for a host that knows DSN.
   */
  begin(isInternational: boolean, isPlain: boolean, dsn: EnvelopeDsn = NO_DSN): void {
    this.#dsn = this.supports('DSN') ? dsn : NO_DSN;
    this.#received = 0;
    this.#awaitsVerdict = false;
    this.#isInternational = isInternational;
    this.#isPlain = isPlain;
  }

  /** Keyword of an extension the library knows: `8BITMIME`, `SMTPUTF8`, `SIZE`, `PIPELINING`, `DSN`. */
  supports(extension: string): boolean {
    return (this as unknown as Inside)._supportedExtensions.includes(extension);
  }

  /** Octets of the largest message, 0 when the server does not say. */
  get largestMessage(): number {
    return (this as unknown as Inside)._maxAllowedSize;
  }

  /** The server did not take DATA as DATA, or said more than its reply: which command a later reply belongs to is unknown. */
  get isOutOfStep(): boolean {
    return this.#isOutOfStep;
  }

  /** @internal */
  _onData(chunk: Buffer): void {
    const room = Math.max(0, this.#replyOctets - this.#received);
    this.#received += chunk.length;
    // What came within the limit counts: the reply to the message may be in it.
    inside._onData.call(this, chunk.subarray(0, room));
    // The library looks at complete replies only once the last one is complete too.
    if ((this as unknown as Inside)._responsePartial) this._processResponse();
    if (chunk.length > room) inside._onResponseTooLarge.call(this);
  }

  /**
   * Takes the replies to commands that have come. The library takes one reply a turn of the event loop, and a busy node has long
   * turns: the replies to a pipelined envelope come together. What comes unasked is taken as the library does. @internal
   */
  _processResponse(): void {
    const inner = this as unknown as Inside;
    // The library passes over one empty line a turn.
    inner._responseQueue = inner._responseQueue.filter((reply) => reply.trim() !== '');
    if (this.#awaitsVerdict) this.#keepVerdict(inner);
    const early = replyBeforeCommand(inner);
    if (early !== undefined) {
      this.#violated(`a reply came before its command: ${early}`);
      return;
    }
    let before: number;
    let left: number;
    do {
      before = inner._responseQueue.length;
      const [first] = inner._responseQueue;
      const isComplete = first !== undefined && (before > 1 || !inner._responsePartial);
      if (isComplete && !hasOneClass(first)) {
        this.#violated(`the lines of a reply have different codes: ${first}`);
        return;
      }
      inside._processResponse.call(this);
      left = inner._responseQueue.length;
    } while (left > 0 && left < before && left <= inner._responseActions.length);
  }

  /** RFC 5321 §4.2.5, §6.1: the first complete reply says whether the message was taken. More makes the connection unfit. */
  #keepVerdict(inner: Inside): void {
    const { _responseQueue, _responsePartial, _remainder } = inner;
    if (_responseQueue.length === 0 || (_responseQueue.length === 1 && _responsePartial)) return;
    this.#awaitsVerdict = false;
    if (_responseQueue.length === 1 && _remainder.trim() === '') return;
    this.#isOutOfStep = true;
    inner._responseQueue = _responseQueue.slice(0, 1);
    inner._responsePartial = false;
    inner._remainder = '';
  }

  #violated(rule: string): void {
    const inner = this as unknown as Inside;
    inner._responseQueue = [];
    inner._remainder = '';
    inside._onError.call(this, new Error(rule), 'EPROTOCOL', false, 'CONN');
  }

  /** RFC 5321 §4.1.1.4, §4.3.2: nothing but 354 asks for the message. @internal */
  _actionDATA(reply: string, callback: Replied): void {
    if (/^(?:354|[45]\d\d)(?:[ -]|$)/.test(reply)) {
      inside._actionDATA.call(this, reply, callback);
      return;
    }
    this.#isOutOfStep = true;
    const { _envelopeError, _formatError } = inside;
    callback(_envelopeError.call(this, reply) ?? _formatError.call(this, 'no 354 to DATA', 'EENVELOPE', reply, 'DATA'));
  }

  /** @internal */
  _createSendStream(callback: Replied): object {
    this.#awaitsVerdict = true;
    if (!this.#isPlain) return inside._createSendStream.call(this, callback);
    const { _responseActions, _actionSMTPStream } = this as unknown as Inside;
    _responseActions.push((reply) => _actionSMTPStream.call(this, reply, callback));
    return new PlainMessage((octets) => {
      // The end of a connection is reported by its own event.
      if (this._socket && !this._socket.destroyed) this._socket.write(octets);
    });
  }

  /** @internal */
  _sendCommand(text: string, shown?: string): void {
    const marked = this.#isInternational && text.startsWith('MAIL FROM:') && !text.endsWith(' SMTPUTF8');
    const whole = marked && !text.includes('> SMTPUTF8 ') ? `${text} SMTPUTF8` : text;
    inside._sendCommand.call(this, text.startsWith('MAIL FROM:') ? `${whole}${this.#dsn.mail}` : whole, shown);
  }

  /** The library has one request for all recipients. @internal */
  _getDsnRcptToArgs(): string {
    return this.#dsn.rcpt((this as unknown as Inside)._recipientQueue.at(-1) ?? '');
  }
}

function replyBeforeCommand({ _responseQueue, _remainder, _responseActions }: Inside): string | undefined {
  const [early] = [..._responseQueue, _remainder].slice(_responseActions.length).filter((reply) => reply.trim() !== '');
  // A server may say 421 at any time (RFC 5321 §3.8).
  return early === undefined || isClosing(early) || '421'.startsWith(early) ? undefined : early;
}

const FINAL_DOT = Buffer.from('.\r\n');

/** Takes a plain message in place of the library's stream: the writer and the library see the same interface. */
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
