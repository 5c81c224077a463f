// Tests an account's own data on a real store: keys, addresses, push subscriptions, which only the account sees. Preferences are in
// preferences.test.ts, because the mailbox stores them.
import { randomBytes, randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { createAccountApi } from '../../../src/actors/account/account-api.js';
import type { IssuedKey } from '../../../src/actors/account/protocol.js';
import { parseApiKey } from '../../../src/actors/directory/api-key.js';
import { createDirectory } from '../../../src/actors/directory/directory.js';
import { KeyUses } from '../../../src/actors/directory/key-uses.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { postgresPasskeys } from '../../../src/store/postgres/accounts/passkeys.js';
import { postgresPreferences } from '../../../src/store/postgres/accounts/preferences.js';
import { postgresPushSubscriptions } from '../../../src/store/postgres/accounts/push-subscriptions.js';
import { postgresSessions } from '../../../src/store/postgres/accounts/sessions.js';
import { postgresWebhookDeliveries } from '../../../src/store/postgres/accounts/webhook-deliveries.js';
import { postgresWebhooks } from '../../../src/store/postgres/accounts/webhooks.js';
import { connect } from '../../../src/store/postgres/driver/client.js';
import { migratedDatabase } from '../../support/database/embedded-database.js';
import { deferred } from '../../support/deferred.js';
import { FakeMailboxes } from '../../support/hub-fakes.js';
import test from '../../support/test.js';

async function start(t: ExecutionContext) {
  const { address, drop } = await migratedDatabase();
  const sql = connect(address, { max: 8, applicationName: 'test' });
  const store = postgresDirectory(sql, 16);
  const warnings: string[] = [];
  const log = { warn: (_: object, text: string) => void warnings.push(text) };
  const keyUses = new KeyUses({ store, log, intervalMs: 3_600_000 });
  const subscriptions = postgresPushSubscriptions(sql);
  const preferences = postgresPreferences(sql);
  await store.addDomain('example.test');
  const senders = await createDirectory({
    store,
    mailboxes: new FakeMailboxes().refs,
    unknownRecipients: 'hold',
    log: { info() {} },
  });
  const accountApi = createAccountApi({
    directory: store,
    senders,
    verification: {
      publicUrl: 'https://mail.example.test',
      hostname: 'mx.test',
      newId: randomUUID,
      send: async () => {},
    },
    preferences,
    mailboxes: new FakeMailboxes().refs,
    subscriptions,
    webhooks: postgresWebhooks(sql),
    webhookDeliveries: postgresWebhookDeliveries(sql),
    passkeys: postgresPasskeys(sql),
    sessions: postgresSessions(sql),
    consumersChanged: () => {},
    keyUses,
    random: randomBytes,
    time: () => Date.now(),
  });
  t.teardown(async () => {
    await keyUses.stop();
    await senders.close();
    await sql.end({ timeout: 5 });
    await drop();
  });
  const ann = await store.createAccount('ann@example.test', 'Ann');
  const bob = await store.createAccount('bob@example.test', 'Bob');
  return { sql, store, accountApi, keyUses, subscriptions, warnings, ann: ann.id, bob: bob.id };
}

const active = async (store: ReturnType<typeof postgresDirectory>, apiKey: string) =>
  (await store.keysByPrefixes([parseApiKey(apiKey)!.prefix])).length === 1;

test('keys are issued, listed, rotated and revoked by their own account', async (t) => {
  const { accountApi, store, ann, bob } = await start(t);
  const key = (await accountApi.keys.issue(ann, 'laptop', ['imap', 'smtp']))!;
  t.like(key, { name: 'laptop', scopes: ['imap', 'smtp'], serviceWide: false, lastUsedAt: null });
  t.false((await accountApi.keys.issue(ann, 'host', ['internal']))!.serviceWide);
  t.deepEqual(
    (await accountApi.keys.list(ann)).map(({ name }) => name),
    ['laptop', 'host'],
  );
  t.deepEqual(await accountApi.keys.list(bob), []);
  t.is(await accountApi.keys.rotate(bob, key.id), 'noSuchKey');
  t.false(await accountApi.keys.revoke(bob, key.id));
  t.false(await accountApi.keys.revoke(ann, 'x'));
  t.true(await active(store, key.apiKey));
  const next = (await accountApi.keys.rotate(ann, key.id)) as IssuedKey;
  t.like(next, { name: 'laptop', scopes: ['imap', 'smtp'] });
  t.not(next.id, key.id);
  t.false(await active(store, key.apiKey));
  t.true(await active(store, next.apiKey));
  t.true(await accountApi.keys.revoke(ann, next.id));
  t.false(await accountApi.keys.revoke(ann, next.id));
  t.false(await active(store, next.apiKey));
  t.is(await accountApi.keys.rotate(ann, next.id), 'noSuchKey');
});

test('of several rotations at once one wins, and a service-wide key is the operator’s', async (t) => {
  const { accountApi, store, ann } = await start(t);
  const key = (await accountApi.keys.issue(ann, 'laptop', ['imap']))!;
  const results = await Promise.all(Array.from({ length: 6 }, () => accountApi.keys.rotate(ann, key.id)));
  t.is(results.filter((result) => typeof result === 'object').length, 1);
  t.is((await accountApi.keys.list(ann)).length, 1);
  const wide = await store.createKey({
    ...{ accountId: ann, name: 'host', scopes: ['internal'], serviceWide: true, prefix: 'wide', hash: 'f' },
  });
  t.is(await accountApi.keys.rotate(ann, wide.id), 'serviceWide');
  t.is((await store.keysByPrefixes(['wide'])).length, 1);
});

test('revoking and rotating are told to every node', async (t) => {
  const { accountApi, store, ann } = await start(t);
  const [first, second] = [
    (await accountApi.keys.issue(ann, 'a', ['app']))!,
    (await accountApi.keys.issue(ann, 'b', ['app']))!,
  ];
  const heard: string[] = [];
  const { promise: both, resolve: done } = deferred();
  const stop = await store.watch((change) => {
    if (change.kind === 'key-revoked') heard.push(change.keyId);
    if (heard.length === 2) done();
  });
  t.teardown(stop);
  await accountApi.keys.rotate(ann, first.id);
  await accountApi.keys.revoke(ann, second.id);
  await both;
  t.deepEqual(heard, [first.id, second.id]);
});

test('an account has at most 100 keys, however they are asked for', async (t) => {
  const { accountApi, sql, ann, bob } = await start(t);
  await sql`insert into api_keys (id, account_id, name, prefix, hash, scopes)
    select gen_random_uuid(), ${ann}, 'x', 'p' || n, '', '{app}' from generate_series(1, 97) n`;
  const made = await Promise.all(Array.from({ length: 8 }, () => accountApi.keys.issue(ann, 'x', ['app'])));
  t.is(made.filter((key) => key !== undefined).length, 3);
  t.truthy(await accountApi.keys.issue(bob, 'x', ['app']));
  const [one] = await accountApi.keys.list(ann);
  t.is(typeof (await accountApi.keys.rotate(ann, one!.id)), 'object', 'rotation adds none');
  t.is(await accountApi.keys.issue(randomUUID(), 'x', ['app']), undefined);
});

test('a device has one key: a further one revokes the one before, on every node', async (t) => {
  const { accountApi, store, ann, bob } = await start(t);
  const first = (await accountApi.keys.issue(ann, 'phone', ['app'], 'device'))!;
  const others = [
    (await accountApi.keys.issue(ann, 'tablet', ['app'], 'another'))!,
    (await accountApi.keys.issue(ann, 'script', ['app']))!,
    (await accountApi.keys.issue(bob, 'phone', ['app'], 'device'))!,
  ];
  const heard: string[] = [];
  const { promise: told, resolve: tell } = deferred();
  const stop = await store.watch((change) => {
    if (change.kind !== 'key-revoked') return;
    heard.push(change.keyId);
    if (heard.length === 5) tell();
  });
  t.teardown(stop);
  const rotated = (await accountApi.keys.rotate(ann, first.id)) as IssuedKey;
  const made = await Promise.all(
    Array.from({ length: 4 }, () => accountApi.keys.issue(ann, 'phone, again', ['app'], 'device')),
  );
  t.false(await active(store, rotated.apiKey), 'rotation keeps the device');
  const left = await Promise.all(made.map((key) => active(store, key!.apiKey)));
  t.is(left.filter((isActive) => isActive).length, 1);
  for (const key of others) t.true(await active(store, key.apiKey), key.name);
  await told;
  t.deepEqual(heard.slice(0, 2), [first.id, rotated.id]);
});

test('a device gets its key again when the account has as many as it may', async (t) => {
  const { accountApi, sql, ann } = await start(t);
  await accountApi.keys.issue(ann, 'phone', ['app'], 'device');
  await sql`insert into api_keys (id, account_id, name, prefix, hash, scopes)
    select gen_random_uuid(), ${ann}, 'x', 'p' || n, '', '{app}' from generate_series(1, 99) n`;
  t.is(await accountApi.keys.issue(ann, 'tablet', ['app'], 'another'), undefined);
  t.truthy(await accountApi.keys.issue(ann, 'phone', ['app'], 'device'));
});

test('uses of keys are written in batches, and the latest of all nodes stays', async (t) => {
  const { accountApi, store, sql, keyUses, warnings, ann } = await start(t);
  const key = (await accountApi.keys.issue(ann, 'laptop', ['imap']))!;
  keyUses.note(key.id);
  const [shown] = await accountApi.keys.list(ann);
  t.true(shown!.lastUsedAt instanceof Date, 'known before it is written');
  t.is((await store.keys(ann))[0]!.lastUsedAt, null);
  const before = (await accountApi.profiles.read(ann))!;
  t.deepEqual(before.lastLoginAt, before.createdAt, 'the account was not used yet');
  await keyUses.flush();
  t.deepEqual((await accountApi.profiles.read(ann))!.lastLoginAt, shown!.lastUsedAt);
  await sql`update accounts set last_login_at = now() + interval '1 hour'`;
  t.true((await accountApi.profiles.read(ann))!.lastLoginAt > shown!.lastUsedAt!, 'the later of the two');
  t.deepEqual((await store.keys(ann))[0]!.lastUsedAt, shown!.lastUsedAt);
  await store.touchKeys(
    new Map([
      [key.id, new Date(0)],
      [randomUUID(), new Date()],
    ]),
  );
  t.deepEqual((await store.keys(ann))[0]!.lastUsedAt, shown!.lastUsedAt, 'an earlier use changes nothing');
  const failing = new KeyUses({
    store: { touchKeys: () => Promise.reject(new Error('down')) },
    log: { warn: (_, text) => void warnings.push(text) },
  });
  failing.note(key.id);
  await failing.flush();
  t.truthy(failing.last(key.id), 'kept for another try');
  t.is(warnings.length, 1);
  await failing.stop();
  await sql`select 1`;
});

test('additional addresses are asked for, once each, and given up', async (t) => {
  const { accountApi, store, sql, ann, bob } = await start(t);
  const added = await accountApi.profiles.addAddress(ann, 'Sales@Example.TEST');
  t.like(added as object, { address: 'sales@example.test', isVerified: false });
  t.is(await accountApi.profiles.addAddress(ann, 'sales@example.test'), 'known');
  t.is(await accountApi.profiles.addAddress(ann, 'Ann@example.test'), 'own');
  t.is(await accountApi.profiles.addAddress(ann, 'other+tag@example.test'), 'tagged');
  t.is(await accountApi.profiles.addAddress(ann, 'nonsense'), 'invalid');
  t.is(await accountApi.profiles.addAddress(randomUUID(), 'a@example.test'), 'noAccount');
  t.like((await accountApi.profiles.addAddress(ann, 'bob@example.test')) as object, { isVerified: false });
  t.is((await store.ownerOf('bob@example.test'))?.accountId, bob, 'nothing is taken from anybody');
  t.is(await store.ownerOf('sales@example.test'), undefined);
  const [row] = await sql`select verification_hash as hash from addresses where address = 'sales@example.test'`;
  t.regex(row!['hash'], /^[0-9a-f]{64}$/);
  const profile = (await accountApi.profiles.read(ann))!;
  t.deepEqual(
    profile.additionalAddresses.map(({ address }) => address),
    ['sales@example.test', 'bob@example.test'],
  );
  const id = profile.additionalAddresses[0]!.id;
  t.false(await accountApi.profiles.removeAddress(bob, id));
  t.true(await accountApi.profiles.removeAddress(ann, id));
  t.false(await accountApi.profiles.removeAddress(ann, id));
  const [own] = await sql<
    [{ id: string }]
  >`select id from addresses where account_id = ${ann} and address = 'ann@example.test'`;
  t.false(await accountApi.profiles.removeAddress(ann, own.id), 'the own address stays');
});

test('a verified address that is given up receives no more, and the change is told', async (t) => {
  const { accountApi, store, ann } = await start(t);
  const { id } = await store.addAddress(ann, 'sales@example.test', true);
  let tell = (_: string) => {};
  const told = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const stop = await store.watch((change) => {
    if (change.kind === 'address') tell(change.address);
  });
  t.teardown(stop);
  t.true(await accountApi.profiles.removeAddress(ann, id));
  t.is(await store.ownerOf('sales@example.test'), undefined);
  t.is(await told, 'sales@example.test');
});

test('an account has at most 50 additional addresses', async (t) => {
  const { accountApi, ann } = await start(t);
  const results = await Promise.all(
    Array.from({ length: 53 }, (_, n) => accountApi.profiles.addAddress(ann, `a${n}@example.test`)),
  );
  t.is(results.filter((result) => result === 'full').length, 3);
});

test('push subscriptions are replaced by endpoint, bounded, and ended together', async (t) => {
  const { accountApi, subscriptions, ann, bob } = await start(t);
  const one = (n: number, auth = 'a') => ({ endpoint: `https://push.test/${n}`, p256dh: 'p', auth });
  for (let n = 0; n < 20; n++) await accountApi.push.subscribe(ann, one(n));
  await accountApi.push.subscribe(ann, one(0, 'b'));
  await accountApi.push.subscribe(bob, one(0));
  t.is((await subscriptions.subscriptions(ann)).length, 20);
  t.deepEqual((await subscriptions.subscriptions(ann)).at(-1), one(0, 'b'));
  await accountApi.push.subscribe(ann, one(20));
  const kept = (await subscriptions.subscriptions(ann)).map(({ endpoint }) => endpoint);
  t.is(kept.length, 20);
  t.false(kept.includes('https://push.test/1'), 'the oldest went');
  await accountApi.push.unsubscribe(ann);
  t.deepEqual(await subscriptions.subscriptions(ann), []);
  t.is((await subscriptions.subscriptions(bob)).length, 1);
  t.false(await accountApi.push.subscribe(randomUUID(), one(1)));
});
