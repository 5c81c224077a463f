// Tests webhooks and their deliveries in PostgreSQL: limits, what an update resets, replays, secrets, pruning.
import { randomUUID } from 'node:crypto';
import { idSource } from '../../../../src/store/ids/new-id.js';
import { postgresConsumers } from '../../../../src/store/postgres/accounts/consumers.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { postgresWebhookDeliveries } from '../../../../src/store/postgres/accounts/webhook-deliveries.js';
import { postgresWebhooks } from '../../../../src/store/postgres/accounts/webhooks.js';
import type { RecordedDelivery } from '../../../../src/store/webhooks.js';
import { migratedSql, type Teardown } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

const CHOICES = { url: 'https://hooks.example.org/a', eventTypes: ['NewEmail'], isEnabled: true };
const DAY_MS = 86_400_000;

async function setUp(t: Teardown) {
  const sql = await migratedSql(t, { max: 4 });
  const directory = postgresDirectory(sql, 1);
  const { id: accountId } = await directory.createAccount(`${randomUUID()}@example.test`, 'x');
  await sql`update accounts set modseq = 40 where id = ${accountId}`;
  const store = postgresWebhooks(sql);
  return {
    sql,
    accountId,
    store,
    deliveries: postgresWebhookDeliveries(sql),
    consumers: postgresConsumers(sql),
    create: (secret = 'whsec_1') => store.create(accountId, { ...CHOICES, secret }, 3),
  };
}

test('an account has at most so many webhooks, also when they are made at once', async (t) => {
  const { store, accountId, create } = await setUp(t);
  const made = await Promise.all(Array.from({ length: 5 }, () => create()));
  t.is(made.filter((webhook) => webhook !== undefined).length, 3);
  t.is((await store.list(accountId)).length, 3);
  t.is(await store.create(randomUUID(), { ...CHOICES, secret: 'x' }, 3), undefined);
});

test('a webhook begins at the newest change, and is found by its own account alone', async (t) => {
  const { store, consumers, accountId, create } = await setUp(t);
  const { id, ...webhook } = (await create())!;
  t.like(webhook, { ...CHOICES, disabledReason: null, failures: 0, failingSince: null, retryAt: null });
  t.deepEqual(await store.get(accountId, id), { id, ...webhook });
  t.like(await consumers.of('webhook', accountId), [{ id, seq: 40 }]);
  const stranger = randomUUID();
  t.is(await store.get(stranger, id), undefined);
  t.false(await store.update(stranger, id, CHOICES));
  t.false(await store.remove(stranger, id));
  t.false(await store.rotateSecret(stranger, id, 'x', 1));
  t.is(await store.replay(stranger, id, { seq: 0, within: null }), 'noSuchWebhook');
  t.is(await store.target(stranger, id), undefined);
  t.true(await store.remove(accountId, id));
  t.is(await store.get(accountId, id), undefined);
});

test('an update is tried at once; failures of another URL and before a disabling do not count', async (t) => {
  const { store, consumers, accountId, create } = await setUp(t);
  const { id } = (await create())!;
  const fail = () =>
    consumers.fail('webhook', {
      ...{ accountId, id, before: 40, seq: 40, retryAt: Date.now() + DAY_MS, failures: 4 },
      failingSince: Date.now() - DAY_MS,
    });
  t.true(await fail());
  t.like(await store.get(accountId, id), { failures: 4 });
  t.true(await store.update(accountId, id, { ...CHOICES, eventTypes: [] }));
  t.like(await store.get(accountId, id), { eventTypes: [], failures: 4, retryAt: null });
  t.true(await store.update(accountId, id, { ...CHOICES, url: 'https://b.example.org/' }));
  t.like(await store.get(accountId, id), { url: 'https://b.example.org/', failures: 0, failingSince: null });
  t.true(await fail());
  t.true(await store.disable(accountId, id, 'It is gone.'));
  t.false(await store.disable(accountId, id, 'Again.'));
  t.like(await store.get(accountId, id), { isEnabled: false, disabledReason: 'It is gone.', retryAt: null });
  t.is((await consumers.of('webhook', accountId)).length, 0);
  t.is(await store.target(accountId, id), undefined);
  t.truthy(await store.target(accountId, id, true));
  t.true(await store.update(accountId, id, { ...CHOICES, url: 'https://b.example.org/' }));
  t.like(await store.get(accountId, id), { isEnabled: true, disabledReason: null, failures: 0, failingSince: null });
  t.like(await consumers.of('webhook', accountId), [{ seq: 40, retryAt: null }]);
});

test('a replay sets the position back, never ahead of the account', async (t) => {
  const { store, consumers, accountId, create } = await setUp(t);
  const { id } = (await create())!;
  const within = { seq: 13, n: 1, k: 2 };
  t.is(await store.replay(accountId, id, { seq: 12, within }), 'done');
  t.like(await consumers.of('webhook', accountId), [{ seq: 12 }]);
  t.deepEqual((await store.target(accountId, id))?.within, within);
  t.is(await store.replay(accountId, id, { seq: 41, within: null }), 'ahead');
  t.like(await consumers.of('webhook', accountId), [{ seq: 12 }]);
  await store.doneWithin(accountId, id, 12, { seq: 12, n: 5, k: 5 });
  t.deepEqual((await store.target(accountId, id))?.within, within, 'of a change that is done already');
  await store.doneWithin(accountId, id, 29, { seq: 30, n: 5, k: 5 });
  t.deepEqual((await store.target(accountId, id))?.within, within, 'of a delivery that began before the replay');
  await store.doneWithin(accountId, id, 12, { seq: 13, n: 5, k: 5 });
  t.deepEqual((await store.target(accountId, id))?.within, { seq: 13, n: 5, k: 5 });
  t.is(await store.replay(accountId, id, { seq: 0, within: null }), 'done');
  t.is((await store.target(accountId, id))?.within, null);
});

test('the old secret signs beside the new one for a while', async (t) => {
  const { store, accountId, create } = await setUp(t);
  const { id } = (await create('whsec_1'))!;
  t.deepEqual((await store.target(accountId, id))?.secrets, ['whsec_1']);
  t.true(await store.rotateSecret(accountId, id, 'whsec_2', DAY_MS));
  t.deepEqual((await store.target(accountId, id))?.secrets, ['whsec_2', 'whsec_1']);
  t.true(await store.rotateSecret(accountId, id, 'whsec_3', 0));
  t.deepEqual((await store.target(accountId, id))?.secrets, ['whsec_3']);
});

test('deliveries are listed newest first, and pruned by number and age', async (t) => {
  const { deliveries, store, accountId, create } = await setUp(t);
  const { id: webhookId } = (await create())!;
  const { id: other } = (await create())!;
  const newId = idSource();
  const delivery = (number: number, at = new Date()): RecordedDelivery => ({
    ...{ accountId, webhookId, id: newId(), eventId: `${number}`, eventType: 'NewEmail', at, attempt: 1 },
    ...{ isDelivered: false, responseStatus: 500, durationMs: 12, error: 'no "so" \\ 💌' },
  });
  const made = [1, 2, 3, 4, 5].map((number) => delivery(number));
  const old = { ...delivery(6, new Date(Date.now() - 2 * DAY_MS)), webhookId: other };
  await deliveries.record([...made, old, { ...delivery(7), webhookId: randomUUID() }]);
  await deliveries.record(made.slice(0, 1));
  const { accountId: _, webhookId: __, ...shown } = made[2]!;
  t.deepEqual(await deliveries.page(accountId, webhookId, 2, 2), {
    totalCount: 5,
    items: [shown, { ...shown, id: made[1]!.id, eventId: '2', at: made[1]!.at }],
  });
  t.deepEqual(await deliveries.get(accountId, webhookId, made[2]!.id), shown);
  t.is(await deliveries.get(accountId, other, made[2]!.id), undefined);
  t.is(await deliveries.page(randomUUID(), webhookId, 1, 2), undefined);
  t.is(await deliveries.prune(DAY_MS, 3), 3);
  t.deepEqual(
    (await deliveries.page(accountId, webhookId, 1, 10))?.items.map(({ eventId }) => eventId),
    ['5', '4', '3'],
  );
  t.is((await deliveries.page(accountId, other, 1, 10))?.totalCount, 0);
  await store.remove(accountId, webhookId);
  t.is(await deliveries.get(accountId, webhookId, made[4]!.id), undefined);
});
