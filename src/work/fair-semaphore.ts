// A weighted semaphore that is fair to holders: waiting holders are served round robin, requests of one holder in order of arrival, and no
// holder has more than its share of the permits or of the queue. A waiting request holds no permit.
import { Fault } from './fault.js';
import { type Exhausted, FixedShares } from './fixed-shares.js';

export interface SemaphoreOptions {
  /** The permits of all holders together, and of one holder: all of them by default. */
  readonly total: number;
  readonly share?: number;
  /**
   * A holder only gets more while it has less than this times what is free (work/dynamic-shares), so that something is left for the next
   * holder. Without it only the share counts.
   */
  readonly factor?: number;
  /** The waiting requests of all holders together, and of one holder: unlimited by default. */
  readonly waiting?: number;
  readonly waitingShare?: number;
}

export interface SemaphoreRequest {
  /** The number of permits, 1 by default. A weight above the holder's share counts as the share. */
  readonly weight?: number;
  /** Aborting the signal ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

/** Releases what was acquired; a second call does nothing. */
export type Release = () => void;

/** The queue is full. */
export class SemaphoreFull extends Fault<'semaphore-full'> {
  constructor() {
    super('semaphore-full', 'too many are waiting', { temporary: true });
  }
}

interface Waiter {
  readonly holder: string;
  readonly weight: number;
  grant(release: Release): void;
}

export class FairSemaphore {
  readonly #most: number;
  readonly #total: number;
  readonly #factor: number;
  readonly #permits: FixedShares;
  readonly #waiters: FixedShares;
  /** Queues by holder, in the order of their turns. Sets, because removing the first element of a long array moves all others. */
  readonly #queues = new Map<string, Set<Waiter>>();
  #servedLast: string | undefined;

  constructor(options: SemaphoreOptions) {
    const { total, share = total, factor = Number.POSITIVE_INFINITY } = options;
    const { waiting = Number.POSITIVE_INFINITY, waitingShare = waiting } = options;
    this.#total = total;
    this.#factor = factor;
    this.#most = Math.min(total, share);
    this.#permits = new FixedShares({ total, share });
    this.#waiters = new FixedShares({ total: waiting, share: waitingShare });
  }

  /** Rejects with SemaphoreFull, or with the reason of `signal`. */
  acquire(holder: string, { weight = 1, signal }: SemaphoreRequest = {}): Promise<Release> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const counted = Math.min(weight, this.#most);
      if (this.#isFree(holder, counted)) {
        resolve(this.#take(holder, counted));
        return;
      }
      if (this.#waiters.tryTake(holder) !== undefined) throw new SemaphoreFull();
      const waiter: Waiter = {
        holder,
        weight: counted,
        grant: (release) => {
          signal?.removeEventListener('abort', leave);
          resolve(release);
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
  async run<T>(holder: string, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(holder);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** True when permits are free, the holder has no waiting request, and no other waiting holder has a share left. */
  #isFree(holder: string, weight: number): boolean {
    if (this.#queues.has(holder) || this.#next() !== undefined) return false;
    return this.#exhausted(holder, weight) === undefined;
  }

  #exhausted(holder: string, weight: number): Exhausted | undefined {
    const [held, free] = [this.#permits.heldBy(holder), this.#total - this.#permits.held];
    if (held > 0 && held >= this.#factor * free) return 'share';
    return this.#permits.exhausted(holder, weight);
  }

  #take(holder: string, weight: number): Release {
    this.#permits.tryTake(holder, weight);
    this.#servedLast = holder;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#permits.give(holder, weight);
      this.#serve();
    };
  }

  #add(waiter: Waiter): void {
    const queue = this.#queues.get(waiter.holder);
    if (queue !== undefined) queue.add(waiter);
    else {
      this.#queues.set(waiter.holder, new Set([waiter]));
      // A holder that was just served comes after one that was not.
      if (this.#servedLast !== waiter.holder) this.#moveBehind(this.#servedLast);
    }
  }

  #moveBehind(holder: string | undefined): void {
    const queue = holder === undefined ? undefined : this.#queues.get(holder);
    if (holder === undefined || queue === undefined) return;
    this.#queues.delete(holder);
    this.#queues.set(holder, queue);
  }

  #remove(waiter: Waiter): void {
    const { holder } = waiter;
    const queue = this.#queues.get(holder)!;
    queue.delete(waiter);
    if (queue.size === 0) this.#queues.delete(holder);
    this.#waiters.give(holder);
  }

  /** If the next request needs more than is free, all others wait too: otherwise a heavy request would wait without end. */
  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { holder, weight } = next;
      if (this.#exhausted(holder, weight) !== undefined) return;
      this.#remove(next);
      this.#moveBehind(holder);
      next.grant(this.#take(holder, weight));
    }
  }

  /** Skips holders that have used up their share. */
  #next(): Waiter | undefined {
    for (const [holder, queue] of this.#queues) {
      const [first] = queue;
      if (this.#exhausted(holder, first!.weight) !== 'share') return first;
    }
    return undefined;
  }
}
