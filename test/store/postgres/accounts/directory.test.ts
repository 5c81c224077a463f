// Tests the directory store in a real PostgreSQL: accounts, unclaimed mailboxes, addresses, keys, and notifications of changes.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type { MessageSummary } from '../../../../src/mail-format/summary.js';
import { type DirectoryChange, DirectoryConflict, type DirectoryStore } from '../../../../src/store/directory.js';
import { StoreFault } from '../../../../src/store/errors.js';
import { lockDomain } from '../../../../src/store/postgres/accounts/address-rows.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { connect, type Sql } from '../../../../src/store/postgres/driver/client.js';
import { migrate } from '../../../../src/store/postgres/migrate.js';
import { shardOf } from '../../../../src/store/shard.js';
import { testDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

const SHARDS = 16;

async function directory(t: ExecutionContext): Promise<{ sql: Sql; store: DirectoryStore }> {
  const { address, drop } = await testDatabase();
  const sql = connect(address, { max: 8, applicationName: 'test' });
  t.teardown(async () => {
    await sql.end({ timeout: 5 });
    await drop();
  });
  await migrate(sql);
  return { sql, store: postgresDirectory(sql, SHARDS) };
}

async function key(store: DirectoryStore, accountId: string, prefix = 'abcdefghij') {
  return store.createKey({
    accountId,
    name: 'laptop',
    scopes: ['imap', 'smtp'],
    serviceWide: false,
    prefix,
    hash: 'f'.repeat(64),
  });
}

/** Collects changes, and returns a function that waits for the first one that fits. */
async function changes(t: ExecutionContext, store: DirectoryStore) {
  const seen: DirectoryChange[] = [];
  let wake = () => {};
  const stop = await store.watch((change) => {
    seen.push(change);
    wake();
  });
  t.teardown(stop);
  const until = async (fits: (change: DirectoryChange) => boolean): Promise<DirectoryChange> => {
    for (;;) {
      const found = seen.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { seen, until, stop };
}

test('an account starts with six system folders, its address, and its shard', async (t) => {
  const { sql, store } = await directory(t);
  const account = await store.createAccount('ann@example.test', 'Ann');
  t.is(account.email, 'ann@example.test');
  t.is(account.displayName, 'Ann');
  t.false(account.isUnclaimed);
  t.true(account.createdAt instanceof Date);
  const folders = await sql`select role, name, uidvalidity, uidnext from folders where account_id = ${account.id}
    order by sort_order`;
  t.deepEqual(
    folders.map((folder) => [folder['role'], folder['name']]),
    [
      ['inbox', 'INBOX'],
      ['sent', 'Sent'],
      ['drafts', 'Drafts'],
      ['archive', 'Archive'],
      ['trash', 'Trash'],
      ['junk', 'Junk'],
    ],
  );
  t.true(Math.abs(Number(folders[0]!['uidvalidity']) - Date.now() / 1000) < 3600);
  t.deepEqual(await store.ownerOf('ann@example.test'), { accountId: account.id, isUnclaimed: false });
  const [row] = await sql`select shard from accounts where id = ${account.id}`;
  t.is(row!['shard'], shardOf(account.id, SHARDS));
  t.deepEqual(await store.accountByEmail('ann@example.test'), account);
  t.deepEqual(await store.accountById(account.id), account);
  t.deepEqual(await store.accounts(), [account]);
});

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

test('ids that are no UUIDs have no account', async (t) => {
  const { store } = await directory(t);
  t.is(await store.accountById('x'), undefined);
  t.false(await store.deleteAccount('x'));
  t.false(await store.revokeKey('x'));
  t.is(await store.accountById(randomUUID()), undefined);
  t.false(await store.deleteAccount(randomUUID()));
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
  let locked = () => {};
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve;
  });
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
  await sql`insert into inbound (account_id, id, blob, envelope) values (${unclaimed}, ${waiting}, ${Buffer.alloc(32, 8)}, '{}')`;
  t.false((await store.addAddress(ann.id, 'sales@example.test', false)).isVerified);
  t.deepEqual(await store.ownerOf('sales@example.test'), { accountId: unclaimed, isUnclaimed: true });
  await store.addAddress(ann.id, 'sales@example.test', true);
  t.deepEqual(await store.ownerOf('sales@example.test'), { accountId: ann.id, isUnclaimed: false });
  t.is(await store.accountById(unclaimed), undefined);
  const inbound = await sql<{ id: string; envelope: unknown }[]>`
    select id, envelope from inbound where account_id = ${ann.id}`;
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

test('deleting an account deletes all that is its own and nothing else', async (t) => {
  const { sql, store } = await directory(t);
  const ann = await store.createAccount('ann@example.test', 'Ann');
  const bob = await store.createAccount('bob@example.test', 'Bob');
  await store.addAddress(ann.id, 'sales@example.test', true);
  await key(store, ann.id);
  const blob = Buffer.alloc(32, 7);
  for (const { id } of [ann, bob]) {
    await sql`
      insert into emails (account_id, id, blob, thread_id, refs, from_address, from_name, subject, preview,
        received_at, size, has_attachments, attachment_count, flags, modseq)
      values (${id}, ${randomUUID()}, ${blob}, ${randomUUID()}, '{}', 'x@y.z', '', '', '', now(), 1, false, 0, 0, 1)`;
    await sql`insert into placements (account_id, folder_id, uid, email_id, modseq)
      values (${id}, ${randomUUID()}, 1, ${randomUUID()}, 1)`;
    await sql`insert into expunged (account_id, folder_id, uid, modseq) values (${id}, ${randomUUID()}, 1, 1)`;
    await sql`insert into events (account_id, seq, entries, at) values (${id}, 1, '[]', now())`;
    await sql`insert into deferred_flag_writes (account_id, seq, first, count, flags) values (${id}, 1, 0, 1, 0)`;
    await sql`insert into recent_commands (account_id, id, reply) values (${id}, ${randomUUID()}, '{}')`;
    await sql`insert into thread_refs (account_id, message_key, thread_id)
      values (${id}, ${randomUUID()}, ${randomUUID()})`;
    await sql`insert into search_state (account_id, upto) values (${id}, ${randomUUID()})`;
    await sql`insert into search_segments (account_id, level, emails, last_id, ids, octets)
      values (${id}, 0, 1, ${randomUUID()}, '', 0)`;
    await sql`insert into search_pages (account_id, segment, first_word, part, words, positions)
      values (${id}, 1, 'word', 0, '', '')`;
    await sql`insert into deferred_filters (account_id, email_id, filter_ids) values (${id}, ${randomUUID()}, '{}')`;
    await sql`insert into filters (account_id, id, name, is_enabled, priority, created_at, updated_at)
      values (${id}, ${randomUUID()}, '', true, 1, now(), now())`;
    await sql`insert into annotations (account_id, folder_id, name, value)
      values (${id}, ${randomUUID()}, '/private/comment', ${Buffer.from('x')})`;
    await sql`insert into preferences (account_id, chosen) values (${id}, '{}')`;
    await sql`insert into push_subscriptions (account_id, id, endpoint, p256dh, auth, seq)
      values (${id}, ${randomUUID()}, '', '', '', 1)`;
    await sql`insert into webhooks (account_id, id, url, event_types, is_enabled, secret, seq)
      values (${id}, ${randomUUID()}, '', '{}', true, '', 1)`;
    await sql`insert into webhook_deliveries
      (account_id, webhook_id, id, event_id, event_type, at, attempt, is_delivered, duration_ms)
      values (${id}, ${randomUUID()}, ${randomUUID()}, '', '', now(), 1, true, 1)`;
    await sql`insert into inbound (account_id, id, blob, envelope)
      values (${id}, ${randomUUID()}, ${Buffer.alloc(32, 8)}, '{}')`;
    await sql`insert into import_positions (account_id, source, uid_validity, uid) values (${id}, ${blob}, 1, 1)`;
    const outbound = randomUUID();
    await sql`insert into outbound (account_id, id, shard, status, blob, sender, subject, sent_email_id, created_at, updated_at)
      values (${id}, ${outbound}, 0, 'Sent', ${Buffer.alloc(32, 9)}, 'x@y.z', '', ${randomUUID()}, now(), now())`;
    await sql`insert into outbound_recipients (account_id, outbound_id, id, position, address, type, status, domain)
      values (${id}, ${outbound}, ${randomUUID()}, 0, 'x@y.z', 'To', 'Delivered', 'y.z')`;
    await sql`insert into outbound_contents (account_id, outbound_id) values (${id}, ${outbound})`;
    await sql`insert into outbound_attempts (account_id, outbound_id, id, at, entry)
      values (${id}, ${outbound}, ${randomUUID()}, now(), '{}')`;
    await sql`insert into outbound_requests (account_id, outbound_id, action) values (${id}, ${outbound}, 'retry')`;
  }
  t.true(await store.deleteAccount(ann.id));
  t.false(await store.deleteAccount(ann.id));
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns where column_name = 'account_id' and table_schema = 'public'`;
  t.true(tables.length >= 8);
  for (const { name } of tables) {
    const rows = await sql`select account_id from ${sql(name)}`;
    t.true(
      rows.every((row) => row['account_id'] === bob.id),
      name,
    );
    if (name !== 'api_keys') t.true(rows.length > 0, `${name} of the other account`);
  }
  t.is(await store.ownerOf('ann@example.test'), undefined);
  t.is(await store.ownerOf('sales@example.test'), undefined);
  const candidates = await sql<{ hash: Buffer }[]>`select hash from blob_candidates order by hash`;
  t.deepEqual(
    candidates.map((row) => row.hash[0]),
    [7, 8, 9],
  );
  t.truthy(await store.createAccount('ann@example.test', 'Ann again'));
});

test('keys are found by prefix until they are revoked', async (t) => {
  const { store } = await directory(t);
  const ann = await store.createAccount('ann@example.test', 'Ann');
  const made = await key(store, ann.id);
  t.deepEqual(made.scopes, ['imap', 'smtp']);
  t.is(made.lastUsedAt, null);
  t.deepEqual(await store.keysByPrefixes(['abcdefghij']), [
    { ...made, prefix: 'abcdefghij', hash: 'f'.repeat(64), email: 'ann@example.test' },
  ]);
  t.deepEqual(await store.keys(ann.id), [made]);
  await t.throwsAsync(key(store, ann.id), { instanceOf: StoreFault, message: /api_keys_prefix/ });
  t.true(await store.revokeKey(made.id));
  t.false(await store.revokeKey(made.id));
  t.deepEqual(await store.keysByPrefixes(['abcdefghij']), []);
  t.deepEqual(await store.keys(ann.id), []);
});

test('domains are added once and removed once', async (t) => {
  const { store } = await directory(t);
  t.true(await store.addDomain('example.test'));
  t.false(await store.addDomain('example.test'));
  t.true(await store.addDomain('a.test'));
  t.deepEqual(
    (await store.domains()).map((domain) => domain.name),
    ['a.test', 'example.test'],
  );
  t.true(await store.removeDomain('a.test'));
  t.false(await store.removeDomain('a.test'));
});

test('every change that other nodes may have cached is notified', async (t) => {
  const { store } = await directory(t);
  const { seen, until } = await changes(t, store);
  await store.addDomain('example.test');
  await until((change) => change.kind === 'domains');
  const ann = await store.createAccount('ann@example.test', 'Ann');
  await until((change) => change.kind === 'address' && change.address === 'ann@example.test');
  await store.addAddress(ann.id, 'sales@example.test', true);
  await until((change) => change.kind === 'address' && change.address === 'sales@example.test');
  const { id } = await key(store, ann.id);
  await store.revokeKey(id);
  await until((change) => change.kind === 'key-revoked' && change.keyId === id);
  await store.deleteAccount(ann.id);
  await until((change) => change.kind === 'account-deleted' && change.accountId === ann.id);
  await store.removeDomain('example.test');
  await until((change) => change.kind === 'domains' && seen.indexOf(change) < seen.length);
  t.false(seen.some((change) => change.kind === 'all'));
});

test('after a broken connection everything is to be dropped, and revoked keys and deleted accounts are named', async (t) => {
  const { sql, store } = await directory(t);
  const { until, stop, seen } = await changes(t, store);
  const ann = await store.createAccount('ann@example.test', 'Ann');
  const { id } = await key(store, ann.id);
  // The key is revoked without a notification, as when that was sent while the connection was down.
  await sql`update api_keys set revoked_at = now() where id = ${id}`;
  // Likewise an account: another session deletes it while this one hears nothing.
  const bob = await store.createAccount('bob@example.test', 'Bob');
  await until((change) => change.kind === 'address' && change.address === 'bob@example.test');
  await store.deleteAccount(bob.id);
  await until((change) => change.kind === 'account-deleted' && change.accountId === bob.id);
  const heardBefore = seen.length;
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query ilike '%listen%'`;
  await until((change) => change.kind === 'all');
  await until((change) => change.kind === 'key-revoked' && change.keyId === id);
  const isBob = (change: DirectoryChange) => change.kind === 'account-deleted' && change.accountId === bob.id;
  await until((change) => isBob(change) && seen.lastIndexOf(change) >= heardBefore);
  await store.addDomain('example.test');
  await until((change) => change.kind === 'domains');
  await stop();
  const heard = seen.length;
  await store.addDomain('other.test');
  await store.addDomain('third.test');
  t.is(seen.length, heard);
});

test('a database that is gone is a temporary fault', async (t) => {
  const sql = connect({ host: '/nonexistent', port: 1, user: 'x', database: 'x' }, { max: 1, applicationName: 'test' });
  const fault = await t.throwsAsync(postgresDirectory(sql, SHARDS).ownerOf('a@b.test'), { instanceOf: StoreFault });
  t.true(fault.temporary);
  await sql.end({ timeout: 1 });
});
