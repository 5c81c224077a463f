// Tests nodes and shard leases in PostgreSQL: who gets what, and when epochs rise. Leases expire by a change of their end instead
// of a wait.
import type { ExecutionContext } from 'ava';
import type { LeaseRow, LeaseStore, NodeEntry } from '../../../src/store/leases.js';
import type { Sql } from '../../../src/store/postgres/driver/client.js';
import { postgresLeases } from '../../../src/store/postgres/leases.js';
import { postgresSettings } from '../../../src/store/postgres/settings.js';
import { shardOf } from '../../../src/store/shard.js';
import { migratedSql } from '../../support/database/embedded-database.js';
import test from '../../support/test.js';

const LONG = 600_000;

interface World {
  readonly sql: Sql;
  readonly leases: LeaseStore;
  /** Expires everything that the node has, as after a long silence. */
  expire(nodeId: string): Promise<void>;
  owners(): Promise<(string | null)[]>;
  rows(): Promise<readonly LeaseRow[]>;
}

async function store(t: ExecutionContext, shards = 4): Promise<World> {
  const sql = await migratedSql(t, { max: 6 });
  const leases = postgresLeases(sql);
  await leases.shardCount(shards);
  const rows = async () => (await leases.view()).leases;
  return {
    sql,
    leases,
    rows,
    owners: async () => (await rows()).map(({ nodeId }) => nodeId),
    async expire(nodeId) {
      const past = sql`now() - interval '1 second'`;
      await sql`update nodes set expires_at = ${past} where id = ${nodeId}`;
      await sql`update shard_leases set expires_at = ${past} where node_id = ${nodeId}`;
    },
  };
}

const node = (id: string, more: Partial<NodeEntry> = {}): NodeEntry => ({
  id,
  incarnation: `${id}-1`,
  version: '0.2.0',
  roles: ['api', 'mailbox'],
  bus: 'nats',
  ...more,
});

test('the number of shards and the name of the cluster are fixed by the first who asks', async (t) => {
  const { leases, rows, sql } = await store(t, 16);
  t.is(await postgresLeases(sql).shardCount(64), 16);
  t.is((await rows()).length, 16);
  const name = await leases.clusterId();
  t.regex(name, /^[0-9a-f]{16}$/);
  t.is(await postgresLeases(sql).clusterId(), name);
});

test('a node without a bus is alone: the second node gets the name of the first', async (t) => {
  const { leases, expire } = await store(t);
  const alone = node('a', { bus: 'in-process' });
  t.deepEqual(await leases.join(alone, LONG), { kind: 'joined' });
  t.deepEqual(await leases.join(node('b', { bus: 'in-process' }), LONG), { kind: 'inUse', by: 'a' });
  t.deepEqual(await leases.join(node('b'), LONG), { kind: 'inUse', by: 'a' });
  t.deepEqual(await leases.join({ ...alone, incarnation: 'a-2' }, LONG, 'a-1'), { kind: 'joined' }, 'its own restart');
  await expire('a');
  t.deepEqual(await leases.join(node('b'), LONG), { kind: 'joined' });
  t.deepEqual(await leases.join(node('c'), LONG), { kind: 'joined' });
  t.deepEqual(await leases.join(alone, LONG), { kind: 'inUse', by: 'b' });
});

test('of two that come at once and have no bus one is refused', async (t) => {
  const { leases } = await store(t);
  const joined = await Promise.all(
    ['a', 'b', 'c'].map((id) => leases.join(node(id, { bus: id === 'a' ? 'in-process' : 'nats' }), LONG)),
  );
  const kinds = joined.map(({ kind }) => kind).join();
  t.true(['joined,inUse,inUse', 'inUse,joined,joined'].includes(kinds), kinds);
});

test('a heartbeat extends the entry and the leases and shows everything of that moment', async (t) => {
  const { leases, rows, expire } = await store(t, 3);
  await leases.join(node('a'), LONG);
  await leases.join(node('b', { roles: ['api'], version: '0.2.0' }), LONG);
  await leases.take('a', (await rows()).slice(0, 2), LONG);
  await expire('a');
  const before = await leases.view();
  t.deepEqual(
    before.nodes.map(({ id, expired, state }) => [id, expired, state]),
    [
      ['a', true, 'serving'],
      ['b', false, 'serving'],
    ],
  );
  t.true(before.leases.every(({ expired }) => expired));
  const view = await leases.heartbeat(node('a'), 'draining', LONG);
  t.deepEqual(view?.leases, [
    { shard: 0, nodeId: 'a', epoch: 1, expired: false },
    { shard: 1, nodeId: 'a', epoch: 1, expired: false },
    { shard: 2, nodeId: null, epoch: 0, expired: true },
  ]);
  const [a, b] = view!.nodes;
  t.like(a, { id: 'a', version: '0.2.0', roles: ['api', 'mailbox'], bus: 'nats', state: 'draining', expired: false });
  t.like(b, { id: 'b', version: '0.2.0', roles: ['api'], state: 'serving' });
  t.true(Number.isInteger(a!.silentMs) && a!.silentMs >= 0 && Math.abs(Date.now() - a!.startedAt) < LONG);
  t.false('incarnation' in a!);
});

test('a process whose name another one has renews nothing, gives back nothing and learns it', async (t) => {
  const { leases, rows, owners, expire } = await store(t);
  await leases.join(node('a'), LONG);
  const [free] = await rows();
  const [lease] = await leases.take('a', [free!], LONG);
  t.deepEqual(await leases.join(node('a', { incarnation: 'a-2' }), LONG, 'a-1'), { kind: 'joined' });
  await expire('a');
  t.is(await leases.heartbeat(node('a'), 'serving', LONG), undefined);
  t.true((await rows())[0]!.expired);
  await leases.leave(node('a'));
  t.is((await leases.view()).nodes.length, 1);
  const [taken] = await leases.take('a', [(await rows())[0]!], LONG);
  t.deepEqual(taken, { shard: 0, epoch: 2 });
  await leases.release('a', [lease!]);
  t.is((await owners())[0], 'a', 'what the first gives back it has no more');
  await leases.release('a', [taken!]);
  t.is((await owners())[0], null);
});

test('who enters under a name displaces the process that it has seen there and no later one', async (t) => {
  const { leases } = await store(t);
  const [first, second, third] = ['a-1', 'a-2', 'a-3'].map((incarnation) => node('a', { incarnation }));
  await leases.join(first!, LONG);
  t.deepEqual(await leases.join(third!, LONG), { kind: 'nameTaken', incarnation: 'a-1' });
  t.deepEqual(await leases.join(second!, LONG, 'a-1'), { kind: 'joined' });
  t.deepEqual(await leases.join(third!, LONG, 'a-1'), { kind: 'nameTaken', incarnation: 'a-2' });
  t.not(await leases.heartbeat(second!, 'serving', LONG), undefined);
  t.is(await leases.heartbeat(third!, 'serving', LONG), undefined);
});

test('who leaves gives back the leases of an earlier process of its name under later epochs', async (t) => {
  const { leases, rows } = await store(t, 1);
  await leases.join(node('a'), LONG);
  await leases.take('a', await rows(), LONG);
  const later = node('a', { incarnation: 'a-2' });
  await leases.join(later, LONG, 'a-1');
  await leases.leave(later);
  t.deepEqual(await rows(), [{ shard: 0, nodeId: null, epoch: 2, expired: true }]);
});

test('what has changed since it was seen is not taken', async (t) => {
  const { leases, rows, expire, owners } = await store(t);
  await leases.join(node('a'), LONG);
  await leases.join(node('b'), LONG);
  const free = await rows();
  t.deepEqual(
    await leases.take('a', free, LONG),
    [0, 1, 2, 3].map((shard) => ({ shard, epoch: 1 })),
  );
  t.deepEqual(await leases.take('b', free, LONG), [], 'not free any more');

  await expire('a');
  const late = await rows();
  t.true(late.every(({ expired }) => expired));
  await leases.heartbeat(node('a'), 'serving', LONG);
  t.deepEqual(await leases.take('b', late, LONG), [], 'renewed meanwhile');

  const gone = late.map((lease) => ({ ...lease, expired: false }));
  t.deepEqual(
    await leases.take('b', gone.slice(0, 1), LONG),
    [{ shard: 0, epoch: 2 }],
    'its owner is known to be gone',
  );
  t.deepEqual(await leases.take('b', gone.slice(0, 1), LONG), [], 'of another epoch');
  await expire('a');
  t.deepEqual(await leases.take('b', late.slice(1, 2), LONG), [{ shard: 1, epoch: 2 }], 'late still');
  t.deepEqual(await owners(), ['b', 'b', 'a', 'a']);
});

test('a restarted node takes its own again, with the next epochs', async (t) => {
  const { leases, rows } = await store(t, 2);
  await leases.join(node('a'), LONG);
  await leases.take('a', await rows(), LONG);
  await leases.join(node('a', { incarnation: 'a-2' }), LONG, 'a-1');
  t.deepEqual(await leases.take('a', await rows(), LONG), [
    { shard: 0, epoch: 2 },
    { shard: 1, epoch: 2 },
  ]);
});

test('a node gives back its own alone, and epochs go on from where they were', async (t) => {
  const { leases, rows, owners } = await store(t);
  await leases.join(node('a'), LONG);
  await leases.join(node('b'), LONG);
  const free = await rows();
  const ofA = await leases.take('a', free.slice(0, 3), LONG);
  const ofB = await leases.take('b', free.slice(3), LONG);
  await leases.release('a', [ofA[0]!, ...ofB]);
  t.deepEqual(await owners(), [null, 'a', 'a', 'b']);
  t.deepEqual((await rows())[0], { shard: 0, nodeId: null, epoch: 1, expired: true });
  await leases.leave(node('a'));
  t.deepEqual(await owners(), [null, null, null, 'b']);
  t.deepEqual(
    (await leases.view()).nodes.map(({ id }) => id),
    ['b'],
  );
  t.is(await leases.heartbeat(node('a'), 'serving', LONG), undefined);
  t.deepEqual(await leases.take('b', (await rows()).slice(0, 1), LONG), [{ shard: 0, epoch: 2 }]);
});

test('what is given to a node is its, in the next epoch, if it serves; otherwise it is given back', async (t) => {
  const { leases, rows, owners } = await store(t);
  for (const id of ['a', 'b', 'c']) await leases.join(node(id), LONG);
  await leases.heartbeat(node('c'), 'draining', LONG);
  const ofA = await leases.take('a', await rows(), LONG);
  const to = ['b', 'c', 'nobody', undefined];
  const given = await leases.release(
    'a',
    ofA.map((lease, i) => ({ ...lease, to: to[i] })),
  );
  t.deepEqual(given, [{ shard: 0, epoch: 2, to: 'b' }]);
  t.deepEqual(await owners(), ['b', null, null, null]);
  t.deepEqual((await rows())[0], { shard: 0, nodeId: 'b', epoch: 2, expired: false });
  t.deepEqual(await leases.release('a', [{ ...ofA[0]!, to: 'c' }]), [], 'what it gave it has no more');
  t.is((await owners())[0], 'b');
});

test('of nodes that want the same at once each shard goes to one, and no call waits for ever', async (t) => {
  const { leases, rows, owners } = await store(t, 64);
  const names = ['a', 'b', 'c', 'd'];
  for (const id of names) await leases.join(node(id), LONG);
  for (let round = 0; round < 10; round++) {
    const seen = (await rows()).map((lease) => ({ ...lease, expired: false }));
    const taken = await Promise.all(
      names.flatMap((id, i) => [
        leases.take(id, i % 2 === 0 ? seen : seen.toReversed(), LONG),
        leases.heartbeat(node(id), 'serving', LONG).then(() => []),
      ]),
    );
    t.deepEqual(
      taken
        .flat()
        .map(({ shard }) => shard)
        .sort((a, b) => a - b),
      seen.map(({ shard }) => shard),
    );
    t.true(taken.flat().every(({ shard, epoch }) => epoch === seen[shard]!.epoch + 1));
    const now = await owners();
    taken.forEach((shards, i) => {
      for (const { shard } of shards) t.is(now[shard], names[Math.floor(i / 2)]!);
    });
  }
});

test('entries of nodes that are long silent are forgotten', async (t) => {
  const { sql, leases, rows } = await store(t);
  await leases.join(node('a'), LONG);
  await leases.join(node('b'), LONG);
  await leases.take('a', await rows(), LONG);
  await sql`update nodes set expires_at = now() - interval '25 hours' where id = 'a'`;
  await sql`update nodes set expires_at = now() - interval '23 hours' where id = 'b'`;
  await leases.join(node('c'), LONG);
  t.deepEqual(
    (await leases.view()).nodes.map(({ id }) => id),
    ['b', 'c'],
  );
});

test('a setting has one value however many create it at once', async (t) => {
  const { sql } = await store(t);
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
