// Which sessions of POP3 have which maildrop: one at a time (RFC 1939 §4). Locks are in the memory of the node that owns the
// mailbox and expire unless they are renewed, so that a node that dies frees what its sessions had. They are of one epoch: what
// an earlier owner has locked means nothing to a later one.

/** ms; sessions renew in less. */
const LOCKED_MS = 15_000;

interface Lock {
  readonly sessionId: string;
  readonly epoch: number;
  readonly until: number;
}

export class MaildropLocks {
  /** By account, those renewed last at the end. */
  readonly #locks = new Map<string, Lock>();
  readonly #now: () => number;

  /** `now`: ms of a clock that does not jump. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes the lock or renews it; false while another session has it. */
  take(accountId: string, epoch: number, sessionId: string): boolean {
    const now = this.#now();
    this.#forgetExpired(now);
    const held = this.#locks.get(accountId);
    if (held !== undefined && held.epoch === epoch && held.sessionId !== sessionId) return false;
    this.#locks.delete(accountId);
    this.#locks.set(accountId, { sessionId, epoch, until: now + LOCKED_MS });
    return true;
  }

  /** Nothing happens when the session does not have it. */
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
