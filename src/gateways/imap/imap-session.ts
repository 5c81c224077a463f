// One IMAP session on its connection: what `MailSession` lacks.
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import { MailSession, type SessionParts } from '../sessions/mail-session.js';
import type { Command } from './command.js';
import { bad, type Completion, ok, Refused, type Suspension } from './completion.js';
import type { ImapContext } from './context.js';
import { highestModseq } from './responses/updates.js';
import { endUpdates } from './search/updating-searches.js';
import type { Enabled, Notifier, Selected, Session, SessionState } from './session.js';
import type { ViewUpdates } from './view/folder-view.js';

const NONE: ReadonlySet<Enabled> = new Set();
const NO_UIDS: readonly number[] = [];

/** What all sessions of a listener share. */
export interface ImapSessionParts extends SessionParts<Completion> {
  readonly context: ImapContext;
  readonly capabilities: (session: Session) => string;
  /** Writes the untagged responses about changes of the selected mailbox. */
  readonly sendUpdates: (session: Session, mayExpunge: boolean) => ViewUpdates;
}

/** A command that waits for a line of the client. */
export interface SuspendedCommand {
  readonly suspension: Suspension;
  readonly tag: string;
  readonly row: Command;
  readonly began: number;
}

export class ImapSession extends MailSession<Completion, ImapSessionParts> implements Session {
  savedSearch: readonly number[] = NO_UIDS;
  tag = '';
  suspended: SuspendedCommand | undefined;
  #enabled = NONE;
  #selected: Selected | undefined;
  #notifier: Notifier | undefined;

  get state(): SessionState {
    if (!this.isLoggedIn) return 'not-authenticated';
    return this.#selected === undefined ? 'authenticated' : 'selected';
  }

  get capabilities(): string {
    return this.parts.capabilities(this);
  }

  open(login: ProtocolLogin): Completion {
    this.begin(login);
    return ok('Logged in', `CAPABILITY ${this.capabilities}`);
  }

  protected endAfterFailures(): void {
    this.end('Too many failed logins', 'LIMIT');
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

  override async readLine(mostOctets = Number.POSITIVE_INFINITY): Promise<Buffer> {
    const line = await super.readLine();
    if (line.length > mostOctets) throw new Refused(bad('The line is too long'));
    return line;
  }

  sendUpdates(mayExpunge: boolean): ViewUpdates {
    return this.parts.sendUpdates(this, mayExpunge);
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

  override close(): void {
    void this.stopSuspended();
    this.notify(undefined);
    this.select(undefined);
    super.close();
  }
}
