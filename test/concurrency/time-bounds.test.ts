// Tests time limits: work that ends in time counts, late work is not awaited, and no timer remains.

import { atMost, inTime } from '../../src/concurrency/time-bounds.js';
import test from '../support/test.js';

const LONG_MS = 600_000;

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

test.serial('what is done in time counts, and leaves no timer', async (t) => {
  const before = timers();
  t.is(await inTime(Promise.resolve('done'), LONG_MS, 'the work'), 'done');
  await t.throwsAsync(inTime(Promise.reject(new Error('failed')), LONG_MS, 'the work'), { message: 'failed' });
  t.true(await atMost(Promise.resolve(false), LONG_MS));
  await t.throwsAsync(atMost(Promise.reject(new Error('failed')), LONG_MS), { message: 'failed' });
  t.true(timers() <= before);
});

test.serial('late work is not waited for, and may fail then', async (t) => {
  let fail = (_: Error) => {};
  const never = new Promise<string>((_, reject) => {
    fail = reject;
  });
  await t.throwsAsync(inTime(never, 1, 'the work'), { message: 'the work took longer than 1 ms' });
  await t.throwsAsync(
    inTime(never, 1, () => new RangeError('late')),
    { instanceOf: RangeError },
  );
  t.false(await atMost(never, 1));
  t.false(await atMost(never, -5), 'there may be no time left');
  fail(new Error('nobody hears this'));
});
