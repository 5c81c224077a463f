// Tests the breaker over all connections with a real server: a long query is left alone, one that hangs with all others is not.

import { startPostgresServer } from '../../../../dev/servers/postgres-server.js';
import { startTcpProxy } from '../../../../dev/servers/tcp-proxy.js';
import { CircuitBreaker } from '../../../../src/store/postgres/driver/circuit-breaker.js';
import { connect } from '../../../../src/store/postgres/driver/client.js';
import { preparedDirectory } from '../../../support/database/prepared-cluster.js';
import test from '../../../support/test.js';

test('a long statement survives beside a database that answers; a stall ends what waits, until it is over', async (t) => {
  t.timeout(600_000);
  const server = await startPostgresServer({
    dataDir: await preparedDirectory('mansio-stall-'),
    settings: { shared_buffers: '32MB' },
  });
  t.teardown(() => server.stop());
  const proxy = await startTcpProxy(server.port);
  t.teardown(() => proxy.close());
  const url = `postgres://mansio@127.0.0.1:${proxy.port}/mansio`;
  const sql = connect({ url }, { max: 2, applicationName: 'test', patienceMs: 60_000 });
  const probe = connect({ url }, { max: 1, applicationName: 'test', patienceMs: 60_000, probe: true });
  // A login takes longer than an answer.
  await probe`select 1`;
  const states: boolean[] = [];
  let asked = 0;
  const breaker = new CircuitBreaker(
    () => {
      asked++;
      return probe`select 1`;
    },
    (isOpen) => states.push(isOpen),
  );
  t.teardown(async () => {
    breaker.stop();
    await Promise.all([sql.end({ timeout: 0.2 }), probe.end({ timeout: 0.2 })]);
  });
  const port = breaker.guard(
    {
      read: async () => (await sql`select 1 as one`).length,
      // This takes longer than the detection of a stall.
      readLong: async () => (await sql`select pg_sleep(4)`).length,
      async *pieces() {
        yield await port.read();
        yield await port.read();
      },
      put: async () => (await sql`select 2 as two`).length,
    },
    ['pieces'],
    ['put'],
  );
  t.is(await port.readLong(), 1);
  t.true(asked > 0);
  t.deepEqual(states, []);
  t.true(breaker.commitWithinMs() > 0);

  const pieces = port.pieces()[Symbol.asyncIterator]();
  t.deepEqual(await pieces.next(), { done: false, value: 1 });
  await proxy.set('black hole');
  const stalled = { name: 'StoreFault', message: /does not answer/ };
  await Promise.all([
    t.throwsAsync(port.read(), stalled),
    t.throwsAsync(async () => pieces.next(), stalled),
    t.throwsAsync(port.put(), { message: /does not answer|CONNECTION_CLOSED/ }),
  ]);
  t.deepEqual(states, [true]);
  await t.throwsAsync(port.read(), stalled);
  await t.throwsAsync(port.put(), stalled);
  t.throws(() => breaker.commitWithinMs(), stalled);

  await proxy.set('pass');
  // A heartbeat does the same.
  await probe`select 1`;
  breaker.noteAnswer();
  t.deepEqual(states, [true, false]);
  t.is(await port.read(), 1);
  t.is(await port.put(), 1);
});
