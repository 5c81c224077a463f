// The check of the certificate's end; how checks are run is test/gateways/http's.
import test from 'ava';
import { healthChecks } from '../src/health-checks.js';

const DAY = 86_400_000;
const FILES = { cert: '/cert.pem', key: '/key.pem' };

test("the certificate is watched when it is the operator's, degraded near its end and unhealthy behind it", async (t) => {
  const now = Date.UTC(2026, 0, 1);
  let daysLeft = 0;
  const tls = {
    get notAfter() {
      return new Date(now + daysLeft * DAY);
    },
  };
  const ownership = { missing: 0 };
  const names = (files: typeof FILES | undefined) =>
    healthChecks(
      { sql: undefined as never, tls, config: { tls: files } },
      { hub: { connections: 0 }, ownership },
      () => now,
    );
  t.deepEqual(
    names(undefined).map(({ name }) => name),
    ['database', 'shards', 'signalr'],
  );
  const check = names(FILES).at(-1)!;
  t.is(check.name, 'tls-certificate');
  const table = [
    [90, 'Healthy'],
    [21.1, 'Healthy'],
    [21, 'Degraded'],
    [0.1, 'Degraded'],
    [0, 'Unhealthy'],
    [-5, 'Unhealthy'],
  ] as const;
  for (const [days, status] of table) {
    daysLeft = days;
    t.is((await check.run()).status, status, `${days} days`);
  }
});

test('a node that lost shards says so', async (t) => {
  const ownership = { missing: 0 };
  const checks = healthChecks(
    { sql: undefined as never, tls: { notAfter: new Date() }, config: { tls: undefined } },
    { hub: { connections: 0 }, ownership },
  );
  const check = checks.find(({ name }) => name === 'shards')!;
  t.is((await check.run()).status, 'Healthy');
  ownership.missing = 3;
  t.like(await check.run(), { status: 'Unhealthy', data: { missing: 3 } });
});
