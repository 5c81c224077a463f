// The threads that decode, and the queue in front of them. Accounts take turns, and the queue has a limit per account.

import { FairSemaphore } from '../../concurrency/fair-semaphore.js';
import type { Reservation } from '../../concurrency/keyed-limiter.js';
import type { Bodies } from '../../mail-format/decode/bodies.js';
import { DecodeThread, type JobOptions, type ThreadLimits } from './thread.js';
import type { DecodeJob } from './worker.js';

export interface PoolLimits extends ThreadLimits {
  readonly threads: number;
  /** Number of jobs that may wait: of all accounts together and per account. */
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
  acquire(accountId: string, signal: AbortSignal | undefined): Promise<Reservation> {
    return this.#semaphore.acquire(accountId, { signal });
  }

  /** The caller holds a permit of `acquire`, so a thread is free. */
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
