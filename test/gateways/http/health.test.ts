// Tests how long a health report is reused.

import { createHealth, type HealthCheck } from '../../../src/gateways/http/health.js';
import { deferred } from '../../support/deferred.js';
import test from '../../support/test.js';
import { FakeLog } from './fakes.js';

test('a report is kept for a moment and shared, until the state that it was made in is over', async (t) => {
  let [now, state, runs] = [0, 'serving', 0];
  const begun: ReturnType<typeof deferred>[] = [];
  const check: HealthCheck = {
    name: 'shards',
    tags: [],
    state: () => state,
    async run() {
      const [made, answered] = [state, deferred()];
      runs++;
      begun.push(answered);
      await answered.promise;
      return made === 'serving' ? { status: 'Healthy' } : { status: 'Unhealthy' };
    },
  };
  const health = createHealth({ checks: [check], now: () => now, log: new FakeLog() });
  const status = async () => (await health()).status;
  const first = [status(), status()];
  begun[0]!.resolve();
  t.deepEqual(await Promise.all(first), ['Healthy', 'Healthy']);
  now = 999;
  t.is(await status(), 'Healthy');
  t.is(runs, 1);

  // A report that is not finished may show either state, so it is not reused.
  now = 1_000;
  const late = status();
  state = 'draining';
  const next = [status(), status()];
  t.is(runs, 3);
  begun[2]!.resolve();
  t.deepEqual(await Promise.all(next), ['Unhealthy', 'Unhealthy']);
  begun[1]!.resolve();
  await late;
  t.is(await status(), 'Unhealthy');
  t.is(runs, 3);

  state = 'serving';
  const again = status();
  begun[3]!.resolve();
  t.is(await again, 'Healthy');
});
