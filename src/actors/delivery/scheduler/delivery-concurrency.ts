// How many emails are delivered at the same time: a bounded number of slots, of which every account has its share. An email all
// of whose domains wait, for a permit or for a connection, leaves its slot to another and holds a waiting slot instead, of
// which there is a bounded number too. It goes on with or without a free slot.
import { DynamicShares } from '../../../bounds/dynamic-shares.js';

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

  /** Below 0 when emails that waited go on in slots that others have taken. */
  get free(): number {
    return this.#running.free;
  }

  /** Accounts that hold their share. */
  get accountsAtShare(): readonly string[] {
    return this.#running.holders.filter((accountId) => !this.#running.mayTake(accountId));
  }

  /** Undefined when none is free for the account. */
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

  /** Domains that are delivered to change by so many, those of them that wait by so many. */
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

  /** When too many wait already, the email keeps its slot. */
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
