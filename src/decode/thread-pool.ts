// Threads that decode, and the queue before them: accounts go in turn, and an account has its share of the places.
import { FairSemaphore, type Release } from '../bounds/fair-semaphore.js';
import type { Bodies } from '../mail/decode/bodies.js';
import { DecodeThread, type JobOptions, type ThreadLimits } from './thread.js';
import type { DecodeJob } from './worker.js';

export interface PoolLimits extends ThreadLimits {
  readonly threads: number;
  /** Jobs that wait, of all accounts together and of one. */
  readonly queue: number;
  readonly queueAnAccount: number;
}

export class ThreadPool {
  readonly #threads: readonly DecodeThread[];
  readonly #free: DecodeThread[];
  readonly #semaphore: FairSemaphore;

  constructor(limits: PoolLimits) {
    const { threads, queue, queueAnAccount } = limits;
    this.#threads = Array.from({ length: threads }, () => new DecodeThread(limits));
    this.#free = [...this.#threads];
    this.#semaphore = new FairSemaphore({ total: threads, waiting: queue, waitingShare: queueAnAccount });
  }

  /** Rejects with SemaphoreFull, and with the reason of `signal`. */
  acquire(accountId: string, signal: AbortSignal | undefined): Promise<Release> {
    return this.#semaphore.acquire(accountId, { signal });
  }

  /** For a caller that has its permit: there is a free thread for each. */
  async run(job: DecodeJob, options: JobOptions): Promise<Bodies | undefined> {
    const thread = this.#free.pop()!;
    try {
      return await thread.run(job, options);
    } finally {
      this.#free.push(thread);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}
