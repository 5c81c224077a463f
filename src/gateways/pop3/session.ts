// One POP3 session on its connection (RFC 1939 §3): what `MailSession` lacks.
import type { ProtocolLogin } from '../../auth/protocol-login.js';
import { MailSession, type SessionParts } from '../sessions/mail-session.js';
import type { Pop3Context } from './context.js';
import { isBug, replyOf } from './faults.js';
import { LOGIN_REPLIES } from './login.js';
import { type Maildrop, openMaildrop } from './maildrop.js';
import { MessageReader } from './message-reader.js';
import { err, LOCK_LOST, lineOf, ok, type Pop3Reply } from './replies.js';

export type Pop3State = 'authorization' | 'transaction';

/** What all sessions of a listener share. */
export interface Pop3SessionParts extends SessionParts<Pop3Reply> {
  readonly context: Pop3Context;
}

interface Opened {
  readonly maildrop: Maildrop;
  readonly reader: MessageReader;
}

const IN_USE = err('Another session has the maildrop', 'IN-USE');

export class Pop3Session extends MailSession<Pop3Reply, Pop3SessionParts> {
  /** The name that USER gave, until PASS. */
  userName: string | undefined;
  isUtf8 = false;
  /** Whether QUIT was received: the end of the connection no longer matters then. */
  isQuitting = false;
  #opened: Opened | undefined;
  #isRunning = false;
  #hasLostLock = false;

  get state(): Pop3State {
    return this.isLoggedIn ? 'transaction' : 'authorization';
  }

  /** @throws Error before the login, as `reader` does */
  get maildrop(): Maildrop {
    return this.#inTransaction.maildrop;
  }

  get reader(): MessageReader {
    return this.#inTransaction.reader;
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
    this.#opened = { maildrop, reader: new MessageReader(context, accountId, maildrop) };
    this.begin(login);
    const { count, octets } = maildrop.drop;
    return ok(`Logged in, ${count} messages (${octets} octets)`);
  }

  protected endAfterFailures(): void {
    this.isOver = true;
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

  override close(): void {
    super.close();
    const opened = this.#opened;
    if (opened === undefined) return;
    opened.reader.drop();
    // A session that ends without QUIT deletes nothing (RFC 1939 §6).
    if (!this.isQuitting && !this.#hasLostLock) void opened.maildrop.close();
  }

  get #inTransaction(): Opened {
    if (this.#opened === undefined) throw new Error('nobody is logged in');
    return this.#opened;
  }
}
