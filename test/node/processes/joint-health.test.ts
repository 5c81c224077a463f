import type { HealthReport } from '../../../src/gateways/http/health.js';
import { jointHealth } from '../../../src/node/processes/joint-health.js';
import test from '../../support/test.js';

const report = (status: HealthReport['status']): HealthReport => ({
  status,
  totalDuration: 1,
  checks: [{ name: 'database', status, duration: 1, description: null, exception: null, tags: [], data: { a: 1 } }],
});
const ready = (number: number, status: HealthReport['status'] = 'Healthy') =>
  ({ number, state: 'ready', report: report(status) }) as const;

test('the report is as bad as the worst process, and says of each check whose it is', (t) => {
  t.is(jointHealth([ready(1), ready(2)], 5).status, 'Healthy');
  t.is(jointHealth([ready(1), ready(2, 'Degraded')], 5).status, 'Degraded');
  const { status, totalDuration, checks } = jointHealth([ready(1, 'Unhealthy'), ready(2, 'Degraded')], 5);
  t.is(status, 'Unhealthy');
  t.is(totalDuration, 5);
  t.deepEqual(
    checks.map(({ name, data }) => [name, data?.['process']]),
    [
      ['processes', undefined],
      ['database', 1],
      ['database', 2],
    ],
  );
  t.is(checks[1]?.data?.['a'], 1);
});

test('a process that is started again degrades, all of them or one that hangs is unhealthy', (t) => {
  const starting = (number: number) => ({ number, state: 'starting' }) as const;
  const one = jointHealth([ready(1), starting(2)], 0);
  t.is(one.status, 'Degraded');
  t.like(one.checks[0], { name: 'processes', description: 'Of the processes, 2 are being started again.' });
  t.like(one.checks[0]?.data, { processes: 2, ready: 1, starting: [2] });
  t.is(jointHealth([starting(1), starting(2)], 0).status, 'Unhealthy');
  t.is(jointHealth([ready(1), { number: 2, state: 'silent' }], 0).status, 'Unhealthy');
});
