// What a session of IMAP and one of POP3 have in common: the connection and its output, the login and its checks, counts of failures. A
// session uses little memory at rest, because most sessions of a node wait for their clients. session-loop runs it.
import type { Logger } from 'pino';
import type { Mailboxes } from '../../actors/mailbox/protocol.js';
import type { ListenerLogins, LoginConnection } from '../../auth/listener-logins.js';
import type { OpenLogins } from '../../auth/open-logins.js';
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import type { SignIn } from '../../auth/sign-in.js';
import { ConnectionEnd } from '../../net/tcp/connection-end.js';
import type { LineConnection } from '../../net/tcp/line-connection.js';
import { faultKind } from '../faults.js';
import type { SessionLimits } from './limits.js';
import { ConnectionOutput } from './output.js';

/** What all sessions of a node share; each protocol adds its own parts. */
export interface SessionContext {
  readonly hostname: string;
  readonly version: string;
  readonly allowPlaintextAuth: boolean;
  readonly signIn: SignIn;
  readonly mailboxes: Mailboxes;
  readonly limits: SessionLimits;
}

/** What all sessions of a listener share. `R`: a reply of the protocol. */
export interface SessionParts<R extends object> {
  readonly context: SessionContext;
  readonly log: Logger;
  readonly logins: ListenerLogins<R>;
  readonly openLogins: Pick<OpenLogins<{ readonly login: ProtocolLogin }>, 'add' | 'delete'>;
}

export abstract class MailSession<R extends object, P extends SessionParts<R>> implements LoginConnection<R> {
  readonly connection: LineConnection;
  readonly output: ConnectionOutput;
  /** Refused commands in a row. */
  errors = 0;
  /** Whether the connection ends after the current command. */
  isOver = false;
  protected readonly parts: P;
  #login: ProtocolLogin | undefined;
  /** When the login was last found valid, by the clock of `performance`. */
  #validAt = 0;
  #failedLogins = 0;

  constructor(connection: LineConnection, parts: P) {
    this.connection = connection;
    this.output = new ConnectionOutput(connection);
    this.parts = parts;
  }

  get context(): P['context'] {
    return this.parts.context;
  }

  get log(): Logger {
    return this.parts.log;
  }

  get logins(): ListenerLogins<R> {
    return this.parts.logins;
  }

  get isSecure(): boolean {
    return this.connection.isSecure;
  }

  get remoteAddress(): string {
    return this.connection.peer.address;
  }

  get isLoggedIn(): boolean {
    return this.#login !== undefined;
  }

  /** @throws Error before the login */
  get login(): ProtocolLogin {
    if (this.#login === undefined) throw new Error('nobody is logged in');
    return this.#login;
  }

  /** @throws Error before the login */
  get accountId(): string {
    return this.login.principal.accountId;
  }

  admit(accountId: string): boolean {
    return this.connection.logIn(accountId);
  }

  abstract open(login: ProtocolLogin): Promise<R> | R;

  loginFailed(): undefined {
    if (++this.#failedLogins >= this.context.limits.authFailures) this.endAfterFailures();
  }

  /** Ends the connection after the current command, which was the last failed login. */
  protected abstract endAfterFailures(): void;

  /** Called by `open`: from now on the session ends with its login. */
  protected begin(login: ProtocolLogin): void {
    this.#login = login;
    this.#validAt = performance.now();
    this.parts.openLogins.add(this);
  }

  /** Ends the login; the connection stays. */
  leave(): void {
    this.parts.openLogins.delete(this);
    this.#login = undefined;
    this.connection.logOut();
  }

  /**
   * Tells whether the login is still valid. It is checked again periodically, because the event of a revocation may be lost.
   * @throws StoreFault, ProviderUnavailable, from the promise
   */
  isLoginValid(): true | Promise<boolean> {
    const now = performance.now();
    return now - this.#validAt < this.context.limits.recheckMs || this.#checkLogin(now);
  }

  async #checkLogin(now: number): Promise<boolean> {
    const isValid = await this.context.signIn.holds(this.login);
    if (isValid) this.#validAt = now;
    return isValid;
  }

  /** Reads the next line that the client sends during a command, without its end. @throws ConnectionEnd */
  async readLine(): Promise<Buffer> {
    this.output.flush();
    const line = await this.connection.readLine();
    if (line === undefined) throw new ConnectionEnd('lost');
    return line;
  }

  /** Fields for log lines. */
  get about(): { readonly accountId?: string; readonly remoteAddress: string } {
    const { remoteAddress } = this;
    return this.isLoggedIn ? { accountId: this.accountId, remoteAddress } : { remoteAddress };
  }

  /** Logs the error of a command; a fault of this program has its stack. */
  logFailure(err: unknown, command: string | undefined, isBug: boolean): void {
    const fields = { err, command, ...this.about };
    if (isBug) this.log.error(fields, 'a command failed');
    else if (faultKind(err) !== 'bug') this.log.warn(fields, 'a command could not be carried out');
  }

  /** Called when the connection is over. */
  close(): void {
    this.output.flush();
    this.parts.openLogins.delete(this);
  }
}
