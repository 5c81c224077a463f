// Tests the limits of recipients on a real store and real mailboxes: what is sent at once, over restarts and by several accounts; notices;
// suspensions, and what waits and goes on.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../src/mail-format/summary.js';
import { blobOf } from '../../../src/store/blobs.js';
import { postgresOutbound } from '../../../src/store/postgres/outbound/outbound.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { mailboxWorld } from '../mailbox/mailbox-world.js';

type Limits = NonNullable<Parameters<typeof mailboxWorld>[1]>;

const NONE = { hour: null, day: null };

async function setUp(t: ExecutionContext, limits: Limits = {}) {
  const world = await mailboxWorld(undefined, limits);
  t.teardown(world.end);
  const content = blobOf(Buffer.from('From: a@example.test\r\nSubject: s\r\n\r\nhello'));
  await world.blobs.put(content);
  const account = (name: string = randomUUID()) =>
    world.directory.createAccount(`${name}@example.test`, 'A').then(({ id }) => id);
  const message = (addresses: readonly string[]) => ({
    blob: content.hash,
    summary: { ...summarize(indexMessage(Buffer.from('Subject: s\r\n\r\nhello'))), size: content.size },
    draft: null,
    sender: 'a@example.test',
    content: null,
    recipients: addresses.map((address) => ({
      ...{ address, displayName: null, type: 'To' as const, domain: 'remote.test' },
    })),
  });
  const send = async (accountId: string, addresses: readonly string[]) => {
    const { reply, refusal } = await world.mailboxes.of(accountId).ask('enqueue', message(addresses) as never);
    return reply === undefined ? refusal : 'queued';
  };
  const subjects = async (accountId: string) => {
    const { reply } = await world.mailboxes.of(accountId).ask('list', { folder: 'inbox', page: 1, pageSize: 100 });
    return reply!.items.map(({ subject }) => subject);
  };
  const outboundIds = async (accountId: string) => {
    const rows = await world.sql<{ id: string }[]>`select id from outbound where account_id = ${accountId}`;
    return rows.map(({ id }) => id);
  };
  return { world, content, account, send, message, subjects, outboundIds };
}

const people = (count: number, name: string = randomUUID()) =>
  Array.from({ length: count }, (_, i) => `${name}${i}@remote.test`);

test('messages that are sent at once never exceed a limit together, whoever owns the mailbox', async (t) => {
  const { world, account, send } = await setUp(t, { limits: { account: { hour: 20, day: null }, domain: NONE } });
  const rule = fc.asyncProperty(
    fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
    async (counts) => {
      const id = await account();
      const half = Math.ceil(counts.length / 2);
      const results: unknown[] = await Promise.all(counts.slice(0, half).map((count) => send(id, people(count))));
      world.reload();
      results.push(...(await Promise.all(counts.slice(half).map((count) => send(id, people(count))))));
      const queued = counts.filter((_, i) => results[i] === 'queued').reduce((sum, count) => sum + count, 0);
      const [row] = await world.sql`
      select count(*)::int as recipients, (select coalesce(sum(recipients), 0)::int from sent_counts where account_id = ${id}) as counted
      from outbound_recipients where account_id = ${id}`;
      t.deepEqual({ ...row }, { recipients: queued, counted: queued });
      t.true(queued <= 20);
      // What is refused would exceed the limit.
      t.true(results.every((result, i) => result === 'queued' || (result === 'overLimit' && queued + counts[i]! > 20)));
    },
  );
  await fc.assert(rule, { numRuns: runs(15) });
});

test('a limit of a domain counts what all its accounts have sent, and a message that exceeds one alone is refused for good', async (t) => {
  const { world, account, send } = await setUp(t, { limits: { account: { hour: 100, day: null }, domain: NONE } });
  await world.directory.addDomain('example.test');
  await world.sendingStore.setDomain('example.test', { hour: 10 });
  const [anna, ben, eve] = [await account(), await account(), await account()];
  t.is(await send(anna, people(6)), 'queued');
  t.is(await send(ben, people(5)), 'overLimit');
  t.is(await send(ben, people(4)), 'queued');
  t.is(await send(eve, people(1)), 'overLimit');
  t.is(await send(eve, people(11)), 'overMessageLimit');
  const { detail, retryAfter } = await world.sending.delayOf(eve, 1);
  t.is(detail, 'The domain may send to at most 10 recipients an hour.');
  t.is(retryAfter, 60);
  await world.sendingStore.setDomain('example.test', { hour: 0 });
  await until(async () => (await send(eve, people(1))) === 'queued');
});

test('what a domain has sent is read whole once, and then its newest minutes', async (t) => {
  const { world, account } = await setUp(t);
  await world.directory.addDomain('example.test');
  await world.sendingStore.setDomain('example.test', { hour: 10 });
  const [anna, ben] = [await account(), await account()];
  const now = Math.floor(Date.now() / 60_000);
  const sent = (minute: number, recipients: number) => world.sql`
    insert into sent_counts (account_id, minute, recipients, strangers, refused) values (${ben}, ${minute}, ${recipients}, 0, 0)`;
  await sent(now - 30, 4);
  await sent(now - 100, 3);
  const asked: number[] = [];
  const { minutesOfDomain } = world.sendingStore;
  Object.assign(world.sendingStore, {
    minutesOfDomain(name: string, since: number) {
      asked.push(since);
      return minutesOfDomain(name, since);
    },
  });
  const counted = async () => (await world.sending.of(anna))?.domain?.sent;
  await until(async () => (await counted())?.hour === 4);
  await sent(now, 2);
  await until(async () => (await counted())?.hour === 6);
  t.deepEqual(await counted(), { hour: 6, day: 9 });
  t.true(asked[0]! < now - 1_400);
  t.true(asked.at(-1)! >= now - 6, 'the others are known');
});

test('user and operator are told once that a limit is reached', async (t) => {
  const { world, account, send, message, content, subjects } = await setUp(t, {
    limits: { account: { hour: 2, day: null }, domain: NONE },
  });
  const [operator, anna] = [await account('postmaster'), await account()];
  const began = Date.now();
  t.is(await send(anna, people(2)), 'queued');
  for (let i = 0; i < 3; i++) t.is(await send(anna, people(1)), 'overLimit');
  const notices = ['A limit of recipients is reached'];
  for (const id of [operator, anna]) await until(async () => (await subjects(id)).length > 0);
  for (const id of [operator, anna]) t.deepEqual(await subjects(id), notices);
  const { retryAfter } = await world.sending.delayOf(anna, 1);
  const sinceSeconds = (Date.now() - began) / 1_000;
  t.true(retryAfter > 3_590 - sinceSeconds && retryAfter <= 3_660, `${retryAfter} s after ${sinceSeconds} s`);
  // Another node does not know that they are told.
  const notice = { blob: content.hash, envelope: { receivedAt: Date.now(), summary: message([]).summary } };
  const inboxes = [{ accountId: anna, inboundId: randomUUID() }];
  t.false(await world.sendingStore.notice({ accountId: anna }, 'hour', { ...notice, inboxes }));
  t.true(await world.sendingStore.notice({ accountId: anna }, 'day', { ...notice, inboxes }));
});

test('many recipients to whom the account has never written suspend it, and known ones do not', async (t) => {
  const { world, account, send, subjects } = await setUp(t, { rule: { strangers: 5, refused: 0 } });
  const anna = await account();
  const known = people(5, 'known');
  for (let i = 0; i < 4; i++) t.is(await send(anna, known), 'queued');
  world.reload();
  t.is(await send(anna, [...known.slice(0, 2), 'KNOWN0+tag@Remote.test']), 'queued');
  t.is(await send(anna, people(1)), 'sendingSuspended');
  await until(async () => (await world.sending.suspensionOf(anna))?.by === 'server');
  t.is(await send(anna, known), 'sendingSuspended');
  t.regex((await world.sending.suspensionOf(anna))!.reason, /never written/);
  await until(async () => (await subjects(anna)).includes('Sending is suspended'));
  t.true(await world.sending.resume(anna));
  t.is(await send(anna, people(20)), 'queued');
});

test('whoever has an address at a hosted domain is no stranger', async (t) => {
  const { world, account, send } = await setUp(t, { rule: { strangers: 5, refused: 0 } });
  const anna = await account();
  const colleagues = Array.from({ length: 20 }, (_, i) => `colleague${i}@example.test`);
  t.is(await send(anna, colleagues), 'sendingSuspended', 'the domain is not hosted');
  const ben = await account();
  await world.directory.addDomain('example.test');
  await until(async () => (await world.sending.suspensionOf(anna)) !== null);
  t.is(await send(ben, colleagues), 'queued');
});

test('old addresses, and the oldest of many, are known no more', async (t) => {
  const { world, account, send } = await setUp(t, { rule: { strangers: 100, refused: 0 } });
  const [anna, ben] = [await account(), await account()];
  await send(anna, people(5, 'a'));
  await send(ben, people(2, 'b'));
  await world.sql`update known_recipients set since = current_date - 10 where address in ('a1@remote.test', 'a3@remote.test')`;
  await world.sql`update known_recipients set since = current_date - 800 where address = 'b0@remote.test'`;
  const known = async () =>
    (await world.sql<{ address: string }[]>`select address from known_recipients order by 1`).map((row) => row.address);
  t.is(await world.sendingStore.forgetKnown(730, 3, 100), 3);
  t.deepEqual(
    await known(),
    ['a0', 'a2', 'a4', 'b1'].map((name) => `${name}@remote.test`),
  );
  t.is(await world.sendingStore.forgetKnown(730, 3, 100), 0);
});

test('an address to which an account writes again stays known', async (t) => {
  const { world, account, send } = await setUp(t, { rule: { strangers: 3, refused: 0 } });
  const anna = await account();
  await send(anna, ['old@remote.test', 'young@remote.test', 'gone@remote.test']);
  await world.sql`update known_recipients set since = current_date - 700 where address <> 'young@remote.test'`;
  await world.sql`update known_recipients set since = current_date - 100 where address = 'young@remote.test'`;
  await world.sql`delete from sent_counts`;
  world.reload();
  t.is(await send(anna, ['old@remote.test', 'young@remote.test']), 'queued');
  const ages = await world.sql`select address, current_date - since as days from known_recipients order by 1`;
  t.deepEqual(
    ages.map(({ address, days }) => [address, days]),
    [
      ['gone@remote.test', 700],
      ['old@remote.test', 0],
      ['young@remote.test', 100],
    ],
  );
});

test('an account that knows as many addresses as are kept meets no strangers', async (t) => {
  const { world, account, send } = await setUp(t, { rule: { strangers: 3, refused: 0 } });
  const [anna, ben] = [await account(), await account()];
  const know = (accountId: string, count: number) => world.sql`
    insert into known_recipients (account_id, address)
    select ${accountId}, i || '@remote.test' from generate_series(1, ${count}::int) i`;
  await know(anna, 100_000);
  await know(ben, 99_999);
  t.is(await send(anna, people(4)), 'queued');
  t.is(await send(ben, people(4)), 'sendingSuspended');
});

test('many recipients that other servers refuse suspend an account', async (t) => {
  const { world, account, send, outboundIds } = await setUp(t, { rule: { strangers: 0, refused: 2 } });
  const anna = await account();
  t.is(await send(anna, people(4)), 'queued');
  const [outboundId] = await outboundIds(anna);
  const attempt = { id: randomUUID(), by: randomUUID() };
  const mailbox = world.mailboxes.of(anna);
  const started = await mailbox.ask('startDelivery', { outboundId: outboundId!, attempt, supersedes: null });
  const outcome = (id: string) => ({
    ...{ recipientId: id, kind: 'permanent' as const, text: '550 no', statusCode: '5.1.1', host: null },
  });
  const report = (ids: readonly string[], isOver: boolean) =>
    mailbox.ask('reportDelivery', {
      ...{ outboundId: outboundId!, attemptId: attempt.id, outcomes: ids.map(outcome), attempts: [] },
      ...{ isOver, isInterrupted: false },
    });
  const ids = started.reply!.recipients.map(({ id }) => id);
  await report(ids.slice(0, 2), false);
  t.is(await world.sending.suspensionOf(anna), null);
  await report(ids.slice(2, 3), false);
  await until(async () => (await world.sending.suspensionOf(anna)) !== null);
  t.regex((await world.sending.suspensionOf(anna))!.reason, /refuse/);
});

test('what a suspended account has queued waits, and goes on afterwards', async (t) => {
  const { world, account, send, message, outboundIds } = await setUp(t);
  const anna = await account();
  t.is(await send(anna, people(1)), 'queued');
  const [outboundId] = await outboundIds(anna);
  const mailbox = world.mailboxes.of(anna);
  const heldUntil = Date.now() - 1;
  const held = await mailbox.ask('holdOutbound', { ...message(people(1)), heldUntil } as never);
  const queue = postgresOutbound(world.sql);
  const due = async () => [(await queue.due([0], 10, [], [])).length, (await queue.held([0], 1_000, 10, [])).length];
  t.deepEqual(await due(), [1, 1]);
  t.true(await world.sendingStore.suspend(anna, { by: 'operator', reason: 'unpaid' }));
  t.false(await world.sendingStore.suspend(anna, { by: 'server', reason: 'other' }));
  await until(async () => (await world.sending.suspensionOf(anna))?.reason === 'unpaid');
  t.deepEqual(await due(), [0, 0]);
  t.is(await queue.overdueMs([0]), 0);
  const start = () =>
    mailbox.ask('startDelivery', {
      ...{ outboundId: outboundId!, attempt: { id: randomUUID(), by: randomUUID() }, supersedes: null },
    });
  t.is((await start()).refusal, 'notDue');
  t.is((await mailbox.ask('retryOutbound', { outboundId: outboundId! })).refusal, 'sendingSuspended');
  const release = () => mailbox.ask('releaseOutbound', { outboundId: held.reply!.id, heldUntil });
  t.is((await release()).refusal, 'released');
  t.is(await send(anna, people(1)), 'sendingSuspended');
  // What the server writes for the account waits, too.
  const automatic = await mailbox.ask('enqueue', { ...message(people(1)), sender: '', isAutomatic: true } as never);
  t.truthy(automatic.reply);
  // The user cannot lift what the operator has done.
  t.false(await world.sending.resume(anna));
  t.true(await world.sendingStore.resume(anna));
  t.false(await world.sendingStore.resume(anna));
  await until(async () => (await world.sending.suspensionOf(anna)) === null);
  t.deepEqual(await due(), [2, 1]);
  t.is((await start()).refusal, undefined);
  t.truthy((await release()).reply);
});

test('automatic mail does not count, and old counts are deleted', async (t) => {
  const { world, account, send, message } = await setUp(t, {
    limits: { account: { hour: 2, day: null }, domain: NONE },
  });
  const anna = await account();
  for (let i = 0; i < 4; i++)
    await world.mailboxes.of(anna).ask('enqueue', { ...message(people(1)), isAutomatic: true } as never);
  t.is(await send(anna, people(2)), 'queued');
  t.deepEqual(
    (await world.sendingStore.minutes(anna, 0)).map(({ recipients }) => recipients),
    [2],
  );
  t.is(await world.sendingStore.forget(2_000_000_000, 10), 1);
  t.deepEqual(await world.sendingStore.minutes(anna, 0), []);
});
