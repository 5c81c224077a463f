// Events of accounts for the mirrors of this node: one subscription per account, which outlives the last mirror of the account
// for a while, so that a program that reconnects often does not subscribe each time.
import type { Subscription } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../../actors/mailbox/protocol.js';

/** ms that a subscription outlives its last listener. */
const LINGER_MS = 60_000;
/** ms until an interrupted subscription is started again. */
const RETRY_MS = 1000;

export interface AccountListener {
  /** From now on `heard` gets every event; earlier ones may have been missed. */
  followed(): void;
  /** Events may be missed until `followed` is called again. */
  unfollowed(): void;
  heard(events: readonly MailboxEvent[]): void;
}

export class AccountEvents {
  readonly #mailboxes: Mailboxes;
  readonly #accounts = new Map<string, FollowedAccount>();

  constructor(mailboxes: Mailboxes) {
    this.#mailboxes = mailboxes;
  }

  add(accountId: string, listener: AccountListener): void {
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      account = new FollowedAccount(this.#mailboxes, accountId, () => this.#accounts.delete(accountId));
      this.#accounts.set(accountId, account);
    }
    account.add(listener);
  }

  remove(accountId: string, listener: AccountListener): void {
    this.#accounts.get(accountId)?.remove(listener);
  }
}

class FollowedAccount {
  readonly #mailboxes: Mailboxes;
  readonly #accountId: string;
  readonly #onEnd: () => void;
  readonly #listeners = new Set<AccountListener>();
  #subscription: Subscription | undefined;
  #isFollowing = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(mailboxes: Mailboxes, accountId: string, onEnd: () => void) {
    this.#mailboxes = mailboxes;
    this.#accountId = accountId;
    this.#onEnd = onEnd;
    this.#subscribe();
  }

  add(listener: AccountListener): void {
    const isFirst = this.#listeners.size === 0;
    this.#listeners.add(listener);
    if (isFirst) {
      clearTimeout(this.#timer);
      // The subscription was interrupted while there was no listener.
      if (this.#subscription === undefined) this.#after(RETRY_MS, () => this.#subscribe());
    }
    if (this.#isFollowing) listener.followed();
  }

  remove(listener: AccountListener): void {
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
    this.#after(LINGER_MS, () => {
      this.#subscription?.unsubscribe();
      this.#onEnd();
    });
  }

  #subscribe(): void {
    const interrupted = () => this.#interrupted();
    this.#subscription = this.#mailboxes
      .of(this.#accountId)
      .events$()
      .subscribe({ next: (events) => this.#next(events), error: interrupted, complete: interrupted });
    // An observable may end while it is being subscribed to.
    if (this.#subscription.closed) this.#subscription = undefined;
  }

  #next(events: readonly MailboxEvent[]): void {
    if (!this.#isFollowing) {
      this.#isFollowing = true;
      for (const listener of this.#listeners) listener.followed();
    }
    if (events.length > 0) for (const listener of this.#listeners) listener.heard(events);
  }

  #interrupted(): void {
    this.#subscription = undefined;
    this.#isFollowing = false;
    for (const listener of this.#listeners) listener.unfollowed();
    if (this.#listeners.size > 0) this.#after(RETRY_MS, () => this.#subscribe());
  }

  #after(ms: number, run: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(run, ms).unref();
  }
}
