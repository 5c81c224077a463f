// Follows the events of an account until it is ended: a stream that breaks off is opened again after a pause, and the follower learns that
// it may have missed events.
import type { Subscription } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../actors/mailbox/protocol.js';

/** The pause after an interruption. ms */
const RETRY_MS = 1_000;

export interface EventListener {
  /** `isGap`: earlier events may have been missed; `events` may be empty. From now on every event is passed. */
  heard(events: readonly MailboxEvent[], isGap: boolean): void;
  /** Called for each stream that ends: events may be missed until `heard` is called. */
  interrupted(error: unknown): void;
}

export class AccountFollower {
  readonly #mailbox: ReturnType<Mailboxes['of']>;
  readonly #listener: EventListener;
  #stream: Subscription | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isFollowing = false;
  #isEnded = false;

  constructor(mailboxes: Mailboxes, accountId: string, listener: EventListener) {
    this.#mailbox = mailboxes.of(accountId);
    this.#listener = listener;
    this.#subscribe();
  }

  end(): void {
    this.#isEnded = true;
    this.#stream?.unsubscribe();
    clearTimeout(this.#retry);
  }

  #subscribe(): void {
    this.#stream = this.#mailbox.events$().subscribe({
      next: (events) => this.#next(events),
      error: (error) => this.#interrupted(error),
      complete: () => this.#interrupted(new Error('the event stream has ended')),
    });
    if (this.#isEnded) this.#stream.unsubscribe();
  }

  #next(events: readonly MailboxEvent[]): void {
    if (this.#isEnded) return;
    const isGap = !this.#isFollowing;
    this.#isFollowing = true;
    this.#listener.heard(events, isGap);
  }

  #interrupted(error: unknown): void {
    if (this.#isEnded) return;
    this.#isFollowing = false;
    this.#retry = setTimeout(() => this.#subscribe(), RETRY_MS).unref();
    this.#listener.interrupted(error);
  }
}
