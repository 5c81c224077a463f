// Tests sessions and links for one sign-in in a real PostgreSQL: look-ups among API keys, ends, bounds, notices, and what is deleted when.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { postgresPushSubscriptions } from '../../../../src/store/postgres/accounts/push-subscriptions.js';
import { postgresSessions } from '../../../../src/store/postgres/accounts/sessions.js';
import { type SignInProof, sessionEnd } from '../../../../src/store/sessions.js';
import test from '../../../support/test.js';
import { changes, directory, key } from './opened-directory.js';

const DAY_MS = 24 * 3_600_000;
let made = 0;

/** The text of a session is never stored. */
const session = (replaces?: string) => ({
  prefix: `prefix${String(++made).padStart(4, '0')}`,
  hash: 'e'.repeat(64),
  userAgent: 'Firefox',
  replaces,
});

async function start(t: ExecutionContext) {
  const { sql, store } = await directory(t);
  const announced: string[] = [];
  const sessions = postgresSessions(sql, async (ids) => void announced.push(...ids));
  const ann = await store.createAccount('ann@example.test', 'Ann');
  const bob = await store.createAccount('bob@example.test', 'Bob');
  return { sql, store, sessions, announced, ann: ann.id, bob: bob.id };
}

test('a session is found as a key is, and is no key of the account', async (t) => {
  const { store, sessions, ann } = await start(t);
  await key(store, ann);
  const given = session();
  const { id, ...rest } = (await sessions.create(ann, 10, given))!;
  t.like(rest, { accountId: ann, userAgent: 'Firefox' });
  const found = await store.keysByPrefixes([given.prefix, 'abcdefghij']);
  t.deepEqual(found.map(({ kind }) => kind).sort(), ['key', 'session']);
  t.like(found.find(({ kind }) => kind === 'session')!, {
    ...{ id, accountId: ann, email: 'ann@example.test', scopes: ['app'], serviceWide: false },
    ...{ prefix: given.prefix, hash: given.hash, createdAt: rest.createdAt, lastUsedAt: rest.lastUsedAt },
  });
  t.is((await store.keys(ann)).length, 1);
  t.is(await sessions.create(randomUUID(), 10, session()), undefined);
});

test('uses of keys and sessions are noted together, and count for the profile', async (t) => {
  const { store, sessions, ann } = await start(t);
  const { id } = (await sessions.create(ann, 10, session()))!;
  const { id: keyId } = await key(store, ann);
  const later = new Date(Date.now() + DAY_MS);
  await store.touchKeys(
    new Map([
      [id, later],
      [keyId, new Date()],
    ]),
  );
  t.deepEqual((await sessions.list(ann))[0]!.lastUsedAt, later);
  t.true((await store.keys(ann))[0]!.lastUsedAt !== null);
  t.deepEqual((await store.profile(ann))!.lastLoginAt, later);
  await store.touchKeys(new Map([[id, new Date(0)]]));
  t.deepEqual((await sessions.list(ann))[0]!.lastUsedAt, later, 'the latest use stays');
});

test('an end is told to nodes and commands, once, and only the account of a session ends it', async (t) => {
  const { store, sessions, announced, ann, bob } = await start(t);
  const { seen, until } = await changes(t, store);
  const given = session();
  const { id } = (await sessions.create(ann, 10, given))!;
  t.deepEqual(await until(({ kind }) => kind === 'sessions'), { kind: 'sessions', accountId: ann });
  seen.length = 0;
  t.false(await sessions.end(bob, id));
  t.false(await sessions.end(ann, 'x'));
  t.false(await sessions.end(ann, randomUUID()));
  t.true(await sessions.end(ann, id.toUpperCase()));
  t.false(await sessions.end(ann, id));
  t.deepEqual(announced, [id]);
  t.deepEqual(await until(({ kind }) => kind === 'key-revoked'), { kind: 'key-revoked', keyId: id });
  t.deepEqual(await until(({ kind }) => kind === 'sessions'), { kind: 'sessions', accountId: ann });
  t.is(seen.length, 2);
  t.deepEqual(await store.keysByPrefixes([given.prefix]), []);
  t.deepEqual(await sessions.list(ann), []);
});

test('push subscriptions end with the session that made them, however it ends', async (t) => {
  const { sql, sessions, ann, bob } = await start(t);
  const push = postgresPushSubscriptions(sql);
  const subscribe = (sessionId: string | undefined, name: string, account = ann) =>
    push.subscribe(account, { endpoint: `https://push.test/${name}`, p256dh: 'p', auth: 'a', sessionId }, 20);
  const left = async (account = ann) =>
    (await push.subscriptions(account)).map(({ endpoint }) => endpoint.replace('https://push.test/', '')).sort();
  const { id: own } = (await sessions.create(ann, 10, session()))!;
  const { id: other } = (await sessions.create(ann, 10, session()))!;
  for (const [id, name] of [
    [own, 'own'],
    [other, 'other'],
    [undefined, 'of a key'],
  ] as const)
    await subscribe(id, name);
  await subscribe(other, 'of another account', bob);
  t.true(await sessions.end(ann, own));
  t.deepEqual(await left(), ['of a key', 'other']);

  // Somebody else signs in with the browser of the other session.
  await sessions.create(bob, 10, session(other));
  t.deepEqual(await left(), ['of a key']);
  t.deepEqual(await left(bob), ['of another account']);

  // The endpoint belongs to the session that has subscribed it last.
  const { id: first } = (await sessions.create(ann, 10, session()))!;
  const { id: second } = (await sessions.create(ann, 10, session()))!;
  await subscribe(first, 'both');
  await subscribe(second, 'both');
  await sessions.end(ann, first);
  t.deepEqual(await left(), ['both', 'of a key']);

  const [row] = await sql<{ id: string }[]>`select id from push_subscriptions where session_id = ${second}`;
  t.truthy(await push.find(ann, row!.id));
  await sql`update sessions set last_used_at = now() - interval '31 days' where id = ${second}`;
  t.is(await push.find(ann, row!.id), undefined, 'the session is too old');
  await sessions.dropEnded(0);
  t.deepEqual(await left(), ['of a key']);
});

test('a further session ends those that were used least recently; a replaced one ends too, whoever had it', async (t) => {
  const { store, sessions, announced, ann, bob } = await start(t);
  const [first, second, third] = await Promise.all(
    Array.from({ length: 3 }, async () => (await sessions.create(ann, 3, session()))!.id),
  );
  const later = new Date(Date.now() + DAY_MS);
  await store.touchKeys(new Map([second, third].map((id) => [id!, later])));
  const fourth = (await sessions.create(ann, 3, session()))!;
  t.deepEqual(announced.splice(0), [first]);
  const fifth = (await sessions.create(ann, 3, session(third)))!;
  t.deepEqual(announced.splice(0), [third]);
  const ids = (await sessions.list(ann)).map(({ id }) => id);
  t.deepEqual(ids, [fifth.id, fourth.id, second]);
  await sessions.create(bob, 3, session(second));
  t.deepEqual(announced, [second]);
});

test('sessions that ended long ago are deleted, and the account keeps when it was last used', async (t) => {
  const { sql, store, sessions, ann } = await start(t);
  const ids = [];
  for (let i = 0; i < 5; i++) ids.push((await sessions.create(ann, 10, session()))!.id);
  const [live, ended, endedLongAgo, idle, old] = ids;
  const ago = (days: number) => new Date(Date.now() - days * DAY_MS);
  await sql`update sessions set ended_at = ${ago(29)} where id = ${ended!}`;
  await sql`update sessions set ended_at = ${ago(31)} where id = ${endedLongAgo!}`;
  await sql`update sessions set last_used_at = ${ago(61)}, created_at = ${ago(70)} where id = ${idle!}`;
  await sql`update sessions set created_at = ${ago(211)} where id = ${old!}`;
  t.is(await sessions.dropEnded(30 * DAY_MS), 3);
  t.deepEqual((await sql`select id from sessions order by id`).map(({ id }) => id).sort(), [live!, ended!].sort());
  t.true((await store.profile(ann))!.lastLoginAt.getTime() > ago(1).getTime());
});

test('a session ends 30 days after its last use, and after 180 days', (t) => {
  const createdAt = new Date('2026-01-01T00:00:00Z');
  const end = (days: number) => sessionEnd({ createdAt, lastUsedAt: new Date(createdAt.getTime() + days * DAY_MS) });
  t.is(end(0), createdAt.getTime() + 30 * DAY_MS);
  t.is(end(100), createdAt.getTime() + 130 * DAY_MS);
  t.is(end(179), createdAt.getTime() + 180 * DAY_MS);
});

const LINK = 'a'.repeat(64);

test('a link is good once and for its time', async (t) => {
  const { sessions, store, ann, bob } = await start(t);
  const before = Date.now();
  const expiresAt = await sessions.addLink(ann, LINK, 60_000, 10);
  t.true(Math.abs(expiresAt!.getTime() - before - 60_000) < 30_000);
  t.like(await sessions.accountOfLink(LINK), { id: ann, email: 'ann@example.test', displayName: 'Ann' });
  const given = session();
  const results = await Promise.all([session(), given, session()].map((one) => sessions.redeemLink(LINK, 10, one)));
  t.is(results.filter((one) => one !== undefined).length, 1, 'one of three at the same time');
  t.is((await sessions.list(ann)).length, 1);
  t.is(await sessions.accountOfLink(LINK), undefined);
  await sessions.addLink(bob, LINK, -1, 10);
  t.is(await sessions.accountOfLink(LINK), undefined, 'its time is over');
  t.is(await sessions.redeemLink(LINK, 10, session()), undefined);
  t.is((await store.keysByPrefixes([given.prefix])).length <= 1, true);
});

test('a link without an end is good until it is used; the newest links of an account stay', async (t) => {
  const { sql, sessions, ann, bob } = await start(t);
  const hash = (n: number) => String(n).repeat(64);
  t.is(await sessions.addLink(bob, hash(9), undefined, 2), undefined);
  await sessions.addLink(bob, hash(8), -1, 2);
  for (const n of [1, 2, 3]) await sessions.addLink(ann, hash(n), undefined, 2);
  t.is(await sessions.accountOfLink(hash(1)), undefined);
  for (const [n, id] of [
    [2, ann],
    [3, ann],
    [9, bob],
  ] as const)
    t.is((await sessions.accountOfLink(hash(n)))?.id, id);
  t.is((await sql`select hash from sign_in_links`).length, 3, 'expired links are deleted');
});

const hashOf = (n: number) => String(n).padStart(64, '0');

/** Sessions of Ann, and the links that they make. */
async function startLinks(t: ExecutionContext) {
  const started = await start(t);
  const { sessions, ann } = started;
  const begin = async (proof?: SignInProof) => (await sessions.create(ann, 100, { ...session(), proof }))!.id;
  const link = (makerId: string, hash: string, limit = 10) =>
    sessions.addSessionLink({ accountId: ann, makerId, hash, lifetimeMs: 600_000 }, limit);
  const isGood = async (hash: string) => (await sessions.accountOfLink(hash)) !== undefined;
  return { ...started, begin, link, isGood };
}

test('a link of a session makes the session that it names, with the proof of its maker and no later one', async (t) => {
  const { sql, sessions, ann, bob, begin, link } = await startLinks(t);
  const redeem = async (hash: string) => (await sessions.redeemLink(hash, 100, session()))?.id;
  const maker = await begin('login');
  const { sessionId, expiresAt } = (await link(maker, LINK))!;
  t.true(Math.abs(expiresAt.getTime() - Date.now() - 600_000) < 30_000);
  await sql`update sessions set created_at = now() - interval '1 hour' where id = ${maker}`;
  t.is(await redeem(LINK), sessionId);
  t.is(await redeem(LINK), undefined);
  const isProven = (id: string, hours: number) => sessions.isProven(ann, id, hours * 3_600_000);
  t.true(await isProven(sessionId, 2));
  t.false(await isProven(sessionId, 0.5), 'the proof is as old as that of the session that made the link');

  await link(sessionId, LINK);
  const third = (await redeem(LINK))!;
  t.true(await isProven(third, 2));
  t.false(await isProven(third, 0.5), 'nor does a chain of links make it younger');

  await link(await begin(), LINK);
  t.false(await isProven((await redeem(LINK))!, 2), 'an API key is no proof');
  const mine = (await sessions.create(ann, 100, session()))!.id;
  const bobs = { accountId: bob, makerId: mine, hash: hashOf(1), lifetimeMs: 600_000 };
  t.is(await sessions.addSessionLink(bobs, 10), undefined, 'the session is of another account');

  await sessions.addLink(ann, LINK, undefined, 10);
  t.true(await isProven((await redeem(LINK))!, 0.5), 'a link of the operator is a proof');
});

test('a link of a session ends with it, is withdrawn, and gives way to the next one', async (t) => {
  const { sql, sessions, ann, bob, begin, link, isGood } = await startLinks(t);
  const maker = await begin('link');
  await link(maker, hashOf(1));
  const { sessionId } = (await link(maker, hashOf(2)))!;
  t.deepEqual([await isGood(hashOf(1)), await isGood(hashOf(2))], [false, true]);
  t.false(await sessions.withdrawLink(bob, sessionId));
  t.false(await sessions.withdrawLink(ann, 'x'));
  t.true(await sessions.withdrawLink(ann, sessionId));
  t.false(await sessions.withdrawLink(ann, sessionId));
  t.false(await isGood(hashOf(2)));

  await link(maker, hashOf(3));
  await sessions.end(ann, maker);
  t.false(await isGood(hashOf(3)));
  t.is(await sessions.redeemLink(hashOf(3), 10, session()), undefined);
  t.is(await link(maker, hashOf(4)), undefined);

  const old = await begin('link');
  await link(old, hashOf(5));
  await sql`update sessions set created_at = now() - interval '181 days' where id = ${old}`;
  t.false(await isGood(hashOf(5)));
  t.is(await sessions.redeemLink(hashOf(5), 10, session()), undefined);
  t.deepEqual(await sessions.list(ann).then((all) => all.map(({ id }) => id)), [old]);

  const gone = await begin();
  await link(gone, hashOf(6));
  await sql`update sessions set created_at = now() - interval '211 days' where id = ${gone}`;
  await sessions.dropEnded(30 * DAY_MS);
  t.is((await sql`select from sign_in_links where hash = ${hashOf(6)}`).length, 0, 'it is deleted with its session');
});

test('the links of sessions have a bound of their own', async (t) => {
  const { sessions, ann, begin, link, isGood } = await startLinks(t);
  await sessions.addLink(ann, hashOf(9), undefined, 1);
  for (const n of [1, 2, 3]) await link(await begin(), hashOf(n), 2);
  t.deepEqual(await Promise.all([1, 2, 3, 9].map((n) => isGood(hashOf(n)))), [false, true, true, true]);
  await sessions.addLink(ann, hashOf(8), undefined, 1);
  t.deepEqual(await Promise.all([2, 3, 8, 9].map((n) => isGood(hashOf(n)))), [true, true, true, false]);
});

test('of two sessions that replace each other by links at the same time, one does', async (t) => {
  const { sessions, ann, begin, link } = await startLinks(t);
  for (let round = 0; round < 10; round++) {
    const makers = [await begin(), await begin()];
    await Promise.all(makers.map((maker, i) => link(maker, hashOf(i))));
    const made = await Promise.all(makers.map((_, i) => sessions.redeemLink(hashOf(i), 100, session(makers[1 - i]))));
    t.is(made.filter((one) => one !== undefined).length, 1);
    const live = (await sessions.list(ann)).map(({ id }) => id);
    t.is(makers.filter((id) => live.includes(id)).length, 1);
  }
});

test('sessions and links go with their account', async (t) => {
  const { sql, store, sessions, ann, begin, link } = await startLinks(t);
  await link(await begin(), hashOf(1));
  await sessions.addLink(ann, LINK, undefined, 10);
  t.true(await store.deleteAccount(ann));
  t.is(await sessions.redeemLink(LINK, 10, session()), undefined);
  t.is((await sql`select id from sessions union all select account_id from sign_in_links`).length, 0);
});
