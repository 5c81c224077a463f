// A weighted semaphore that is fair to keys (`KeyedLimiter` with a queue): waiting keys are served round robin, requests of one key in
// order of arrival, and no key has more than its share of the permits or of the queue. A waiting request holds no permit.
import { Fault } from './fault.js';
import { KeyedLimiter, type Reservation } from './keyed-limiter.js';
import { dynamicShare, fixedShare } from './share-policies.js';

export interface SemaphoreOptions {
  /** The permits of all keys together, and of one key: all of them by default. */
  readonly total: number;
  readonly share?: number;
  /** The factor of a dynamic share, which leaves something for the next key. Without it only the share counts. */
  readonly factor?: number;
  /** The waiting requests of all keys together, and of one key: unlimited by default. */
  readonly waiting?: number;
  readonly waitingShare?: number;
}

export interface SemaphoreRequest {
  /** The number of permits, 1 by default. A weight above the key's share counts as the share. */
  readonly weight?: number;
  /** Aborting the signal ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

/** The queue is full. */
export class SemaphoreFull extends Fault<'semaphore-full'> {
  constructor() {
    super('semaphore-full', 'too many are waiting', { temporary: true });
  }
}

interface Waiter {
  readonly key: string;
  readonly weight: number;
  /** Its place in the queue. */
  readonly place: Reservation;
  grant(permit: Reservation): void;
}

export class FairSemaphore {
  readonly #most: number;
  readonly #permits: KeyedLimiter;
  readonly #places: KeyedLimiter;
  /** Queues by key, in the order of their turns. Sets, because removing the first element of a long array moves all others. */
  readonly #queues = new Map<string, Set<Waiter>>();
  #servedLast: string | undefined;

  constructor(options: SemaphoreOptions) {
    const { total, share = total, factor } = options;
    const { waiting = Number.POSITIVE_INFINITY, waitingShare = waiting } = options;
    const policy = factor === undefined ? fixedShare({ total, share }) : dynamicShare({ total, share, factor });
    this.#most = Math.min(total, share);
    this.#permits = new KeyedLimiter(policy, () => this.#serve());
    this.#places = new KeyedLimiter(fixedShare({ total: waiting, share: waitingShare }));
  }

  /** Rejects with SemaphoreFull, or with the reason of `signal`. */
  acquire(key: string, { weight = 1, signal }: SemaphoreRequest = {}): Promise<Reservation> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const counted = Math.min(weight, this.#most);
      if (this.#isFree(key, counted)) {
        resolve(this.#take(key, counted));
        return;
      }
      const place = this.#places.reserve(key);
      if (place === undefined) throw new SemaphoreFull();
      const waiter: Waiter = {
        key,
        weight: counted,
        place,
        grant: (permit) => {
          signal?.removeEventListener('abort', leave);
          resolve(permit);
        },
      };
      const leave = () => {
        this.#remove(waiter);
        reject(signal?.reason);
        this.#serve();
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#add(waiter);
    });
  }

  /** Acquires a permit, runs the work, and releases the permit when the work ends. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const permit = await this.acquire(key);
    try {
      return await work();
    } finally {
      permit.release();
    }
  }

  /** True when permits are free, the key has no waiting request, and no other waiting key has a share left. */
  #isFree(key: string, weight: number): boolean {
    if (this.#queues.has(key) || this.#next() !== undefined) return false;
    return this.#permits.exhausted(key, weight) === undefined;
  }

  #take(key: string, weight: number): Reservation {
    this.#servedLast = key;
    return this.#permits.charge(key, weight);
  }

  #add(waiter: Waiter): void {
    const queue = this.#queues.get(waiter.key);
    if (queue !== undefined) queue.add(waiter);
    else {
      this.#queues.set(waiter.key, new Set([waiter]));
      // A key that was just served comes after one that was not.
      if (this.#servedLast !== waiter.key) this.#moveBehind(this.#servedLast);
    }
  }

  #moveBehind(key: string | undefined): void {
    const queue = key === undefined ? undefined : this.#queues.get(key);
    if (key === undefined || queue === undefined) return;
    this.#queues.delete(key);
    this.#queues.set(key, queue);
  }

  #remove(waiter: Waiter): void {
    const { key, place } = waiter;
    const queue = this.#queues.get(key)!;
    queue.delete(waiter);
    if (queue.size === 0) this.#queues.delete(key);
    place.release();
  }

  /** If the next request needs more than is free, all others wait too: otherwise a heavy request would wait without end. */
  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { key, weight } = next;
      if (this.#permits.exhausted(key, weight) !== undefined) return;
      this.#remove(next);
      this.#moveBehind(key);
      next.grant(this.#take(key, weight));
    }
  }

  /** Skips keys that have used up their share. */
  #next(): Waiter | undefined {
    for (const [key, queue] of this.#queues) {
      const [first] = queue;
      if (this.#permits.exhausted(key, first!.weight) !== 'share') return first;
    }
    return undefined;
  }
}
