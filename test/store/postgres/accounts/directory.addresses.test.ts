// Tests the directory store in a real PostgreSQL: who has an address, and mailboxes of addresses that no account has claimed.
import { randomUUID } from 'node:crypto';
import type { MessageSummary } from '../../../../src/mail-format/summary.js';
import { DirectoryConflict } from '../../../../src/store/directory.js';
import { lockDomain } from '../../../../src/store/postgres/accounts/address-rows.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { deferred } from '../../../support/deferred.js';
import test from '../../../support/test.js';
import { directory, SHARDS } from './opened-directory.js';

test('an address has one owner, also when many ask at once', async (t) => {
  const { store } = await directory(t);
  const attempts = await Promise.allSettled(
    Array.from({ length: 6 }, (_, n) => store.createAccount('ann@example.test', `Ann ${n}`)),
  );
  t.is(attempts.filter((attempt) => attempt.status === 'fulfilled').length, 1);
  for (const attempt of attempts) {
    if (attempt.status === 'rejected') t.true(attempt.reason instanceof DirectoryConflict);
  }
  t.is((await store.accounts()).length, 1);
});

test('an additional address receives once verified, and no account can squat on one', async (t) => {
  const { store } = await directory(t);
  const ann = await store.createAccount('ann@example.test', 'Ann');
  const bob = await store.createAccount('bob@example.test', 'Bob');
  const wish = await store.addAddress(bob.id, 'sales@example.test', false);
  t.false(wish.isVerified);
  t.is(await store.ownerOf('sales@example.test'), undefined);
  const sales = await store.addAddress(ann.id, 'sales@example.test', true);
  t.true(sales.isVerified);
  t.deepEqual(await store.ownerOf('sales@example.test'), { accountId: ann.id, isUnclaimed: false });
  await t.throwsAsync(store.addAddress(bob.id, 'sales@example.test', true), { instanceOf: DirectoryConflict });
  await t.throwsAsync(store.addAddress(bob.id, 'ann@example.test', false), { instanceOf: DirectoryConflict });
  await t.throwsAsync(store.createAccount('sales@example.test', 'Sales'), { instanceOf: DirectoryConflict });
});

test('an address of another account is a target of forwarding, which gives nothing else', async (t) => {
  const { store } = await directory(t);
  const ann = await store.createAccount('ann@example.test', 'Ann');
  const bob = await store.createAccount('bob@example.test', 'Bob');
  await store.openUnclaimed('new@example.test', 10);
  for (const address of ['nobody@example.test', 'new@example.test', ann.email])
    await t.throwsAsync(store.addForwardingTarget(ann.id, address), { instanceOf: DirectoryConflict }, address);
  // The account has asked for the address before.
  const { id } = await store.addAddress(ann.id, 'sales@example.test', false);
  await store.addAddress(bob.id, 'sales@example.test', true);
  for (let i = 0; i < 2; i++)
    t.like(await store.addForwardingTarget(ann.id, 'sales@example.test'), {
      id,
      isVerified: false,
      isForwardingOnly: true,
    });
  t.true(await store.isForwardingTarget(ann.id, 'sales@example.test'));
  t.false(await store.isForwardingTarget(bob.id, 'sales@example.test'));
  t.is((await store.ownerOf('sales@example.test'))?.accountId, bob.id);
  t.like((await store.profile(ann.id))!.additionalAddresses, [{ isVerified: false, isForwardingOnly: true }]);
  t.true(await store.removeAddress(ann.id, id));
  t.false(await store.isForwardingTarget(ann.id, 'sales@example.test'));
  t.is((await store.ownerOf('sales@example.test'))?.accountId, bob.id);
});

test('an unverified address becomes verified by adding it verified', async (t) => {
  const { store } = await directory(t);
  const ann = await store.createAccount('ann@example.test', 'Ann');
  const wish = await store.addAddress(ann.id, 'sales@example.test', false);
  const verified = await store.addAddress(ann.id, 'sales@example.test', true);
  t.is(verified.id, wish.id);
  t.true(verified.isVerified);
  await t.throwsAsync(store.addAddress(ann.id, 'sales@example.test', true), { instanceOf: DirectoryConflict });
});

test('one unknown address gets one unclaimed mailbox however many deliveries come at once', async (t) => {
  const { sql, store } = await directory(t);
  // Calls of one node share a statement.
  const nodes = [store, postgresDirectory(sql, SHARDS), postgresDirectory(sql, SHARDS)];
  const results = await Promise.all(
    Array.from({ length: 9 }, (_, n) => nodes[n % 3]!.openUnclaimed('new@example.test', 10)),
  );
  t.is(new Set(results.map((result) => (result.kind === 'opened' ? result.accountId : 'full'))).size, 1);
  t.is(results.filter((result) => result.kind === 'opened' && result.isNew).length, 1);
  const owner = await store.ownerOf('new@example.test');
  t.true(owner?.isUnclaimed);
  t.deepEqual(await store.accounts(), []);
});

test('a domain holds no more addresses than it may, whatever comes at once', async (t) => {
  const { sql, store } = await directory(t);
  const nodes = [store, postgresDirectory(sql, SHARDS), postgresDirectory(sql, SHARDS)];
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, n) => nodes[n % 3]!.openUnclaimed(`u${n}@example.test`, 5)),
  );
  t.is(results.filter((result) => result.kind === 'opened').length, 5);
  const [row] = await sql`select count(*)::integer as n from accounts where unclaimed`;
  t.is(row!['n'], 5);
  t.is((await store.openUnclaimed('u@other.test', 5)).kind, 'opened');
  const opened = results.findIndex((result) => result.kind === 'opened');
  t.is((await store.openUnclaimed(`u${opened}@example.test`, 5)).kind, 'opened');
  t.false(await store.hasUnclaimedRoom('another@example.test', 5));
  t.true(await store.hasUnclaimedRoom('another@example.test', 6));
  t.true(await store.hasUnclaimedRoom('another@other.test', 5));
  t.false(await store.hasUnclaimedRoom('another@other.test', 1));
});

test('a domain whose lock another transaction keeps holds up no address of another domain', async (t) => {
  const { sql, store } = await directory(t);
  let unlock = () => {};
  const { promise: isLocked, resolve: locked } = deferred();
  const transaction = sql.begin(async (tx) => {
    await lockDomain(tx, 'locked.test');
    locked();
    await new Promise<void>((resolve) => {
      unlock = resolve;
    });
  });
  await isLocked;
  let isWaiting = true;
  const waiting = ['a', 'b'].map((name) => store.openUnclaimed(`${name}@locked.test`, 10));
  const ended = Promise.all(waiting).then((results) => {
    isWaiting = false;
    return results;
  });
  const others = await Promise.all(['a', 'b'].map((name) => store.openUnclaimed(`${name}@other.test`, 10)));
  t.deepEqual(
    others.map(({ kind }) => kind),
    ['opened', 'opened'],
  );
  t.is((await store.openUnclaimed('c@other.test', 10)).kind, 'opened');
  t.true(isWaiting);
  unlock();
  await transaction;
  t.deepEqual(
    (await ended).map(({ kind }) => kind),
    ['opened', 'opened'],
  );
});

test('an account claims the unclaimed mailbox of its address, id and mail included', async (t) => {
  const { sql, store } = await directory(t);
  const opened = await store.openUnclaimed('new@example.test', 10);
  const id = opened.kind === 'opened' ? opened.accountId : t.fail();
  const [before] = await sql`select modseq from accounts where id = ${String(id)}`;
  const account = await store.createAccount('new@example.test', 'New');
  t.is(account.id, id as string);
  t.false(account.isUnclaimed);
  t.is(account.displayName, 'New');
  t.deepEqual(await store.ownerOf('new@example.test'), { accountId: account.id, isUnclaimed: false });
  const [row] = await sql`select modseq, (select count(*)::integer from folders) as folders from accounts`;
  t.is(row!['folders'], 6);
  t.true(Number(row!['modseq']) > Number(before!['modseq']), 'an actor that knows it as held must be fenced');
  t.is((await store.openUnclaimed('other@example.test', 1)).kind, 'opened', 'a claimed mailbox no longer counts');
});

test('an address that is added takes over the mail that was held for it', async (t) => {
  const { sql, store } = await directory(t);
  const ann = await store.createAccount('ann@example.test', 'Ann');
  const result = await store.openUnclaimed('sales@example.test', 10);
  const unclaimed = result.kind === 'opened' ? result.accountId : '';
  const [placed, waiting, receivedAt] = [randomUUID(), randomUUID(), new Date('2026-01-02T03:04:05.678Z')];
  await sql`
    insert into emails (account_id, id, blob, message_id, thread_id, refs, from_address, from_name, subject, preview,
      received_at, size, has_attachments, attachment_count, flags, modseq)
    values (${unclaimed}, ${placed}, ${Buffer.alloc(32, 7)}, '<1@x.test>', ${randomUUID()}, ${sql.array(['<0@x.test>'])},
      'x@y.test', 'X', 'Hello', 'Hi', ${receivedAt}, 123, true, 2, 0, 2)`;
  await sql`
    insert into placements (account_id, folder_id, uid, email_id, modseq)
    select account_id, id, 1, ${placed}, 2 from folders where account_id = ${unclaimed} and role = 'junk'`;
  await sql`
    insert into inbound (account_id, id, blob, envelope, delivery)
    values (${unclaimed}, ${waiting}, ${Buffer.alloc(32, 8)}, '{}', '{"recipient":"sales+1@example.test"}')`;
  t.false((await store.addAddress(ann.id, 'sales@example.test', false)).isVerified);
  t.deepEqual(await store.ownerOf('sales@example.test'), { accountId: unclaimed, isUnclaimed: true });
  await store.addAddress(ann.id, 'sales@example.test', true);
  t.deepEqual(await store.ownerOf('sales@example.test'), { accountId: ann.id, isUnclaimed: false });
  t.is(await store.accountById(unclaimed), undefined);
  const inbound = await sql<{ id: string; envelope: unknown; delivery: unknown }[]>`
    select id, envelope, delivery from inbound where account_id = ${ann.id}`;
  t.deepEqual(inbound.find(({ id }) => id === waiting)!.delivery, { recipient: 'sales+1@example.test' });
  t.deepEqual(inbound.map((row) => row.id).sort(), [placed, waiting].sort());
  const summary = {
    messageId: '<1@x.test>',
    inReplyTo: null,
    references: ['<0@x.test>'],
    fromAddress: 'x@y.test',
    fromIsEnvelopeSender: false,
    hasAuthenticationResults: false,
    fromName: 'X',
    subject: 'Hello',
    preview: 'Hi',
    size: 123,
    hasAttachments: true,
    attachmentCount: 2,
  } satisfies MessageSummary;
  t.deepEqual(inbound.find((row) => row.id === placed)?.envelope, {
    receivedAt: receivedAt.getTime(),
    isJunk: true,
    summary,
  });
});

test('a delivery and the creation of the account at once end in one account', async (t) => {
  const { sql, store } = await directory(t);
  for (let n = 0; n < 10; n++) {
    const address = `u${n}@example.test`;
    const [opened, account] = await Promise.all([store.openUnclaimed(address, 100), store.createAccount(address, 'U')]);
    t.is(opened.kind === 'opened' ? opened.accountId : '', account.id);
    t.deepEqual(await store.ownerOf(address), { accountId: account.id, isUnclaimed: false });
  }
  const [row] = await sql`select count(*)::integer as n from accounts`;
  t.is(row!['n'], 10);
});

test('unclaimed accounts are found by age', async (t) => {
  const { sql, store } = await directory(t);
  const opened = await store.openUnclaimed('new@example.test', 10);
  const id = opened.kind === 'opened' ? opened.accountId : '';
  await store.createAccount('ann@example.test', 'Ann');
  t.deepEqual(await store.expiredUnclaimed(Date.now() - 86_400_000, 10), []);
  await sql`update accounts set created_at = now() - interval '40 days'`;
  t.deepEqual(await store.expiredUnclaimed(Date.now() - 30 * 86_400_000, 10), [id]);
  t.deepEqual(await store.expiredUnclaimed(Date.now() - 30 * 86_400_000, 0), []);
});
