// The check `backup`: how old the last backup is.
import type { NodeCheck } from './check.js';
import { warn } from './finding.js';

export const backupCheck: NodeCheck = {
  name: 'backup',
  run: async () => [warn('backup', 'no backup of this store is recorded', 'mansio backup FILE')],
};
