// Looks for accounts that have something due in the store: a node that ends, or a mailbox that moves, leaves rows of accounts that nobody
// reports.
import type { Logger } from 'pino';
import { WorkQueue } from '../../../concurrency/work-queue.js';

export interface AccountLooks {
  find(limit: number): Promise<readonly string[]>;
  readonly intervalMs: number;
  /** The line of the log for a look that fails. */
  readonly failed: string;
}

/** The accounts of one look. */
const MOST_FOUND = 1_000;

/** Adds the accounts to `queue` until it is stopped. */
export function startLooks(
  { find, intervalMs, failed }: AccountLooks,
  queue: Pick<WorkQueue, 'has' | 'add'>,
  log: Pick<Logger, 'warn'>,
): WorkQueue {
  const looks = new WorkQueue({
    async work() {
      // An account that waits, backs off or runs is not added again.
      for (const id of await find(MOST_FOUND)) if (!queue.has(id)) queue.add(id);
      return intervalMs;
    },
    failed: (_, err) => log.warn({ err }, failed),
    most: 1,
    backoff: { firstMs: intervalMs },
  });
  looks.add('look');
  return looks;
}
