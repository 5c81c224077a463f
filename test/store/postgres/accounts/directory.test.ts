// Tests the directory store in a real PostgreSQL: accounts, keys, domains, and notifications of changes.
import { randomUUID } from 'node:crypto';
import type { DirectoryChange } from '../../../../src/store/directory.js';
import { StoreFault } from '../../../../src/store/errors.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { connect } from '../../../../src/store/postgres/driver/client.js';
import { shardOf } from '../../../../src/store/shard.js';
import test from '../../../support/test.js';
import { changes, directory, key, SHARDS } from './opened-directory.js';

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

test('ids that are no UUIDs have no account', async (t) => {
  const { store } = await directory(t);
  t.is(await store.accountById('x'), undefined);
  t.false(await store.deleteAccount('x'));
  t.false(await store.revokeKey('x'));
  t.is(await store.accountById(randomUUID()), undefined);
  t.false(await store.deleteAccount(randomUUID()));
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
    await sql`insert into filter_runs (account_id, id, run) values (${id}, ${randomUUID()}, '{}')`;
    await sql`insert into filter_run_batches (account_id, run_id, number, emails) values (${id}, ${randomUUID()}, 0, '[]')`;
    await sql`insert into sieve_scripts (account_id, name, content) values (${id}, 'main', 'keep;')`;
    await sql`insert into active_sieve_scripts (account_id, name) values (${id}, 'main')`;
    await sql`insert into sieve_tracked_keys (account_id, key, until) values (${id}, 'x', now())`;
    await sql`insert into due_automatic_mail (account_id, id, kind, blob, detail)
      values (${id}, ${randomUUID()}, 'forward', ${blob}, '{}')`;
    await sql`insert into due_junk_lessons (account_id, email_id, is_junk) values (${id}, ${randomUUID()}, true)`;
    await sql`insert into junk_lessons (account_id, message, is_junk) values (${id}, ${blob}, true)`;
    await sql`insert into junk_words (account_id, words) values (${id}, '')`;
    await sql`insert into annotations (account_id, folder_id, name, value)
      values (${id}, ${randomUUID()}, '/private/comment', ${Buffer.from('x')})`;
    await sql`insert into passkeys (id, account_id, name, rp_id, credential_id, public_key, counter, transports)
      values (${randomUUID()}, ${id}, '', 'localhost', ${Buffer.from(id)}, '', 0, '{}')`;
    await sql`insert into verification_mails (account_id, address) values (${id}, 'x@y.z')`;
    await sql`insert into suppressions (account_id, address, reason, since, until)
      values (${id}, 'x@y.z', '', now(), now())`;
    await sql`insert into vacation_answered (account_id, key, until) values (${id}, 'x@y.z', now())`;
    await sql`insert into sent_counts (account_id, minute, recipients, strangers, refused) values (${id}, 1, 1, 1, 0)`;
    await sql`insert into known_recipients (account_id, address) values (${id}, 'x@y.z')`;
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
    // Keys, sessions and links go by their foreign key, as other tests hold.
    if (!['api_keys', 'sessions', 'sign_in_links'].includes(name))
      t.true(rows.length > 0, `${name} of the other account`);
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
    { ...made, prefix: 'abcdefghij', hash: 'f'.repeat(64), email: 'ann@example.test', kind: 'key' },
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
