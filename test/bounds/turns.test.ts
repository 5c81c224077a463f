// Turns: one long step at a time, and other events between two of them.
import test from 'ava';
import { Turns } from '../../src/bounds/turns.js';

test('other events are served between two steps', async (t) => {
  const turns = new Turns();
  const events: string[] = [];
  const step = async (name: string): Promise<void> => {
    await turns.next();
    events.push(name);
    setImmediate(() => events.push(`after ${name}`));
  };
  await Promise.all(['1', '2', '3'].map(step));
  t.deepEqual(events.slice(0, 4), ['1', 'after 1', '2', 'after 2']);
});
