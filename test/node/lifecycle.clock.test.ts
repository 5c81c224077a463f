// Tests a stop while the machine's clock is put back: the deadline is measured without that clock.

import { pino } from 'pino';
import { Lifecycle } from '../../src/node/lifecycle.js';
import test from '../support/test.js';

test('a clock that is put back does not lengthen the stop', async (t) => {
  const bounds: number[] = [];
  const lifecycle = new Lifecycle(pino({ level: 'silent' }));
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  lifecycle.add('below', (boundMs) => void bounds.push(boundMs), 100, Number.POSITIVE_INFINITY);
  lifecycle.add('above', () => {
    Date.now = () => now() - 3_600_000;
  });
  t.true(await lifecycle.stop(10_000));
  t.true(bounds[0]! <= 10_000, `${bounds[0]} ms`);
});
