// What a mailbox remembers of its sending: the recipients of the last day by minute, and addresses to which it has written. It is read when
// the mailbox first sends; then only its commits change it, because nobody else counts for the account.
import { lruCache } from '../../../concurrency/lru-cache.js';
import type { CountedSending, SendingCounts, SendingMinute, SentRecipients } from '../../../store/limits/sending.js';
import { firstMinuteOf, forwardedIn, sentIn } from '../../sending/recipient-limits.js';

const MOST_KNOWN = 2_000;
const KNOWN_OCTETS = 150;
const MINUTE_OCTETS = 100;

export class SendingMemory {
  /** In order. */
  readonly #minutes: Map<number, SendingMinute>;
  readonly #known = lruCache<string, true>(MOST_KNOWN);

  constructor(minutes: readonly SendingMinute[]) {
    this.#minutes = new Map(minutes.map((counted) => [counted.minute, counted]));
  }

  get octets(): number {
    return this.#minutes.size * MINUTE_OCTETS + this.#known.size * KNOWN_OCTETS;
  }

  isKnown(address: string): boolean {
    return this.#known.get(address) === true;
  }

  /** Remembers addresses to which the account has written. */
  know(addresses: Iterable<string>): void {
    for (const address of addresses) this.#known.set(address, true);
  }

  sent(now: number): SentRecipients {
    return sentIn(this.#minutes.values(), now);
  }

  forwarded(now: number): SentRecipients {
    return forwardedIn(this.#minutes.values(), now);
  }

  /** The counts of an hour. */
  hour(now: number): SendingCounts {
    const first = firstMinuteOf('hour', now);
    const counts = { recipients: 0, strangers: 0, refused: 0 };
    for (const { minute, recipients, strangers, refused } of this.#minutes.values()) {
      if (minute < first) continue;
      counts.recipients += recipients;
      counts.strangers += strangers;
      counts.refused += refused;
    }
    return counts;
  }

  evolve({ minute, addresses, recipients, strangers, refused, forwarded }: CountedSending): void {
    const before = this.#minutes.get(minute) ?? { recipients: 0, strangers: 0, refused: 0, forwarded: 0 };
    this.#minutes.set(minute, {
      minute,
      recipients: before.recipients + recipients,
      strangers: before.strangers + strangers,
      refused: before.refused + refused,
      forwarded: before.forwarded + forwarded,
    });
    this.know(addresses);
    const first = firstMinuteOf('day', minute * 60_000);
    for (const old of this.#minutes.keys()) {
      if (old >= first) break;
      this.#minutes.delete(old);
    }
  }
}
