// The memory of a node for summaries of emails that were shown lately. Each mailbox has a bound of its own; when all of them have
// more than the node's bound, the mailbox that has shown nothing for longest gives up its summaries.
import type { SharedRoom, Summaries } from './summaries.js';

const MOST_OCTETS = 64 * 1024 * 1024;

interface Holder {
  readonly summaries: Summaries;
  /** When the mailbox was looked at last. */
  readonly octets: number;
}

export class SummaryRoom implements SharedRoom {
  readonly #mostOctets: number;
  /** By account, the least recently used first. An account that is loaded again has other summaries. */
  readonly #holders = new Map<string, Holder>();
  #octets = 0;

  constructor(mostOctets = MOST_OCTETS) {
    this.#mostOctets = mostOctets;
  }

  get octets(): number {
    return this.#octets;
  }

  used(by: Summaries): void {
    this.#forget(by.accountId);
    this.#holders.set(by.accountId, { summaries: by, octets: by.octets });
    this.#octets += by.octets;
    for (const [accountId, { summaries }] of this.#holders) {
      if (this.#octets <= this.#mostOctets || summaries === by) break;
      summaries.clear();
      this.#forget(accountId);
    }
  }

  #forget(accountId: string): void {
    this.#octets -= this.#holders.get(accountId)?.octets ?? 0;
    this.#holders.delete(accountId);
  }
}
