import { type Life, Restarts } from '../../../src/node/processes/restarts.js';
import test from '../../support/test.js';

const NEVER_READY: Life = { readyMs: undefined, isTemporary: false };
const LONG: Life = { readyMs: 60_000, isTemporary: false };

test('a process that has served for a while is started again at once, every time', (t) => {
  const restarts = new Restarts();
  for (let i = 0; i < 100; i++) t.is(restarts.ended(LONG), 0);
});

test('the pauses between failed starts grow up to a limit, and then there is no further start', (t) => {
  const restarts = new Restarts();
  const pauses: (number | undefined)[] = [];
  for (let i = 0; i < 9; i++) pauses.push(restarts.ended(NEVER_READY));
  t.deepEqual(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000, undefined]);
  t.is(restarts.failed, 9);
});

test('a life that ends soon after it began is a failed start', (t) => {
  const restarts = new Restarts();
  t.is(restarts.ended({ readyMs: 10, isTemporary: false }), 100);
  t.is(restarts.ended({ readyMs: 2_999, isTemporary: false }), 200);
  t.is(restarts.ended({ readyMs: 3_000, isTemporary: false }), 0);
  t.is(restarts.ended(NEVER_READY), 100, 'a long life ends the row');
});

test('what passes by itself is waited for without end', (t) => {
  const restarts = new Restarts();
  for (let i = 0; i < 100; i++) t.true(restarts.ended({ readyMs: undefined, isTemporary: true })! <= 5_000);
  t.is(restarts.failed, 0);
});
