// Bounds a shared resource (connections, slots, octets) in total and by key: an account id, a domain, the network of an address
// (`networkOf`). A policy (share-policies.ts) decides how much one key may use. What is granted is a reservation, which is released once.
// `FairSemaphore` adds a queue.
import type { Exhausted, SharePolicy } from './share-policies.js';
import { UsageByKey } from './usage-by-key.js';

export class KeyedLimiter {
  readonly #policy: SharePolicy;
  readonly #usage = new UsageByKey();
  readonly #freed: (() => void) | undefined;
  #releasedLast: string | undefined;

  /** `freed`: called after an amount was released. */
  constructor(policy: SharePolicy, freed?: () => void) {
    this.#policy = policy;
    this.#freed = freed;
  }

  get total(): number {
    return this.#policy.total;
  }

  get used(): number {
    return this.#usage.used;
  }

  /** Negative when more was charged than was free. */
  get free(): number {
    return this.total - this.used;
  }

  /** The keys that use something. */
  get keys(): readonly string[] {
    return this.#usage.keys;
  }

  usedBy(key: string): number {
    return this.#usage.usedBy(key);
  }

  /** The reason why this amount is not free for the key; undefined when it is. */
  exhausted(key: string, amount = 1): Exhausted | undefined {
    return this.#policy.exhausted(this.#usage.usedBy(key), this.#usage.used, amount);
  }

  /** Undefined when the amount is not free for the key. */
  reserve(key: string, amount = 1): Reservation | undefined {
    return this.exhausted(key, amount) === undefined ? this.charge(key, amount) : undefined;
  }

  /** Reserves the amount, whatever is free: for a caller that has asked `exhausted`, and for work that cannot be refused any more. */
  charge(key: string, amount = 1): Reservation {
    this.#usage.add(key, amount);
    return new Reservation(key, amount, this);
  }

  /** A comparator: the key that uses less comes first; of equal ones, the one that did not release last. */
  compare(a: string, b: string): number {
    return this.usedBy(a) - this.usedBy(b) || Number(a === this.#releasedLast) - Number(b === this.#releasedLast);
  }

  /** Called by reservations. */
  resized(key: string, more: number): void {
    this.#usage.add(key, more);
    if (more >= 0) return;
    this.#releasedLast = key;
    this.#freed?.();
  }
}

/** What one piece of work uses: it grows and shrinks with the work, and is released as a whole. */
export class Reservation {
  readonly key: string;
  #amount: number;
  /** Undefined after the release. */
  #limiter: KeyedLimiter | undefined;

  constructor(key: string, amount: number, limiter: KeyedLimiter) {
    this.key = key;
    this.#amount = amount;
    this.#limiter = limiter;
  }

  get amount(): number {
    return this.#amount;
  }

  /** Changes the amount; false changes nothing. A smaller amount is always granted, a larger one never after the release. */
  resize(amount: number): boolean {
    const more = amount - this.#amount;
    if (more === 0) return true;
    const limiter = this.#limiter;
    if (limiter === undefined || (more > 0 && limiter.exhausted(this.key, more) !== undefined)) return false;
    this.#amount = amount;
    limiter.resized(this.key, more);
    return true;
  }

  /** Adds to the amount, like `resize`. */
  grow(more: number): boolean {
    return this.resize(this.#amount + more);
  }

  /** May be called again. */
  release(): void {
    const limiter = this.#limiter;
    if (limiter === undefined) return;
    this.#limiter = undefined;
    const amount = this.#amount;
    this.#amount = 0;
    limiter.resized(this.key, -amount);
  }
}
