// Tests the watch of backups: it reads at its start, knows nothing before, and 0 for a store that was never saved.
import { pino } from 'pino';
import { startBackupWatch } from '../../../src/node/engine/backup-watch.js';
import { deferred } from '../../support/deferred.js';
import test from '../../support/test.js';

test('the last backup and the emails that wait are read at the start', async (t) => {
  for (const [at, shown] of [
    [1_796_000_000_000, 1_796_000_000_000],
    [undefined, 0],
  ]) {
    const { promise: wasRead, resolve: read } = deferred();
    const watch = startBackupWatch({
      lastBackup: async () => (at === undefined ? undefined : { at, bytes: 1, isEncrypted: true }),
      outbound: {
        awaitingRelease: async () => {
          setImmediate(read);
          return 3;
        },
      },
      log: pino({ level: 'silent' }),
    });
    t.deepEqual([watch.lastBackupAt, watch.awaitingRelease], [undefined, undefined]);
    await wasRead;
    t.deepEqual([watch.lastBackupAt, watch.awaitingRelease], [shown, 3]);
    await watch.stop();
  }
});
