// nodemailer's SMTPConnection with additions: a limit on the octets of replies (the library keeps every empty line of an endless flood),
// SMTPUTF8 for headers as well as addresses (RFC 6531 §3.4), access to the announcements of EHLO, and one write for a message that is in
// memory and needs no dot-stuffing. It enforces RFC 5321 where the library is lenient: only 354 starts the message, a reply follows its
// command, and all lines of a reply have one class. The reply to the message is the exception: the first one is the verdict, whatever
// follows it (decision 0059). `Inside` describes internal methods and fields of the library that its types lack; the tests of this file
// check them.
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { hasOneClass, isClosing } from '../../mail-format/reports/delivery-status.js';

type Replied = (error: SMTPConnection.SMTPError | null, reply?: string) => void;

interface Inside {
  _responseActions: ((reply: string) => void)[];
  /** Replies, each with its lines separated by line feeds; the last one is incomplete while `_responsePartial` is true. */
  _responseQueue: string[];
  _responsePartial: boolean;
  /** The start of a line that has not ended. */
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
  _supportedAuth: readonly string[];
  _maxAllowedSize: number;
  _onData(chunk: Buffer): void;
  _onResponseTooLarge(): void;
  _sendCommand(text: string, shown?: string): void;
}

const inside = SMTPConnection.prototype as unknown as Inside;

/** The parameters of MAIL, and of RCPT by address, each with a blank before it (RFC 3461). */
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
  /** True when the next reply is the one to the message. */
  #awaitsVerdict = false;

  /** `replyOctets` limits what the server may send between two calls of `begin`. */
  constructor(options: SMTPConnection.Options, replyOctets: number) {
    super({ ...options, maxResponseSize: replyOctets });
    this.#replyOctets = replyOctets;
  }

  /**
   * Begins a transaction. `isInternational`: it needs SMTPUTF8 whatever its addresses are. `isPlain`: its message is passed to `end` whole
   * and is sent unchanged, before the final dot. `dsn`: the notifications that the sender asks for, for a host that supports DSN.
   */
  begin(isInternational: boolean, isPlain: boolean, dsn: EnvelopeDsn = NO_DSN): void {
    this.#dsn = this.supports('DSN') ? dsn : NO_DSN;
    this.#received = 0;
    this.#awaitsVerdict = false;
    this.#isInternational = isInternational;
    this.#isPlain = isPlain;
  }

  /** `extension` is the keyword of one that the library knows: `8BITMIME`, `SMTPUTF8`, `SIZE`, `PIPELINING`, `DSN`. */
  supports(extension: string): boolean {
    return (this as unknown as Inside)._supportedExtensions.includes(extension);
  }

  /** In octets; 0 when the server does not announce it. */
  get largestMessage(): number {
    return (this as unknown as Inside)._maxAllowedSize;
  }

  /** True when the server announces a mechanism for user and password that the library knows: PLAIN, LOGIN or CRAM-MD5. */
  get takesPasswords(): boolean {
    return (this as unknown as Inside)._supportedAuth.some((mechanism) => mechanism !== 'XOAUTH2');
  }

  /**
   * True when the server did not accept DATA as DATA, or sent more than its reply: it is unknown which command a later reply belongs to.
   */
  get isOutOfStep(): boolean {
    return this.#isOutOfStep;
  }

  /** @internal */
  _onData(chunk: Buffer): void {
    const room = Math.max(0, this.#replyOctets - this.#received);
    this.#received += chunk.length;
    // The octets within the limit count: the reply to the message may be among them.
    inside._onData.call(this, chunk.subarray(0, room));
    // The library reads complete replies only when the last one is complete too.
    if ((this as unknown as Inside)._responsePartial) this._processResponse();
    if (chunk.length > room) inside._onResponseTooLarge.call(this);
  }

  /**
   * Processes the replies that have arrived. The library processes one reply per turn of the event loop, and a busy node has long turns,
   * but the replies to a pipelined envelope arrive together. Unexpected replies are handled as in the library. @internal
   */
  _processResponse(): void {
    const inner = this as unknown as Inside;
    // The library skips only one empty line per turn.
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

  /** RFC 5321 §4.2.5, §6.1: the first complete reply tells whether the message was accepted. Anything more makes the connection unfit. */
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

  /** RFC 5321 §4.1.1.4, §4.3.2: only 354 asks for the message. @internal */
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
      // The end of a connection has its own event.
      if (this._socket && !this._socket.destroyed) this._socket.write(octets);
    });
  }

  /** @internal */
  _sendCommand(text: string, shown?: string): void {
    const marked = this.#isInternational && text.startsWith('MAIL FROM:') && !text.endsWith(' SMTPUTF8');
    const whole = marked && !text.includes('> SMTPUTF8 ') ? `${text} SMTPUTF8` : text;
    inside._sendCommand.call(this, text.startsWith('MAIL FROM:') ? `${whole}${this.#dsn.mail}` : whole, shown);
  }

  /** The library has one DSN request for all recipients; this one differs per recipient. @internal */
  _getDsnRcptToArgs(): string {
    return this.#dsn.rcpt((this as unknown as Inside)._recipientQueue.at(-1) ?? '');
  }
}

function replyBeforeCommand({ _responseQueue, _remainder, _responseActions }: Inside): string | undefined {
  const [early] = [..._responseQueue, _remainder].slice(_responseActions.length).filter((reply) => reply.trim() !== '');
  // A server may send 421 at any time (RFC 5321 §3.8).
  return early === undefined || isClosing(early) || '421'.startsWith(early) ? undefined : early;
}

const FINAL_DOT = Buffer.from('.\r\n');

/** Receives a plain message instead of the library's stream: the writer and the library see the same interface. */
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
