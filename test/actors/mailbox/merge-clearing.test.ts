// Tests the clearing of leftovers of merges: a look at the start and periodically; each look knows the findings of the previous one.

import pino from 'pino';
import { startMergeClearing } from '../../../src/actors/mailbox/merge-clearing.js';
import test from '../../support/test.js';

test('each look knows what the one before has seen, also after one that failed', async (t) => {
  const looks: (readonly number[])[] = [];
  await new Promise<void>((resolve) => {
    const store = {
      async clear(seen: ReadonlySet<number>) {
        looks.push([...seen]);
        if (looks.length === 2) throw new Error('no answer');
        if (looks.length === 4) {
          void clearing.stop().then(resolve);
          return new Set<number>();
        }
        return new Set([looks.length, 7]);
      },
    };
    const clearing = startMergeClearing({ store, log: pino({ level: 'silent' }), pollMs: 1 });
  });
  t.deepEqual(looks, [[], [1, 7], [1, 7], [3, 7]]);
});
