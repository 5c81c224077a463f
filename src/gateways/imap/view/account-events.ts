// Events of accounts for the mirrors of this node: one subscription per account, which outlives the last mirror of the account
// for a while, so that a program that reconnects often does not subscribe each time.
import type { MailboxEvent, Mailboxes } from '../../../actors/mailbox/protocol.js';
import { AccountFollower, type EventListener } from '../../events/account-follower.js';

/** ms that a subscription outlives its last listener. */
const LINGER_MS = 60_000;

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

class FollowedAccount implements EventListener {
  readonly #listeners = new Set<AccountListener>();
  readonly #follower: AccountFollower;
  readonly #onEnd: () => void;
  #isFollowing = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(mailboxes: Mailboxes, accountId: string, onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#follower = new AccountFollower(mailboxes, accountId, this);
  }

  add(listener: AccountListener): void {
    clearTimeout(this.#timer);
    this.#listeners.add(listener);
    if (this.#isFollowing) listener.followed();
  }

  remove(listener: AccountListener): void {
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
    this.#timer = setTimeout(() => {
      this.#follower.end();
      this.#onEnd();
    }, LINGER_MS).unref();
  }

  heard(events: readonly MailboxEvent[], isGap: boolean): void {
    this.#isFollowing = true;
    if (isGap) for (const listener of this.#listeners) listener.followed();
    if (events.length > 0) for (const listener of this.#listeners) listener.heard(events);
  }

  interrupted(): void {
    this.#isFollowing = false;
    for (const listener of this.#listeners) listener.unfollowed();
  }
}
