// Tests positions of durable consumers in a real PostgreSQL: who is behind, and updates that name the position they replace.
import { randomUUID } from 'node:crypto';
import type { ConsumerPosition } from '../../../../src/store/consumers.js';
import { postgresConsumers } from '../../../../src/store/postgres/accounts/consumers.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { postgresPushSubscriptions } from '../../../../src/store/postgres/accounts/push-subscriptions.js';
import { shardOf } from '../../../../src/store/shard.js';
import { migratedSql, type Teardown } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

const SHARDS = 8;
const ALL = Array.from({ length: SHARDS }, (_, shard) => shard);
const KEYS = { p256dh: 'p', auth: 'a' };

async function setUp(t: Teardown) {
  const sql = await migratedSql(t, { max: 4 });
  const directory = postgresDirectory(sql, SHARDS);
  const subscriptions = postgresPushSubscriptions(sql);
  const consumers = postgresConsumers(sql);
  return {
    sql,
    subscriptions,
    consumers,
    /** Creates an account without changes. */
    account: async () => {
      const { id } = await directory.createAccount(`${randomUUID()}@example.test`, 'x');
      await sql`update accounts set modseq = 0 where id = ${id}`;
      return id;
    },
    subscribe: async (accountId: string, endpoint = 'https://push.example.test/1') => {
      await subscriptions.subscribe(accountId, { endpoint, ...KEYS }, 20);
      const [row] = await sql<{ id: string }[]>`
        select id from push_subscriptions where account_id = ${accountId} and endpoint = ${endpoint}`;
      return row!.id;
    },
    /** Advances the account as commits of the mailbox do. */
    commit: (accountId: string, changes = 1) =>
      sql`update accounts set modseq = modseq + ${changes} where id = ${accountId}`,
    position: async (accountId: string): Promise<ConsumerPosition> => (await consumers.of('push', accountId))[0]!,
  };
}

test('a subscription begins at the newest change, and is behind from the next one on', async (t) => {
  const { consumers, account, subscribe, commit, position } = await setUp(t);
  const accountId = await account();
  await commit(accountId, 5);
  const id = await subscribe(accountId);
  t.deepEqual(await position(accountId), {
    accountId,
    id,
    seq: 5,
    retryAt: null,
    failures: 0,
    failingSince: null,
  });
  t.deepEqual(await consumers.accounts('push', [shardOf(accountId, SHARDS)]), [accountId]);
  t.deepEqual(await consumers.behind('push', ALL, undefined, 10), []);
  await commit(accountId);
  t.deepEqual(await consumers.behind('push', ALL, undefined, 10), [accountId]);
  const others = ALL.filter((shard) => shard !== shardOf(accountId, SHARDS));
  t.deepEqual(await consumers.behind('push', others, undefined, 10), []);
  t.deepEqual(await consumers.accounts('push', others), []);
});

test('an update of another position than the row has is not made', async (t) => {
  const { consumers, account, subscribe, position } = await setUp(t);
  const accountId = await account();
  const id = await subscribe(accountId);
  const advance = (before: number, seq: number) =>
    consumers.advance('push', [{ accountId, id, before, seq, recovered: true }]);
  t.deepEqual(await advance(0, 3), new Set([id]));
  t.deepEqual(await advance(0, 2), new Set());
  const failure = { accountId, id, seq: 4, retryAt: Date.now(), failures: 1, failingSince: 1 };
  t.false(await consumers.fail('push', { ...failure, before: 0 }));
  t.is((await position(accountId)).seq, 3);
});

test('a failure makes the consumer wait; a success ends the count, what was only passed does not', async (t) => {
  const { consumers, account, subscribe, commit, position } = await setUp(t);
  const accountId = await account();
  const id = await subscribe(accountId);
  await commit(accountId, 9);
  const [retryAt, failingSince] = [Date.now() + 60_000, Date.now() - 5_000];
  t.true(await consumers.fail('push', { accountId, id, before: 0, seq: 2, retryAt, failures: 3, failingSince }));
  t.like(await position(accountId), { seq: 2, retryAt, failures: 3, failingSince });
  t.deepEqual(await consumers.behind('push', ALL, undefined, 10), []);
  await consumers.advance('push', [{ accountId, id, before: 2, seq: 3, recovered: false }]);
  t.like(await position(accountId), { seq: 3, retryAt, failures: 3, failingSince });
  await consumers.advance('push', [{ accountId, id, before: 3, seq: 4, recovered: true }]);
  t.like(await position(accountId), { seq: 4, retryAt: null, failures: 0, failingSince: null });
  t.deepEqual(await consumers.behind('push', ALL, undefined, 10), [accountId]);
});

test('a retry that is due counts as behind', async (t) => {
  const { consumers, account, subscribe, commit, position } = await setUp(t);
  const accountId = await account();
  const id = await subscribe(accountId);
  await commit(accountId);
  const failure = { accountId, id, before: 0, seq: 0, failures: 1, failingSince: Date.now() };
  await consumers.fail('push', { ...failure, retryAt: Date.now() - 1_000 });
  t.is((await position(accountId)).retryAt, null);
  t.deepEqual(await consumers.behind('push', ALL, undefined, 10), [accountId]);
});

test('a subscription that is made again keeps its position and is tried at once; pages go by account', async (t) => {
  const { consumers, account, subscribe, commit, position } = await setUp(t);
  const ids = [];
  for (let i = 0; i < 5; i++) {
    const accountId = await account();
    const id = await subscribe(accountId);
    await commit(accountId);
    const failure = { accountId, id, before: 0, seq: 0, failures: 9, failingSince: Date.now() };
    await consumers.fail('push', { ...failure, retryAt: Date.now() + 3_600_000 });
    t.is(await subscribe(accountId), id);
    t.like(await position(accountId), { seq: 0, retryAt: null, failures: 0, failingSince: null });
    ids.push(accountId);
  }
  const first = await consumers.behind('push', ALL, undefined, 3);
  const second = await consumers.behind('push', ALL, first.at(-1), 3);
  t.deepEqual([...first, ...second], ids.toSorted());
});

test('a subscription is removed unless its keys were replaced, or by its endpoint', async (t) => {
  const { subscriptions, account, subscribe } = await setUp(t);
  const accountId = await account();
  const id = await subscribe(accountId);
  const row = await subscriptions.find(accountId, id);
  await subscriptions.remove(accountId, { ...row!, auth: 'old' });
  t.deepEqual(await subscriptions.find(accountId, id), row);
  await subscriptions.remove(accountId, row!);
  t.is(await subscriptions.find(accountId, id), undefined);
  const [one, two] = [await subscribe(accountId, 'https://a.test/1'), await subscribe(accountId, 'https://a.test/2')];
  await subscriptions.unsubscribe(accountId, 'https://a.test/1');
  t.is(await subscriptions.find(accountId, one), undefined);
  t.truthy(await subscriptions.find(accountId, two));
});
