// Tests a pool whose primary becomes read-only while its connections stay open, as a demoted primary that nobody stops: the statement
// fails for now, and the next one finds the new primary, by a balancer or at the next host of the URL. The tests run one after the other,
// because such a server ends the connections of all pools of the process.
import type { ExecutionContext } from 'ava';
import { DATABASE, USER } from '../../../../src/store/embedded/server.js';
import { connect, storeFault } from '../../../../src/store/postgres/driver/client.js';
import { eventually } from '../../../scenarios/cluster/support/eventually.js';
import { startTestServer } from '../../../support/database/embedded-database.js';
import { startBalancer } from '../../../support/peers/balancer.js';
import test from '../../../support/test.js';

const PATIENCE_MS = 10_000;

/** Two servers with a table each; the first one can be made read-only. */
async function twoServers(t: ExecutionContext) {
  const [first, second] = await Promise.all([startTestServer(), startTestServer()]);
  t.teardown(() => Promise.all([first.kill(), second.kill()]));
  const [one, two] = [first, second].map(({ url }) => connect({ url }, { max: 1, applicationName: 'test' }));
  t.teardown(() => Promise.all([one!.end(), two!.end()]));
  for (const sql of [one!, two!]) await sql`create table written (number int)`;
  const demote = async () => {
    await one!`alter system set default_transaction_read_only = on`;
    await one!`select pg_reload_conf()`;
    await eventually('the first server to be read-only', async () => {
      const [row] = await one!`show transaction_read_only`;
      return row!['transaction_read_only'] === 'on';
    });
  };
  const numbers = async () => (await two!`select number from written order by 1`).map((row) => row['number'] as number);
  return { first, second, demote, numbers };
}

test.serial(
  'a server that has become read-only loses its connections, and a balancer leads to the new primary',
  async (t) => {
    const { first, second, demote, numbers } = await twoServers(t);
    const balancer = await startBalancer(t, first.port);
    const url = `postgres://${USER}@127.0.0.1:${balancer.port}/${DATABASE}`;
    const sql = connect({ url }, { max: 2, applicationName: 'test', patienceMs: PATIENCE_MS });
    t.teardown(() => sql.end({ timeout: 1 }));
    const write = (number: number) => sql`insert into written values (${number})`;
    await Promise.all([write(1), write(2)]);

    await demote();
    balancer.target = second.port;
    const fault = storeFault(await t.throwsAsync(async () => write(3)));
    t.like(fault, { code: 'store-unavailable', temporary: true });
    await eventually('both connections to be new ones', async () => {
      const outcomes = await Promise.allSettled([write(4), write(5)]);
      return outcomes.every(({ status }) => status === 'fulfilled');
    });
    t.deepEqual([...new Set(await numbers())], [4, 5]);
  },
);

test.serial('a server that has become read-only is left for the next host of the URL', async (t) => {
  const { first, second, demote, numbers } = await twoServers(t);
  const url = `postgres://${USER}@127.0.0.1:${first.port},127.0.0.1:${second.port}/${DATABASE}`;
  const sql = connect({ url }, { max: 1, applicationName: 'test', patienceMs: PATIENCE_MS });
  t.teardown(() => sql.end({ timeout: 1 }));
  const write = async () => {
    try {
      await sql`insert into written values (1)`;
      return true;
    } catch (error) {
      t.true(storeFault(error).temporary);
      return false;
    }
  };
  t.true(await write());
  await demote();
  t.false(await write());
  await eventually('the next host to be used', write);
  t.deepEqual(await numbers(), [1]);
});

test.serial('a statement that writes has no time limit, whatever the role has', async (t) => {
  const server = await startTestServer();
  t.teardown(() => server.kill());
  const admin = connect({ url: server.url }, { max: 1, applicationName: 'test' });
  t.teardown(() => admin.end());
  await admin.unsafe(`alter role ${USER} set statement_timeout = '5s'`);
  const sql = connect({ url: server.url }, { max: 1, applicationName: 'test' });
  t.teardown(() => sql.end());
  const [row] = await sql`show statement_timeout`;
  t.is(row!['statement_timeout'], '0');
});
