// The check `backup`: how old the last backup is.
import type { NodeCheck } from './check.js';
import { ok, sizeOf, spanOf, warn } from './finding.js';

const FIX = 'mansio backup FILE';
/** As in health: two daily backups have failed. */
const OLD_MS = 3 * 86_400_000;

export const backupCheck: NodeCheck = {
  name: 'backup',
  async run({ store }) {
    const [last, now] = await Promise.all([store.lastBackup(), store.clock()]);
    if (last === undefined) return [warn('backup', 'no backup of this store is recorded', FIX)];
    const ageMs = now - last.at;
    const form = last.isEncrypted ? 'encrypted' : 'not encrypted';
    const detail = `the last one is ${spanOf(ageMs)} old (${sizeOf(last.bytes)}, ${form})`;
    return [ageMs > OLD_MS ? warn('backup', detail, FIX) : ok('backup', detail)];
  },
};
