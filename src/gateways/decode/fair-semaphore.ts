// A weighted semaphore that is fair by key (an account): of those who wait the key goes first that was served least recently,
// within one the order is that of arrival, and no key holds more than its share. Nobody who waits holds anything.

export interface SemaphoreLimits {
  /** Weight that is held at a time, by all keys together and by one. */
  readonly total: number;
  readonly aKey: number;
  /** Those that wait, of all keys together and of one. */
  readonly waiting: number;
  readonly waitingAKey: number;
}

interface Waiter {
  readonly weight: number;
  grant(release: () => void): void;
}

/** Gives back what was taken; a second call does nothing. */
export type Release = () => void;

export class FairSemaphore {
  readonly #limits: SemaphoreLimits;
  #held = 0;
  readonly #heldBy = new Map<string, number>();
  readonly #waiting = new Map<string, Waiter[]>();
  /** Number of the last grant, of keys that hold something or wait. */
  readonly #servedAt = new Map<string, number>();
  #grants = 0;
  #waiters = 0;

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits;
  }

  /** Whether one more of this key is too many. */
  #isFull(key: string): boolean {
    const own = this.#waiting.get(key)?.length ?? 0;
    return this.#waiters >= this.#limits.waiting || own >= this.#limits.waitingAKey;
  }

  /**
   * Resolves when its turn has come; undefined when as many wait as may. A weight beyond a limit counts as the limit.
   * Rejects with the reason of `signal` when that aborts first.
   */
  take(key: string, weight: number, signal?: AbortSignal): Promise<Release> | undefined {
    signal?.throwIfAborted();
    const counted = Math.min(weight, this.#limits.total, this.#limits.aKey);
    if (!this.#waiting.has(key) && this.#fits(key, counted)) return Promise.resolve(this.#hold(key, counted));
    if (this.#isFull(key)) return undefined;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        weight: counted,
        grant: (release) => {
          signal?.removeEventListener('abort', leave);
          resolve(release);
        },
      };
      const leave = () => {
        this.#remove(key, waiter);
        this.#forget(key);
        reject(signal?.reason);
        this.#serve();
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiters++;
      const own = this.#waiting.get(key);
      if (own === undefined) this.#waiting.set(key, [waiter]);
      else own.push(waiter);
    });
  }

  #fits(key: string, weight: number): boolean {
    return this.#held + weight <= this.#limits.total && this.#hasShare(key, weight);
  }

  #hasShare(key: string, weight: number): boolean {
    return (this.#heldBy.get(key) ?? 0) + weight <= this.#limits.aKey;
  }

  #hold(key: string, weight: number): Release {
    this.#held += weight;
    this.#heldBy.set(key, (this.#heldBy.get(key) ?? 0) + weight);
    this.#servedAt.set(key, ++this.#grants);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#held -= weight;
      const left = this.#heldBy.get(key)! - weight;
      if (left > 0) this.#heldBy.set(key, left);
      else this.#heldBy.delete(key);
      this.#serve();
      this.#forget(key);
    };
  }

  /** Of the keys that have their share left. One that wants more than what is free keeps the others waiting. */
  #serve(): void {
    for (let key = this.#next(); key !== undefined; key = this.#next()) {
      const first = this.#waiting.get(key)![0]!;
      if (!this.#fits(key, first.weight)) return;
      this.#remove(key, first);
      first.grant(this.#hold(key, first.weight));
    }
  }

  #next(): string | undefined {
    let next: string | undefined;
    let servedAt = Number.POSITIVE_INFINITY;
    for (const [key, [first]] of this.#waiting) {
      const own = this.#servedAt.get(key) ?? 0;
      if (own >= servedAt || !this.#hasShare(key, first!.weight)) continue;
      next = key;
      servedAt = own;
    }
    return next;
  }

  #forget(key: string): void {
    if (!this.#heldBy.has(key) && !this.#waiting.has(key)) this.#servedAt.delete(key);
  }

  #remove(key: string, waiter: Waiter): void {
    const own = this.#waiting.get(key);
    const at = own?.indexOf(waiter) ?? -1;
    if (own === undefined || at < 0) return;
    own.splice(at, 1);
    this.#waiters--;
    if (own.length === 0) this.#waiting.delete(key);
  }
}
