// Locks of maildrops by POP3 sessions: one session at a time (RFC 1939 §4). Locks are in the memory of the node that owns the mailbox. They
// expire unless they are renewed, so that a dead node releases the locks of its sessions. A lock is valid in one epoch: locks of an earlier
// owner mean nothing to a later one.

/** In ms; sessions renew more often. */
const LOCKED_MS = 15_000;

interface Lock {
  readonly sessionId: string;
  readonly epoch: number;
  readonly until: number;
}

export class MaildropLocks {
  /** Locks by account, ordered by their last renewal. */
  readonly #locks = new Map<string, Lock>();
  readonly #now: () => number;

  /** `now`: ms of a clock that does not jump. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Acquires or renews the lock; false while another session has it. */
  take(accountId: string, epoch: number, sessionId: string): boolean {
    const now = this.#now();
    this.#forgetExpired(now);
    const held = this.#locks.get(accountId);
    if (held !== undefined && held.epoch === epoch && held.sessionId !== sessionId) return false;
    this.#locks.delete(accountId);
    this.#locks.set(accountId, { sessionId, epoch, until: now + LOCKED_MS });
    return true;
  }

  /** Does nothing when the session does not have the lock. */
  free(accountId: string, sessionId: string): void {
    if (this.#locks.get(accountId)?.sessionId === sessionId) this.#locks.delete(accountId);
  }

  #forgetExpired(now: number): void {
    for (const [accountId, { until }] of this.#locks) {
      if (until > now) return;
      this.#locks.delete(accountId);
    }
  }
}
