// Limits the emails that are delivered at a time: a bounded number of slots, of which every account has a share. When all domains of an
// email wait for a permit or a connection, the email gives its slot to another and takes a waiting slot, whose number is bounded too. It
// continues even if no slot is free.
import { KeyedLimiter, type Reservation } from '../../../concurrency/keyed-limiter.js';
import { dynamicShare } from '../../../concurrency/share-policies.js';

export interface DeliveryConcurrencyOptions {
  readonly total: number;
  readonly mostWaiting: number;
  /** Called when a slot may have become free. */
  readonly freed: () => void;
}

export class DeliveryConcurrency {
  readonly #running: KeyedLimiter;
  readonly #waiting: KeyedLimiter;

  constructor({ total, mostWaiting, freed }: DeliveryConcurrencyOptions) {
    this.#running = new KeyedLimiter(dynamicShare({ total }), freed);
    this.#waiting = new KeyedLimiter(dynamicShare({ total: mostWaiting }));
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
    return this.#running.keys.filter((accountId) => this.#running.exhausted(accountId) !== undefined);
  }

  /** Undefined when no slot is free for the account. */
  take(accountId: string): DeliverySlot | undefined {
    if (this.#running.exhausted(accountId) !== undefined) return undefined;
    return new DeliverySlot(accountId, this.#running, this.#waiting);
  }
}

export class DeliverySlot {
  readonly accountId: string;
  readonly #running: KeyedLimiter;
  readonly #waiting: KeyedLimiter;
  #slot: Reservation;
  /** Set while all domains wait; then the slot is released. */
  #place: Reservation | undefined;
  #domains = 0;
  #domainsThatWait = 0;

  constructor(accountId: string, running: KeyedLimiter, waiting: KeyedLimiter) {
    this.accountId = accountId;
    this.#running = running;
    this.#waiting = waiting;
    this.#slot = running.charge(accountId);
  }

  /** Changes the number of domains in delivery, and of those that wait. */
  count(domains: 1 | 0 | -1, waiting: 1 | 0 | -1): void {
    this.#domains += domains;
    this.#domainsThatWait += waiting;
    const allWait = this.#domains > 0 && this.#domainsThatWait === this.#domains;
    if (this.#place !== undefined && !allWait) this.#goOn();
    else if (this.#slot.amount > 0 && allWait) this.#wait();
  }

  /** May be called again. */
  release(): void {
    if (this.#place !== undefined) this.#goOn();
    this.#slot.release();
  }

  /** If too many emails wait already, the email keeps its slot. */
  #wait(): void {
    this.#place = this.#waiting.reserve(this.accountId);
    if (this.#place !== undefined) this.#slot.release();
  }

  #goOn(): void {
    this.#slot = this.#running.charge(this.accountId);
    this.#place?.release();
    this.#place = undefined;
  }
}
