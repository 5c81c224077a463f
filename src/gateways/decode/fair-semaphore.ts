// A weighted semaphore that is fair by key (an account): those who wait are served round robin by key, in order of arrival
// within one, and no key holds more than its share. Nobody who waits holds anything. Pure but for the promises.

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
  /** The key whose turn is next first. */
  readonly #waiting = new Map<string, Waiter[]>();
  #waiters = 0;

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits;
  }

  /** Whether one more of this key would be refused. */
  isFull(key: string): boolean {
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
    if (this.isFull(key)) return undefined;
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
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#held -= weight;
      const left = this.#heldBy.get(key)! - weight;
      if (left > 0) this.#heldBy.set(key, left);
      else this.#heldBy.delete(key);
      this.#serve();
    };
  }

  /** The next key that has its share left goes first: one that is heavier than what is free keeps the others waiting. */
  #serve(): void {
    for (let served = true; served; ) {
      served = false;
      for (const [key, [first]] of this.#waiting) {
        if (!this.#hasShare(key, first!.weight)) continue;
        if (!this.#fits(key, first!.weight)) return;
        const own = this.#waiting.get(key)!;
        this.#remove(key, first!);
        // Behind the other keys.
        if (own.length > 0 && this.#waiting.delete(key)) this.#waiting.set(key, own);
        first!.grant(this.#hold(key, first!.weight));
        served = true;
        break;
      }
    }
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
