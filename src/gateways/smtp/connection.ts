// One SMTP connection: smtp-server's command loop with the limits and replies that the library lacks. These are an enhanced code
// on every reply, counts of errors and junk commands, a deadline for each command, a minimum rate for messages, and CHUNKING
// (RFC 3030). mx and submission decide about transactions; the server counts connections.

import type { SMTPServer } from 'smtp-server';
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import type { ListenerLogins, LoginConnection } from '../../auth/listener-logins.js';
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import type { ConnectionSlot } from '../../net/tcp/connection-limits.js';
import { RateCredit } from '../../net/tcp/rate-credit.js';
import { authenticate } from './auth-exchange.js';
import { ChunkedMessages } from './chunked-messages.js';
import { DataParser, TooLong, WrongProtocol } from './data-parser.js';
import type { GreetDelayPassList } from './greet-delay-pass-list.js';
import type { SmtpLimits } from './limits.js';
import { parsePath } from './path.js';
import type { SmtpReply } from './replies.js';

export type SmtpSocket = SMTPConnection['_socket'];
type CommandHandler = Exclude<SMTPConnection['_nextHandler'], false>;

/** The part of the server that connections need. */
export interface ConnectionOwner extends SMTPServer {
  readonly limits: SmtpLimits;
  /** Undefined where anyone may send mail. */
  readonly logins: ListenerLogins<SmtpReply> | undefined;
  readonly passList: GreetDelayPassList;
  /** Whether new connections are refused and open ones end after their current message. */
  readonly stopping: boolean;
  /** Called when the socket of the connection has closed. */
  release(connection: SmtpConnection): void;
}

/** A text that begins with its own enhanced code (RFC 3463), as mail/reports/delivery-status writes them. */
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3} /;
const NOT_OFFERED = new Set(['EXPN', 'ETRN', 'TURN', 'SEND', 'SOML', 'SAML', 'AUTH', 'XCLIENT', 'XFORWARD']);
const JUNK = new Set(['NOOP', 'RSET', 'VRFY', 'HELP', 'HELO', 'EHLO']);
/** ms for which a closed connection of a stopping server waits for the peer to close its side. */
const LINGER_MS = 500;
const AUTHENTICATED: SmtpReply = { code: 235, text: '2.7.0 Authentication successful' };
const TOO_MANY_LOGINS: SmtpReply = { code: 421, text: '4.7.0 Too many failed logins, closing connection' };

export class SmtpConnection extends SMTPConnection implements LoginConnection<SmtpReply> {
  declare readonly _server: ConnectionOwner;
  readonly #slot: ConnectionSlot;
  #errors = 0;
  #junk = 0;
  #excessRecipients = 0;
  readonly #began = performance.now();
  #lastSeen = this.#began;
  #credit: RateCredit | undefined;
  #failedLogins = 0;
  /** The AUTH commands that are carried out: a login is judged, or the reply to a failed one is delayed. */
  #authentications = 0;
  /** Set between DATA and the reply to the message, and while a chunk is read or the last one is answered. */
  #inData = false;
  readonly #chunks = new ChunkedMessages(this);
  #released = false;
  #lingering: NodeJS.Timeout | undefined;
  /** Whether EHLO is being answered. */
  #offering = false;
  /** The text of the 421 that follows the reply to the message that has arrived. */
  #parting: string | undefined;
  /** The outermost socket, known before its handshake is done: destroying a lower socket under TLS can end the process. */
  #outermost: SmtpSocket | undefined;
  /** The socket that holds replies back until the end of this turn of the event loop. */
  #corked: SmtpSocket | undefined;
  readonly #uncork = (): void => {
    this.#corked?.uncork();
    this.#corked = undefined;
  };

  constructor(
    server: ConnectionOwner,
    socket: SmtpSocket,
    options: SMTPConnectionOptions | undefined,
    slot: ConnectionSlot,
  ) {
    super(server, socket, options ?? null);
    this.#slot = slot;
    // This class counts all errors in one place.
    this._maxAllowedUnauthenticatedCommands = false;
  }

  override init(): void {
    this._setListeners(() => {
      const delayMs = this._server.passList.delayOf(this.remoteAddress);
      // The shortest timer is one millisecond, which would dominate a connection with one message.
      if (delayMs === 0) this.connectionReady();
      else setTimeout(() => this.connectionReady(), delayMs).unref();
    });
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    this.#lastSeen = performance.now();
    this.#cork();
    if (this.#offering && Array.isArray(data)) data.push('CHUNKING');
    if (typeof data === 'string' && ENHANCED.test(data)) super.send(code, data, false);
    // Without a context this is the idle timeout, whose 4.4.2 is right.
    else if (code === 421 && typeof data === 'string' && context) super.send(421, `4.7.0 ${data}`, false);
    else super.send(code, data, context);

    if (this.#inData) this.#dataReplied(code);
    if (code < 400 || code === 421) return;
    // A recipient list longer than the limit is no misbehaviour: the peer sends the rest in the next transaction.
    if (context === 'TOO_MANY_RECIPIENTS' && ++this.#excessRecipients <= this._server.limits.recipients) return;
    this.#countError();
  }

  /** Whether the server has to act next, or the connection is over. */
  get #ours(): boolean {
    if (this._closing || this._handlerPending) return true;
    return this._dataStream !== false && this._dataStream !== null && !this.#chunks.isBetween;
  }

  /** Whether mail is accepted from accounts only, and the peer has not logged in. */
  get owesLogin(): boolean {
    return this._server.logins !== undefined && !this.session.user;
  }

  /** Ends the connection when the peer is too slow. `idleMs` and `loginMs` are the limits that apply now. */
  sweep(now: number, idleMs: number, loginMs: number): void {
    const parser = this._parser;
    if (this._upgrading) {
      // Nothing can be said in the middle of a handshake.
      if (now - this.#lastSeen > Math.min(idleMs, this._server.limits.handshakeMs)) this.destroy();
    } else if (parser !== false && ((this.#inData && parser._dataMode) || this.#chunks.isBetween)) {
      // While our own spool is slow, the peer cannot be faster.
      const isWaiting = this._dataStream ? this._dataStream.writableNeedDrain : false;
      const left = this.#credit?.left(parser.dataBytes, idleMs, now, isWaiting) ?? 0;
      if (left < 0) this.send(421, '4.4.2 Too slow, closing connection');
    } else if (!this.#ours && now - this.#lastSeen > idleMs) {
      this.send(421, '4.4.2 Timeout, closing connection');
    } else if (!this.#ours && this.owesLogin && now - this.#began > loginMs) {
      this.send(421, '4.4.2 No login in time, closing connection');
    }
  }

  /**
   * The server drains or stops: ends the connection if no message is being received. A drain that is not a stop leaves a
   * connection alone until it has completed a transaction.
   */
  drain(now: number): void {
    const { stopping } = this._server;
    if (stopping && this._closing) this.#letGo();
    if (this._closing || this.#inData || (this.#ours && !this._upgrading && this.#authentications === 0)) return;
    const { envelope } = this.session as Partial<SMTPConnection['session']>;
    const used = this._transactionCounter > 0 && !envelope?.mailFrom;
    if (!stopping && (!used || this._upgrading)) return;
    const { quietMs, stoppingQuietMs } = this._server.limits;
    if (now - this.#lastSeen < (stopping && !envelope?.mailFrom ? stoppingQuietMs : quietMs)) return;
    if (this._upgrading) this.destroy();
    else this.send(421, '4.3.2 Service closing, try again later');
  }

  /** Ends the connection in any state, when the stopping server has waited long enough. */
  expire(): void {
    if (this._upgrading) this.destroy();
    else if (!this._closing) this.send(421, '4.3.2 Service closing, try again later');
    this.#letGo();
  }

  /** Ends the session with 421, after the reply to a message that has arrived completely. */
  dismiss(text: string): void {
    if (this._closing || this._upgrading) return;
    const parser = this._parser;
    if (this.#inData && parser !== false && !parser._dataMode) this.#parting = text;
    else this.send(421, text);
  }

  destroy(): void {
    (this.#outermost ?? this._socket).destroy();
  }

  override _armTimeout(socket: SmtpSocket = this._socket): void {
    this.#outermost = socket;
    super._armTimeout(socket);
  }

  override close(): void {
    super.close();
    if (this._server.stopping) this.#letGo();
  }

  #letGo(): void {
    this.#lingering ??= setTimeout(() => this.destroy(), LINGER_MS).unref();
  }

  override upgrade(callback: () => void, secureCallback?: () => void): void {
    // Replies that are held back would be sent after the first octets of TLS.
    this.#uncork();
    super.upgrade(callback, secureCallback);
  }

  override handler_DATA(command: Buffer, callback: () => void): void {
    if (command.toString('latin1').trim().length > 4) {
      this.send(501, '5.5.4 DATA takes no parameters');
      callback();
      return;
    }
    super.handler_DATA(command, callback);
    if (this._dataStream) this.#dataBegins();
  }

  #dataBegins(): void {
    this.#inData = true;
    const { minRate, minRateGraceMs } = this._server.limits;
    this.#credit = new RateCredit(minRate, minRateGraceMs, performance.now());
  }

  /** Called when a chunk's octets begin. `isFirst` marks the first chunk of a message. */
  chunkBegins(isFirst: boolean): void {
    if (isFirst) this.#dataBegins();
    this.#inData = true;
  }

  chunkEnded(): void {
    this.#inData = false;
  }

  override handler_EHLO(command: Buffer, callback: () => void): void {
    this.#offering = true;
    try {
      super.handler_EHLO(command, () => undefined);
    } finally {
      this.#offering = false;
    }
    callback();
  }

  /** RFC 4954 §4: AUTH is not offered before the peer may use it. */
  override _isSupported(command: string): boolean {
    if (command === 'AUTH' && this.#offering && this._server.logins?.mayShowCredentials(this) !== true) return false;
    return super._isSupported(command);
  }

  override handler_AUTH(command: Buffer, callback: () => void): void {
    const { logins } = this._server;
    if (logins === undefined) {
      super.handler_AUTH(command, callback);
      return;
    }
    this.#authentications++;
    void authenticate(this, command.toString('latin1'), logins, callback).finally(() => {
      this.#authentications--;
    });
  }

  get isSecure(): boolean {
    return this.secure;
  }

  admit(accountId: string): boolean {
    return this.#slot.logIn(accountId);
  }

  open(login: ProtocolLogin): SmtpReply {
    this.session.user = login;
    this.session.transmissionType = this._transmissionType();
    return AUTHENTICATED;
  }

  loginFailed(): SmtpReply | undefined {
    return ++this.#failedLogins < this._server.limits.authFailures ? undefined : TOO_MANY_LOGINS;
  }

  override _parseAddressCommand(
    verb: string,
    line: Buffer | string,
  ): ReturnType<SMTPConnection['_parseAddressCommand']> {
    return parsePath(verb === 'mail from' ? 'MAIL FROM' : 'RCPT TO', line.toString()) ?? false;
  }

  override _onCommand(command: Buffer, callback?: () => void): void {
    this.#lastSeen = performance.now();
    if (this._upgrading || !this._ready) {
      super._onCommand(command, callback);
      return;
    }
    // The library counts these itself and ends a session after ten.
    this._unrecognizedCommands = 0;
    if (this._nextHandler) {
      this.#respond(this._nextHandler, command, callback ?? (() => undefined));
      return;
    }
    const line = command.toString('latin1', 0, 9);
    const space = line.indexOf(' ');
    const verb = (space < 0 ? line : line.slice(0, space)).toUpperCase();
    if (command.length > this._server.limits.commandLength && verb !== 'AUTH') {
      this.#overlong();
      return;
    }
    if (verb === 'BDAT') {
      this.#chunks.take(command.toString('latin1'), callback ?? (() => undefined));
      return;
    }
    if (!this.#chunks.allows(verb)) {
      this.send(503, '5.5.1 The next chunk of the message is expected');
      setImmediate(callback ?? (() => undefined));
      return;
    }
    // The header is late, or from an untrusted sender: the source of a connection is known before the banner.
    if (verb === 'PROXY') {
      this.send(421, '4.7.0 PROXY is not expected here, closing connection');
      return;
    }
    if (NOT_OFFERED.has(verb) && !this._isSupported(verb)) {
      this.send(502, '5.5.1 Command not implemented');
      setImmediate(callback ?? (() => undefined));
      return;
    }
    if (JUNK.has(verb) && ++this.#junk > this._server.limits.junkCommands) this.#countError();
    if (this._closing) return;
    super._onCommand(command, callback);
  }

  /** A line of an AUTH exchange is never a command. */
  #respond(handler: CommandHandler, line: Buffer, callback: () => void): void {
    this._nextHandler = false;
    this._handlerPending = true;
    handler.call(this, line, () => {
      this._handlerPending = false;
      this._whenWritable(callback);
    });
  }

  override _createParser(): DataParser {
    const { logins, limits } = this._server;
    const parser = new DataParser({
      maxCommandLength: logins === undefined ? limits.commandLength : Math.max(limits.commandLength, limits.authLength),
    });
    parser.oncommand = (command, callback) => this._onCommand(command, callback as (() => void) | undefined);
    parser.on('error', (error) => {
      if (error instanceof WrongProtocol) this.send(421, '4.7.0 This is SMTP, closing connection');
      else if (!(error instanceof TooLong)) this.send(421, '4.3.0 Internal error, closing connection');
      else if (error.what === 'command') this.#overlong();
      else this.send(552, '5.3.4 Message too large, closing connection');
      this.close();
    });
    return parser;
  }

  /** RFC 4954 §6 has its own code for lines of AUTH. */
  #overlong(): void {
    this.send(500, `${this._nextHandler ? '5.5.6' : '5.5.2'} Line too long, closing connection`);
    this.close();
  }

  override _onClose(): void {
    super._onClose();
    if (this.#released) return;
    this.#released = true;
    this.#slot.leave();
    this._server.release(this);
  }

  /** Replies to pipelined commands are written together (RFC 2920 §3.2), because writes dominate the cost here. */
  #cork(): void {
    if (this.#corked !== undefined || this._upgrading) return;
    this.#corked = this._socket;
    this.#corked.cork();
    setImmediate(this.#uncork);
  }

  #dataReplied(code: number): void {
    this.#inData = false;
    if (code === 250) {
      this.#errors = 0;
      this.#junk = 0;
      this._server.passList.add(this.remoteAddress);
    }
    if (this._server.stopping) super.send(421, '4.3.2 Service closing', false);
    else if (this.#parting !== undefined) super.send(421, this.#parting, false);
  }

  #countError(): void {
    if (++this.#errors >= this._server.limits.errors && !this._closing) {
      super.send(421, '4.7.0 Too many errors, closing connection', false);
    }
  }
}
