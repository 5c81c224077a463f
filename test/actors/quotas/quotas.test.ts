// Tests the quotas of a node on a real store and real mailboxes: limits of accounts and domains, since when they are full, and the notice
// at 90 %.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { limitingDomain } from '../../../src/actors/quotas/protocol.js';
import { Quotas } from '../../../src/actors/quotas/quotas.js';
import type { QuotaStore } from '../../../src/store/limits/quotas.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { type MailboxWorld, mailboxWorld } from '../mailbox/mailbox-world.js';

const DAY = 86_400_000;

async function setUp(t: ExecutionContext) {
  const world = await mailboxWorld();
  t.teardown(world.end);
  const account = (domain = 'example.test') =>
    world.directory.createAccount(`${randomUUID()}@${domain}`, 'A').then(({ id }) => id);
  return { world, account };
}

async function deliver(world: MailboxWorld, accountId: string): Promise<void> {
  const [mail] = await world.spool([accountId], Date.now(), { body: 'x'.repeat(1_000) });
  await mail!.deliver();
}

const subjects = async ({ mailboxes }: MailboxWorld, accountId: string) => {
  const { reply } = await mailboxes.of(accountId).ask('list', { folder: 'inbox', page: 1, pageSize: 100 });
  return reply!.items.map(({ subject }) => subject);
};

test('nothing is read while nothing has a limit', async (t) => {
  const { world, account } = await setUp(t);
  let reads = 0;
  const store: QuotaStore = {
    ...world.quotaStore,
    accounts: (ids) => {
      reads++;
      return world.quotaStore.accounts(ids);
    },
  };
  const defaults = { bytes: null, messages: null };
  const log = { warn() {} };
  const quotas = new Quotas({
    store,
    defaults,
    notify: async () => {},
    notifyOfDomain: async () => {},
    log,
    now: () => Date.now(),
  });
  t.teardown(() => quotas.stop());
  await quotas.start();
  const id = await account();
  quotas.used(id, { bytes: 5, messages: 1 });
  t.is(await quotas.roomFor(id, 1e9), 'room');
  t.is(quotas.of(id), undefined);
  t.is(reads, 0);
  await world.quotaStore.setAccount(id, { messages: 5 });
  quotas.changed({ kind: 'quotas' });
  t.is(await quotas.roomFor(id, 1e9), 'room');
  await Promise.all([quotas.roomFor(id, 1), quotas.of(id)]);
  t.is(reads, 1);
  // Accounts that wait share one read.
  const others = await Promise.all([account(), account(), account()]);
  await Promise.all(others.map((other) => quotas.roomFor(other, 1)));
  t.true(reads <= 3);
});

test('a mailbox takes mail until it is full, and has room again when mail is deleted', async (t) => {
  const { world, account } = await setUp(t);
  const { quotas, quotaStore } = world;
  const id = await account();
  await world.limit(id, { messages: 2 });
  await deliver(world, id);
  t.is(await quotas.roomFor(id, 0), 'room');
  await deliver(world, id);
  t.is(await quotas.roomFor(id, 0), 'full');
  await until(async () => (await quotaStore.accounts([id]))[0]!.fullSince !== null);
  await world.sql`update accounts set full_since = now() - interval '3 days' where id = ${id}`;
  quotas.changed({ kind: 'quotas' });
  t.is(await quotas.roomFor(id, 0), 'fullForLong');
  // What was accepted is placed even so.
  await deliver(world, id);
  t.like((await quotaStore.accounts([id]))[0], { used: { messages: 3 } });
  const { reply } = await world.mailboxes.of(id).ask('list', { folder: 'inbox', page: 1, pageSize: 9 });
  await world.mailboxes.of(id).ask('remove', { emailIds: reply!.items.map((item) => item.id) });
  t.is(await quotas.roomFor(id, 0), 'room');
  await until(async () => (await quotaStore.accounts([id]))[0]!.fullSince === null);
});

test('a default holds for accounts without a setting of their own', async (t) => {
  const { world, account } = await setUp(t);
  const [own, other] = [await account(), await account()];
  const defaults = { bytes: 10, messages: null };
  const options = {
    store: world.quotaStore,
    notify: async () => {},
    notifyOfDomain: async () => {},
    log: { warn() {} },
    now: () => Date.now(),
  };
  const quotas = new Quotas({ ...options, defaults });
  t.teardown(() => quotas.stop());
  await quotas.start();
  await world.quotaStore.setAccount(own, { bytes: 0 });
  t.deepEqual((await quotas.usageOf(own))!.limit, { bytes: null, messages: null });
  t.deepEqual((await quotas.usageOf(other))!.limit, { bytes: 10, messages: null });
  t.is(await quotas.roomFor(own, 11), 'room');
  t.is(await quotas.roomFor(other, 11), 'full');
  t.is(await quotas.usageOf(randomUUID()), undefined);
});

test('the accounts of a domain share its limit', async (t) => {
  const { world, account } = await setUp(t);
  const domain = 'shared.test';
  await world.directory.addDomain(domain);
  const [first, second, elsewhere] = [await account(domain), await account(domain), await account()];
  await world.quotaStore.setDomain(domain, { messages: 2 });
  world.quotas.changed({ kind: 'quotas' });
  for (const id of [first, first, elsewhere]) await deliver(world, id);
  let now = Date.now();
  const quotas = new Quotas({
    store: world.quotaStore,
    defaults: { bytes: null, messages: null },
    notify: async () => {},
    notifyOfDomain: async () => {},
    log: { warn() {} },
    now: () => now,
  });
  t.teardown(() => quotas.stop());
  t.is(await quotas.roomFor(elsewhere, 1), 'room');
  t.is(await quotas.roomFor(second, 1), 'full');
  t.like((await world.quotaStore.domains([domain]))[0], { name: domain, used: { messages: 2 } });
  now += 4 * DAY;
  t.is(await quotas.roomFor(second, 1), 'fullForLong');
});

test('the user is told once when 90 % are in use, and again after it was less', async (t) => {
  const { world, account } = await setUp(t);
  const id = await account();
  world.notices.areSent = true;
  await world.limit(id, { messages: 10 });
  const notices = async () =>
    (await subjects(world, id)).filter((subject) => subject === 'Your mailbox is nearly full');
  for (let i = 0; i < 8; i++) await deliver(world, id);
  t.deepEqual(await notices(), []);
  await deliver(world, id);
  await until(async () => (await notices()).length === 1);
  // Another owner loads the mailbox, and more arrives.
  world.reload();
  await deliver(world, id);
  t.is((await notices()).length, 1);
  const { reply } = await world.mailboxes.of(id).ask('list', { folder: 'inbox', page: 1, pageSize: 99 });
  await world.mailboxes.of(id).ask('remove', { emailIds: reply!.items.map((item) => item.id) });
  await until(async () => !(await world.quotaStore.accounts([id]))[0]!.isNoticed);
  for (let i = 0; i < 9; i++) await deliver(world, id);
  await until(async () => (await notices()).length === 1);
  t.like((await world.quotaStore.accounts([id]))[0], { used: { messages: 10 }, isNoticed: true });
});

test('the operator of a domain is told once when 90 % are in use, and again after it was less', async (t) => {
  const { world, account } = await setUp(t);
  const domain = 'shared.test';
  await world.directory.addDomain(domain);
  const { id: operator } = await world.directory.createAccount(`postmaster@${domain}`, 'P');
  const [first, second] = [await account(domain), await account(domain)];
  const set = async (messages: number) => {
    await world.quotaStore.setDomain(domain, { messages });
    world.quotas.changed({ kind: 'quotas' });
  };
  const notices = async () =>
    (await subjects(world, operator)).filter((subject) => subject === `The domain ${domain} is nearly full`).length;
  const isNoticed = async () => (await world.quotaStore.domains([domain]))[0]?.isNoticed;
  await set(20);
  for (let i = 0; i < 9; i++) for (const id of [first, second]) await deliver(world, id);
  await until(async () => (await notices()) === 1);
  t.true(await isNoticed());
  t.deepEqual(
    (await subjects(world, first)).filter((subject) => subject.includes('nearly full')),
    [],
  );
  // Further mail is the same crossing, and what a user deletes ends it.
  await deliver(world, first);
  const { reply } = await world.mailboxes.of(first).ask('list', { folder: 'inbox', page: 1, pageSize: 99 });
  await world.mailboxes.of(first).ask('remove', { emailIds: reply!.items.map((item) => item.id) });
  await until(async () => (await isNoticed()) === false);
  t.is(await notices(), 1);
  // A limit that is set below what is in use is a crossing, and the end of the limit ends the notice.
  await set(10);
  await deliver(world, second);
  await until(async () => (await notices()) === 2);
  await set(0);
  t.false(await isNoticed());
});

test('a domain without a postmaster is noted, and nobody gets a mail', async (t) => {
  const { world, account } = await setUp(t);
  await world.directory.addDomain('alone.test');
  const id = await account('alone.test');
  await world.quotaStore.setDomain('alone.test', { messages: 1 });
  world.quotas.changed({ kind: 'quotas' });
  await deliver(world, id);
  await until(async () => (await world.quotaStore.domains(['alone.test']))[0]!.isNoticed);
  t.is((await world.sql`select from inbound`).length, 0);
});

test('what an account may use names its domain where the limit of the domain leaves less', async (t) => {
  const { world, account } = await setUp(t);
  await world.directory.addDomain('near.test');
  const id = await account('near.test');
  await world.limit(id, { messages: 5 });
  await world.quotaStore.setDomain('near.test', { messages: 2 });
  world.quotas.changed({ kind: 'quotas' });
  t.is(limitingDomain((await world.quotas.usageOf(id))!), undefined, 'the domain has room');
  for (let i = 0; i < 2; i++) await deliver(world, id);
  world.quotas.changed({ kind: 'quotas' });
  const usage = (await world.quotas.usageOf(id))!;
  t.like(usage.domain, { name: 'near.test', used: { messages: 2 }, limit: { messages: 2 } });
  t.is(limitingDomain(usage), 'near.test');
  t.is(limitingDomain({ ...usage, limit: { bytes: null, messages: 2 } }), undefined, 'both are full');
});

test('what an older version has written is counted again', async (t) => {
  const { world, account } = await setUp(t);
  const [id, other] = [await account(), await account()];
  await deliver(world, id);
  const [before] = await world.quotaStore.accounts([id]);
  t.is(before!.used.messages, 1);
  await world.sql`update accounts set used_bytes = 7, used_messages = 7, modseq = modseq + 1 where id = ${id}`;
  t.deepEqual((await world.quotaStore.accounts([id]))[0], before!);
  const all = await world.quotaStore.all();
  t.deepEqual(
    all.accounts.map(({ accountId, used }) => [accountId, used.messages]).sort(),
    [
      [id, 1],
      [other, 0],
    ].sort(),
  );
});
