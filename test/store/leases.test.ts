// Shard leases: who gets what, and when epochs rise. Expiry is brought about by short leases and the database's clock.
import test from 'ava';
import { connect, type Sql } from '../../src/store/postgres/client.js';
import { postgresLeases } from '../../src/store/postgres/leases.js';
import { migrate } from '../../src/store/postgres/migrate.js';
import { postgresSettings } from '../../src/store/postgres/settings.js';
import { shardOf } from '../../src/store/shard.js';
import { testDatabase } from '../support/embedded-database.js';

const LONG = 600_000;

async function store(t: { teardown(fn: () => Promise<void>): void }): Promise<Sql> {
  const { address, drop } = await testDatabase();
  const sql = connect(address, { max: 4, applicationName: 'test' });
  t.teardown(async () => {
    await sql.end();
    await drop();
  });
  await migrate(sql);
  return sql;
}

const expireAll = (sql: Sql) => sql`update shard_leases set expires_at = now() - interval '1 second'`;

test('the number of shards is fixed by the first who asks', async (t) => {
  const sql = await store(t);
  t.is(await postgresLeases(sql).shardCount(16), 16);
  t.is(await postgresLeases(sql).shardCount(64), 16);
  t.is((await postgresLeases(sql).acquire('a', LONG)).length, 16);
});

test('a node takes all free shards and keeps its epochs when it acquires again', async (t) => {
  const sql = await store(t);
  const leases = postgresLeases(sql);
  await leases.shardCount(4);
  const first = await leases.acquire('a', LONG);
  t.deepEqual(
    first,
    [0, 1, 2, 3].map((shard) => ({ shard, epoch: 1 })),
  );
  t.deepEqual(await leases.acquire('a', LONG), first);
});

test('another node gets nothing until leases expire, and then new epochs', async (t) => {
  const sql = await store(t);
  const [a, b] = [postgresLeases(sql), postgresLeases(sql)];
  await a.shardCount(4);
  await a.acquire('a', LONG);
  t.deepEqual(await b.acquire('b', LONG), []);
  await expireAll(sql);
  t.deepEqual(
    (await b.acquire('b', LONG)).map((lease) => lease.epoch),
    [2, 2, 2, 2],
  );
  t.is(await a.renew('a', LONG), 0);
  t.deepEqual(await a.acquire('a', LONG), []);
});

test('a restarted node takes its own shards anew', async (t) => {
  const sql = await store(t);
  await postgresLeases(sql).shardCount(2);
  await postgresLeases(sql).acquire('a', LONG);
  const restarted = postgresLeases(sql);
  t.deepEqual(
    (await restarted.acquire('a', LONG)).map((lease) => lease.epoch),
    [2, 2],
  );
});

test('a lease that ran out but was not taken is renewed under its epoch', async (t) => {
  const sql = await store(t);
  const [a, b] = [postgresLeases(sql), postgresLeases(sql)];
  await a.shardCount(3);
  await a.acquire('a', LONG);
  await expireAll(sql);
  t.is(await a.renew('a', LONG), 3);
  t.deepEqual(await b.acquire('b', LONG), []);
  t.deepEqual(
    (await a.acquire('a', LONG)).map((lease) => lease.epoch),
    [1, 1, 1],
  );
});

test('released shards are free at once', async (t) => {
  const sql = await store(t);
  const leases = postgresLeases(sql);
  await leases.shardCount(2);
  await leases.acquire('a', LONG);
  await leases.release('a');
  t.is(await leases.renew('a', LONG), 0);
  t.deepEqual(
    (await leases.acquire('b', LONG)).map((lease) => lease.epoch),
    [2, 2],
  );
});

test('nodes that acquire at once never share a shard', async (t) => {
  const sql = await store(t);
  await postgresLeases(sql).shardCount(32);
  const nodes = ['a', 'b', 'c', 'd'];
  const held = await Promise.all(nodes.map((node) => postgresLeases(sql).acquire(node, LONG)));
  t.is(held.flat().length, 32);
  t.is(new Set(held.flat().map((lease) => lease.shard)).size, 32);
});

test('a setting has one value however many create it at once', async (t) => {
  const sql = await store(t);
  const values = await Promise.all(
    [1, 2, 3, 4].map((n) => postgresSettings(sql).getOrCreate('secret', () => `made by ${n}`)),
  );
  t.is(new Set(values).size, 1);
  t.is(await postgresSettings(sql).getOrCreate('secret', () => t.fail() as never), values[0]!);
});

test('the shard of an account never changes and ids spread evenly', (t) => {
  t.is(shardOf('018f4e2a-7b3c-7d1e-9a2b-3c4d5e6f7081', 256), 28);
  t.is(shardOf('018F4E2A-7B3C-7D1E-9A2B-3C4D5E6F7081', 256), shardOf('018f4e2a-7b3c-7d1e-9a2b-3c4d5e6f7081', 256));
  const counts = new Array<number>(16).fill(0);
  for (let i = 0; i < 16_000; i++) {
    const id = `018f4e2a-7b3c-7d1e-9a2b-${i.toString(16).padStart(12, '0')}`;
    counts[shardOf(id, 16)]!++;
  }
  for (const count of counts) t.true(count > 800 && count < 1200, `${counts}`);
  t.throws(() => shardOf('nobody', 16), { instanceOf: RangeError });
});
