// Tests that what is written is saved after a moment, once, in order, and at once when it is left.
import { setTimeout as pause } from 'node:timers/promises';
import { DelayedSave } from '../../../web/src/settings/delayed-save.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';

test('changes in a row are one save, of the last one', async (t) => {
  const saved: string[] = [];
  const delayed = new DelayedSave<string>(async (value) => saved.push(value), 1);
  for (const value of ['Z', 'Zo', 'Zoë']) delayed.change(value);
  await until(() => saved.length > 0);
  await delayed.flush();
  t.deepEqual(saved, ['Zoë']);
});

test('what is left is saved at once, after what is being saved, also when that fails', async (t) => {
  const saved: string[] = [];
  const delayed = new DelayedSave<string>(async (value) => {
    await pause(1);
    saved.push(value);
    if (value === 'first') throw new Error('not now');
  }, 1_000_000);
  delayed.change('first');
  void delayed.flush();
  delayed.change('second');
  await delayed.flush();
  t.deepEqual(saved, ['first', 'second']);
});

test('what is dropped is not saved', async (t) => {
  const saved: string[] = [];
  const delayed = new DelayedSave<string>(async (value) => saved.push(value), 1_000_000);
  delayed.change('');
  delayed.drop();
  await delayed.flush();
  t.deepEqual(saved, []);
});
