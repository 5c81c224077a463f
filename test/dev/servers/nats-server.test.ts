// Tests the servers that cluster tests use: real NATS servers and a PostgreSQL on TCP, which return on the same ports after
// a stop and after a crash.

import { connect as connectNats } from 'nats';
import { startNatsCluster, urlsOf } from '../../../dev/servers/nats-server.js';
import { startPostgresServer } from '../../../dev/servers/postgres-server.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { connect } from '../../../src/store/postgres/driver/client.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';

testWith('nats-server')('three NATS servers are one cluster, also after one was killed and came back', async (t) => {
  const servers = await startNatsCluster({ size: 3 });
  t.teardown(() => Promise.all(servers.map((server) => server.kill())));
  t.is(urlsOf(servers).split(',').length, 3);
  const [first, , third] = servers;
  const reaches = async () => {
    const [here, there] = await Promise.all([
      connectNats({ servers: first!.url }),
      connectNats({ servers: third!.url }),
    ]);
    here.subscribe('question', { callback: (_, message) => void message.respond('answer') });
    await here.flush();
    // Subscriptions take a while to reach the other server.
    for (;;) {
      const reply = await there.request('question', '', { timeout: 1000 }).catch(() => undefined);
      if (reply === undefined) continue;
      await Promise.all([here.close(), there.close()]);
      return reply.string();
    }
  };
  t.is(await reaches(), 'answer');
  await third!.kill();
  t.false(third!.running);
  await t.throwsAsync(connectNats({ servers: third!.url, reconnect: false }));
  await third!.start();
  t.is(await reaches(), 'answer');
});

test('PostgreSQL keeps port and data over a stop and a crash', async (t) => {
  const server = await startPostgresServer({
    dataDir: temporaryDirectory('mansio-test-postgres-'),
    settings: { shared_buffers: '32MB' },
  });
  t.teardown(() => server.stop());
  const ask = async <T>(text: string): Promise<T[]> => {
    const sql = connect({ url: server.url }, { max: 1, applicationName: 'test' });
    try {
      return [...(await sql.unsafe(text))] as unknown as T[];
    } finally {
      await sql.end();
    }
  };
  await ask('create table kept (n integer)');
  await ask('insert into kept values (1)');
  await server.kill();
  await t.throwsAsync(ask('select 1'), { message: /ECONNREFUSED/ });
  await server.start();
  await ask('insert into kept values (2)');
  await server.stop();
  await server.start();
  t.deepEqual(await ask('select n from kept order by n'), [{ n: 1 }, { n: 2 }]);
});
