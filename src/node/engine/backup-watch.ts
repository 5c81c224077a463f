// Reads periodically when the store was last saved, and how many restored emails wait for their release, for the metrics of this node.
import type { Logger } from 'pino';
import { WorkQueue } from '../../concurrency/work-queue.js';
import type { LastBackup } from '../../store/backup/store-snapshot.js';
import type { OutboundStore } from '../../store/outbound.js';

const EVERY_MS = 60_000;
const READ = 'read';

interface BackupSources {
  readonly lastBackup: () => Promise<LastBackup | undefined>;
  readonly outbound: Pick<OutboundStore, 'awaitingRelease'>;
  readonly log: Logger;
}

export interface BackupWatch {
  /** In ms since the epoch; 0 for a store that `mansio backup` has never saved, undefined before the first read. */
  readonly lastBackupAt: number | undefined;
  readonly awaitingRelease: number | undefined;
  stop(): Promise<void>;
}

export function startBackupWatch({ lastBackup, outbound, log }: BackupSources): BackupWatch {
  let read: { readonly at: number; readonly awaiting: number } | undefined;
  const queue = new WorkQueue({
    async work() {
      const [last, awaiting] = await Promise.all([lastBackup(), outbound.awaitingRelease()]);
      read = { at: last?.at ?? 0, awaiting };
      return EVERY_MS;
    },
    failed: (_, err) => log.warn({ err }, 'the time of the last backup could not be read'),
    most: 1,
    backoff: { firstMs: EVERY_MS },
  });
  queue.add(READ);
  return {
    get lastBackupAt() {
      return read?.at;
    },
    get awaitingRelease() {
      return read?.awaiting;
    },
    stop: () => queue.stop(),
  };
}
