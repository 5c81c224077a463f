// One IMAP session on its connection. It uses little memory at rest, because most sessions of a node wait in IDLE.
import type { Logger } from 'pino';
import type { ListenerLogins } from '../../auth/listener-logins.js';
import type { OpenLogins } from '../../auth/open-logins.js';
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import { ConnectionEnd } from '../../net/tcp/connection-end.js';
import type { LineConnection } from '../../net/tcp/line-connection.js';
import type { Command } from './command.js';
import { bad, type Completion, ok, Refused, type Suspension } from './completion.js';
import type { ImapContext } from './context.js';
import { ConnectionOutput } from './output.js';
import { highestModseq } from './responses/updates.js';
import { endUpdates } from './search/updating-searches.js';
import type { Enabled, Notifier, Selected, Session, SessionState } from './session.js';
import type { ViewUpdates } from './view/folder-view.js';

const NONE: ReadonlySet<Enabled> = new Set();
const NO_UIDS: readonly number[] = [];

/** What all sessions of a listener share. */
export interface SessionParts {
  readonly context: ImapContext;
  readonly log: Logger;
  readonly capabilities: (session: Session) => string;
  /** Writes the untagged responses about changes of the selected mailbox. */
  readonly sendUpdates: (session: Session, mayExpunge: boolean) => ViewUpdates;
  readonly openLogins: OpenLogins<ImapSession>;
  readonly logins: ListenerLogins<Completion>;
}

/** A command that waits for a line of the client. */
export interface SuspendedCommand {
  readonly suspension: Suspension;
  readonly tag: string;
  readonly row: Command;
  readonly began: number;
}

export class ImapSession implements Session {
  readonly connection: LineConnection;
  readonly output: ConnectionOutput;
  savedSearch: readonly number[] = NO_UIDS;
  tag = '';
  /** Refused commands in a row. */
  errors = 0;
  /** When the login was last found valid, by the clock of `performance`. */
  checkedAt = 0;
  suspended: SuspendedCommand | undefined;
  /** Whether the connection ends after the current command. */
  isOver = false;
  readonly #parts: SessionParts;
  #failedLogins = 0;
  #login: ProtocolLogin | undefined;
  #enabled = NONE;
  #selected: Selected | undefined;
  #notifier: Notifier | undefined;

  constructor(connection: LineConnection, parts: SessionParts) {
    this.connection = connection;
    this.output = new ConnectionOutput(connection);
    this.#parts = parts;
  }

  get state(): SessionState {
    if (this.#login === undefined) return 'not-authenticated';
    return this.#selected === undefined ? 'authenticated' : 'selected';
  }

  get isSecure(): boolean {
    return this.connection.isSecure;
  }

  get remoteAddress(): string {
    return this.connection.peer.address;
  }

  get log(): Logger {
    return this.#parts.log;
  }

  get context(): ImapContext {
    return this.#parts.context;
  }

  get logins(): ListenerLogins<Completion> {
    return this.#parts.logins;
  }

  get capabilities(): string {
    return this.#parts.capabilities(this);
  }

  get isLoggedIn(): boolean {
    return this.#login !== undefined;
  }

  get login(): ProtocolLogin {
    if (this.#login === undefined) throw new Error('nobody is logged in');
    return this.#login;
  }

  get accountId(): string {
    return this.login.principal.accountId;
  }

  admit(accountId: string): boolean {
    return this.connection.logIn(accountId);
  }

  open(login: ProtocolLogin): Completion {
    this.#login = login;
    this.checkedAt = performance.now();
    this.#parts.openLogins.add(this);
    return ok('Logged in', `CAPABILITY ${this.capabilities}`);
  }

  loginFailed(): undefined {
    if (++this.#failedLogins >= this.context.limits.authFailures) this.end('Too many failed logins', 'LIMIT');
  }

  get enabled(): ReadonlySet<Enabled> {
    return this.#enabled;
  }

  enable(...extensions: Enabled[]): void {
    if (extensions.every((extension) => this.#enabled.has(extension))) return;
    const hadModseqs = this.#enabled.has('CONDSTORE');
    this.#enabled = new Set([...this.#enabled, ...extensions]);
    // RFC 7162 §3.1.
    if (this.#selected === undefined || hadModseqs || !this.#enabled.has('CONDSTORE')) return;
    this.output.line(`* OK [${highestModseq(this.#selected.view)}] Highest modseq`);
  }

  get selected(): Selected | undefined {
    return this.#selected;
  }

  select(selected: Selected | undefined): void {
    const before = this.#selected;
    this.#selected = selected;
    this.savedSearch = NO_UIDS;
    if (before === undefined || before.view === selected?.view) return;
    endUpdates(before.view);
    before.view.close();
  }

  get notifier(): Notifier | undefined {
    return this.#notifier;
  }

  notify(notifier: Notifier | undefined): void {
    this.#notifier?.end();
    this.#notifier = notifier;
  }

  async readLine(mostOctets: number): Promise<Buffer> {
    this.output.flush();
    const line = await this.connection.readLine();
    if (line === undefined) throw new ConnectionEnd('lost');
    if (line.length > mostOctets) throw new Refused(bad('The line is too long'));
    return line;
  }

  sendUpdates(mayExpunge: boolean): ViewUpdates {
    return this.#parts.sendUpdates(this, mayExpunge);
  }

  end(text: string, code?: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.output.line(`* BYE ${code === undefined ? '' : `[${code}] `}${text}`);
  }

  stopSuspended(): Promise<void> | undefined {
    const { suspended } = this;
    this.suspended = undefined;
    return suspended?.suspension.stop();
  }

  /** Called when the connection is over. */
  close(): void {
    void this.stopSuspended();
    this.notify(undefined);
    this.select(undefined);
    this.output.flush();
    this.#parts.openLogins.delete(this);
  }
}
