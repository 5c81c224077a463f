// Tests the estimate of the database's clock.

import { DatabaseClock } from '../../src/store/clock.js';
import test from '../support/test.js';

const HOUR_MS = 3_600_000;

test('the time is of this machine until the database was asked, and then of the database', (t) => {
  const clock = new DatabaseClock();
  t.true(Math.abs(clock.now() - Date.now()) < 60_000);
  const asked = performance.now();
  clock.learn(Date.now() + HOUR_MS, asked, asked + 2);
  t.true(Math.abs(clock.now() - Date.now() - HOUR_MS) < 60_000);
});

test('an answer that took long does not replace one that came at once, but for a while', (t) => {
  const clock = new DatabaseClock();
  const start = performance.now();
  const clockBy = (offset: number, at: number, tookMs: number) => {
    clock.learn(start + at + offset, start + at - tookMs / 2, start + at + tookMs / 2);
    return Math.round((clock.now() - performance.now()) / 1_000);
  };
  t.is(clockBy(HOUR_MS, 1_000, 2), 3_600);
  t.is(clockBy(HOUR_MS + 900, 2_000, 2_000), 3_600, 'it is off by a second at most');
  t.is(clockBy(2 * HOUR_MS, 3_000, 2_000), 7_200, 'further off than it can be: the clock of the database was set');
  t.is(clockBy(2 * HOUR_MS + 900, 4_000, 4), 7_201);
});
