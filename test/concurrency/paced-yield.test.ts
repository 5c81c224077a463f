// Tests PacedYield: one long step runs at a time, with other events between two of them.

import { PacedYield } from '../../src/concurrency/paced-yield.js';
import test from '../support/test.js';

test('other events are served between two steps', async (t) => {
  const steps = new PacedYield();
  const events: string[] = [];
  const step = async (name: string): Promise<void> => {
    await steps.yield();
    events.push(name);
    setImmediate(() => events.push(`after ${name}`));
  };
  await Promise.all(['1', '2', '3'].map(step));
  t.deepEqual(events.slice(0, 4), ['1', 'after 1', '2', 'after 2']);
});
