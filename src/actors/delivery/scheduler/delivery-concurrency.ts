// Limits the emails that are delivered at a time: a bounded number of slots, of which every account has a share. When all domains of an
// email wait for a permit or a connection, the email gives its slot to another and takes a waiting slot, whose number is bounded too. It
// continues even if no slot is free.
import { DynamicShares } from '../../../work/dynamic-shares.js';

export interface DeliveryConcurrencyOptions {
  readonly total: number;
  readonly mostWaiting: number;
  /** Called when a slot may have become free. */
  readonly freed: () => void;
}

export class DeliveryConcurrency {
  readonly #running: DynamicShares;
  readonly #waiting: DynamicShares;
  readonly #freed: () => void;

  constructor({ total, mostWaiting, freed }: DeliveryConcurrencyOptions) {
    this.#running = new DynamicShares({ total });
    this.#waiting = new DynamicShares({ total: mostWaiting });
    this.#freed = freed;
  }

  get total(): number {
    return this.#running.total;
  }

  /** Negative when emails that waited continue although others have taken their slots. */
  get free(): number {
    return this.#running.free;
  }

  /** Accounts that have used up their share. */
  get accountsAtShare(): readonly string[] {
    return this.#running.holders.filter((accountId) => !this.#running.mayTake(accountId));
  }

  /** Undefined when no slot is free for the account. */
  take(accountId: string): DeliverySlot | undefined {
    if (!this.#running.mayTake(accountId)) return undefined;
    return new DeliverySlot(accountId, this.#running, this.#waiting, this.#freed);
  }
}

export class DeliverySlot {
  readonly accountId: string;
  readonly #running: DynamicShares;
  readonly #waiting: DynamicShares;
  readonly #freed: () => void;
  #domains = 0;
  #domainsThatWait = 0;
  #state: 'running' | 'waiting' | 'released' = 'running';

  constructor(accountId: string, running: DynamicShares, waiting: DynamicShares, freed: () => void) {
    this.accountId = accountId;
    this.#running = running;
    this.#waiting = waiting;
    this.#freed = freed;
    running.take(accountId);
  }

  /** Changes the number of domains in delivery, and of those that wait. */
  count(domains: 1 | 0 | -1, waiting: 1 | 0 | -1): void {
    this.#domains += domains;
    this.#domainsThatWait += waiting;
    const allWait = this.#domains > 0 && this.#domainsThatWait === this.#domains;
    if (this.#state === 'running' && allWait) this.#wait();
    else if (this.#state === 'waiting' && !allWait) this.#goOn();
  }

  release(): void {
    if (this.#state === 'waiting') this.#goOn();
    if (this.#state === 'released') return;
    this.#state = 'released';
    this.#running.give(this.accountId);
    this.#freed();
  }

  /** If too many emails wait already, the email keeps its slot. */
  #wait(): void {
    if (!this.#waiting.mayTake(this.accountId)) return;
    this.#state = 'waiting';
    this.#waiting.take(this.accountId);
    this.#running.give(this.accountId);
    this.#freed();
  }

  #goOn(): void {
    this.#state = 'running';
    this.#waiting.give(this.accountId);
    this.#running.take(this.accountId);
  }
}
