// One POP3 session on its connection (RFC 1939 §3). It uses little memory at rest.
import type { Logger } from 'pino';
import type { ListenerLogins, LoginConnection } from '../../auth/listener-logins.js';
import type { OpenLogins } from '../../auth/open-logins.js';
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import { ConnectionEnd } from '../../net/tcp/connection-end.js';
import type { LineConnection } from '../../net/tcp/line-connection.js';
import type { Pop3Context } from './context.js';
import { isBug, replyOf } from './faults.js';
import { LOGIN_REPLIES } from './login.js';
import { type Maildrop, openMaildrop } from './maildrop.js';
import { MessageReader } from './message-reader.js';
import { err, LOCK_LOST, lineOf, ok, Pop3Output, type Pop3Reply } from './replies.js';

export type Pop3State = 'authorization' | 'transaction';

/** What all sessions of a listener share. */
export interface Pop3SessionParts {
  readonly context: Pop3Context;
  readonly log: Logger;
  readonly openLogins: OpenLogins<Pop3Session>;
  readonly logins: ListenerLogins<Pop3Reply>;
}

interface Opened {
  readonly login: ProtocolLogin;
  readonly maildrop: Maildrop;
  readonly reader: MessageReader;
}

const IN_USE = err('Another session has the maildrop', 'IN-USE');

export class Pop3Session implements LoginConnection<Pop3Reply> {
  readonly connection: LineConnection;
  readonly output: Pop3Output;
  /** The name that USER gave, until PASS. */
  userName: string | undefined;
  isUtf8 = false;
  /** Refused commands in a row. */
  errors = 0;
  /** When the login was last found valid, by the clock of `performance`. */
  checkedAt = 0;
  /** Whether the connection ends after the current command. */
  isOver = false;
  /** Whether QUIT was received: the end of the connection no longer matters then. */
  isQuitting = false;
  readonly #parts: Pop3SessionParts;
  #opened: Opened | undefined;
  #failedLogins = 0;
  #isRunning = false;
  #hasLostLock = false;

  constructor(connection: LineConnection, parts: Pop3SessionParts) {
    this.connection = connection;
    this.output = new Pop3Output(connection);
    this.#parts = parts;
  }

  get context(): Pop3Context {
    return this.#parts.context;
  }

  get log(): Logger {
    return this.#parts.log;
  }

  get logins(): ListenerLogins<Pop3Reply> {
    return this.#parts.logins;
  }

  get state(): Pop3State {
    return this.#opened === undefined ? 'authorization' : 'transaction';
  }

  get isSecure(): boolean {
    return this.connection.isSecure;
  }

  get remoteAddress(): string {
    return this.connection.peer.address;
  }

  /** @throws Error before the login, as the other getters of the transaction state do */
  get login(): ProtocolLogin {
    return this.#inTransaction.login;
  }

  get accountId(): string {
    return this.login.principal.accountId;
  }

  get maildrop(): Maildrop {
    return this.#inTransaction.maildrop;
  }

  get reader(): MessageReader {
    return this.#inTransaction.reader;
  }

  admit(accountId: string): boolean {
    return this.connection.logIn(accountId);
  }

  /** A connection that does not get its maildrop ends (RFC 1939 §4), so it no longer counts for the account. */
  async open(login: ProtocolLogin): Promise<Pop3Reply> {
    const { context, remoteAddress, log } = this;
    const { accountId, keyId } = login.principal;
    const about = { accountId, keyId, remoteAddress };
    let maildrop: Maildrop | undefined;
    try {
      maildrop = await openMaildrop(context.mailboxes.of(accountId));
      // A revocation that came while the maildrop was opened found no session to end.
      if (maildrop !== undefined && !(await context.signIn.holds(login))) {
        void maildrop.close();
        this.isOver = true;
        return LOGIN_REPLIES.wrong;
      }
    } catch (err) {
      void maildrop?.close();
      log[isBug(err) ? 'error' : 'warn']({ err, ...about }, 'the maildrop could not be opened');
      this.isOver = true;
      return replyOf(err);
    }
    if (maildrop === undefined) {
      log.info(about, 'another session has the maildrop');
      this.isOver = true;
      return IN_USE;
    }
    this.#begin(login, maildrop);
    const { count, octets } = maildrop.drop;
    return ok(`Logged in, ${count} messages (${octets} octets)`);
  }

  /** Sets the state to `transaction`. */
  #begin(login: ProtocolLogin, maildrop: Maildrop): void {
    const { accountId } = login.principal;
    this.#opened = { login, maildrop, reader: new MessageReader(this.context, accountId, maildrop) };
    this.checkedAt = performance.now();
    this.#parts.openLogins.add(this);
  }

  loginFailed(): undefined {
    if (++this.#failedLogins >= this.context.limits.authFailures) this.isOver = true;
  }

  /** Reads the next line that the client sends during a command (a response of AUTH), without its end. @throws ConnectionEnd */
  async readLine(): Promise<Buffer> {
    this.output.flush();
    const line = await this.connection.readLine();
    if (line === undefined) throw new ConnectionEnd('lost');
    return line;
  }

  /** Notes whether a command is being carried out. Returns false when the session is over, because another one has the maildrop. */
  running(isRunning: boolean): boolean {
    this.#isRunning = isRunning;
    if (!this.#hasLostLock) return true;
    this.output.write(lineOf(LOCK_LOST));
    return false;
  }

  /** Renews the lock on the maildrop. Ends the session when another session has it. */
  async renew(): Promise<void> {
    this.reader.sweep();
    if (this.isQuitting || this.#hasLostLock || (await this.maildrop.renew()) || this.isQuitting) return;
    this.#hasLostLock = true;
    if (this.#isRunning) return;
    this.running(false);
    this.output.flush();
    this.connection.cut('over');
  }

  /** Called when the connection is over. */
  close(): void {
    this.output.flush();
    const opened = this.#opened;
    if (opened === undefined) return;
    this.#parts.openLogins.delete(this);
    opened.reader.drop();
    // A session that ends without QUIT deletes nothing (RFC 1939 §6).
    if (!this.isQuitting && !this.#hasLostLock) void opened.maildrop.close();
  }

  get #inTransaction(): Opened {
    if (this.#opened === undefined) throw new Error('nobody is logged in');
    return this.#opened;
  }
}
