// Tests snapshots and restores in PostgreSQL: which tables are saved, what differs in a restored store, and that a restore that fails, or
// that cannot begin, changes nothing.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type { SnapshotFacts } from '../../../../src/store/backup/store-snapshot.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { fillStore, refuseUsedStore } from '../../../../src/store/postgres/backup/filling.js';
import { lastBackup, noteBackup } from '../../../../src/store/postgres/backup/last-backup.js';
import { SAVED_SEQUENCES, SAVED_TABLES, UNSAVED_TABLES } from '../../../../src/store/postgres/backup/saved-tables.js';
import { withSnapshot } from '../../../../src/store/postgres/backup/snapshot.js';
import { connect, type Sql } from '../../../../src/store/postgres/driver/client.js';
import { postgresLeases } from '../../../../src/store/postgres/leases.js';
import { postgresEvents } from '../../../../src/store/postgres/mailbox/events.js';
import { migratedDatabase, testDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

const SHARDS = 4;

async function opened(t: ExecutionContext, make = migratedDatabase): Promise<Sql> {
  const { address } = await make(t);
  const sql = connect(address, { max: 3, applicationName: 'test' });
  t.teardown(() => sql.end());
  return sql;
}

interface Saved {
  readonly facts: SnapshotFacts;
  readonly rows: ReadonlyMap<string, Uint8Array>;
}

function saved(sql: Sql): Promise<Saved> {
  return withSnapshot(sql, async ({ facts, rows }) => {
    const all = new Map<string, Uint8Array>();
    for (const table of facts.tables) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of rows(table)) chunks.push(Buffer.from(chunk));
      all.set(table.name, Buffer.concat(chunks));
    }
    return { facts, rows: all };
  });
}

async function* once(octets: Uint8Array) {
  yield octets;
}

function filled(sql: Sql, { facts, rows }: Saved, releasesQueue = false, committed = () => {}): Promise<void> {
  return fillStore(sql, {
    facts,
    releasesQueue,
    committed,
    fill: async ({ fill }) => {
      for (const table of facts.tables) await fill(table, once(rows.get(table.name)!));
    },
  });
}

test('every table, sequence and reference of the schema is known to backups', async (t) => {
  const sql = await opened(t);
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`;
  const known = [...SAVED_TABLES.map(({ name }) => name), ...UNSAVED_TABLES, 'schema_migrations'];
  t.deepEqual(tables.map(({ name }) => name).toSorted(), known.toSorted());
  const sequences = await sql<{ name: string }[]>`
    select relname as name from pg_class c where relkind = 'S' and relnamespace = current_schema()::regnamespace
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'i')`;
  t.deepEqual(sequences.map(({ name }) => name).toSorted(), SAVED_SEQUENCES.toSorted());
  const references = await sql<{ child: string; parent: string }[]>`
    select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint where contype = 'f'`;
  t.true(references.length > 0);
  for (const { child, parent } of references)
    t.true(known.indexOf(parent) < known.indexOf(child), `${parent} before ${child}`);
  const { facts } = await saved(sql);
  for (const { name, columns } of facts.tables) {
    const all = await sql<{ name: string }[]>`
      select column_name as name from information_schema.columns where table_name = ${name} and table_schema = current_schema()`;
    const without = SAVED_TABLES.find((table) => table.name === name)!.without ?? [];
    t.deepEqual(
      columns.toSorted(),
      all
        .map((row) => row.name)
        .filter((column) => !without.includes(column))
        .toSorted(),
      name,
    );
  }
});

/** An account whose first store goes on after the backup; the ids of its emails. */
async function inhabited(sql: Sql) {
  await postgresLeases(sql).shardCount(SHARDS);
  await sql`insert into settings (key, value) values ('cluster', 'first'), ('vapid', 'secret')`;
  await sql`update shard_leases set epoch = 7, node_id = 'gone', expires_at = now() - interval '1 s'`;
  const directory = postgresDirectory(sql, SHARDS);
  await directory.addDomain('example.test');
  const { id } = await directory.createAccount('zoe@example.test', 'Zoë 💌');
  await sql`update accounts set epoch = 7, modseq = 50`;
  const emails = [randomUUID(), randomUUID()];
  const ids = Buffer.from(emails.join('').replaceAll('-', ''), 'hex');
  for (const email of emails)
    await sql`
      insert into emails (account_id, id, blob, thread_id, refs, from_address, from_name, subject, preview, received_at, size,
        has_attachments, attachment_count, flags, modseq, keywords)
      values (${id}, ${email}, '\\x00', ${email}, '{}', 'a@b.test', '', 's', 'p', now(), 1, false, 0, 0, 40, '{old}')`;
  await sql`
    insert into events (account_id, seq, entries, at, ids) values
      (${id}, 49, '[]', now(), null), (${id}, 50, '[]', now(), ${ids})`;
  await sql`insert into deferred_flag_writes (account_id, seq, first, count, flags, keywords) values (${id}, 50, 0, 2, 3, '{new}')`;
  const statuses = ['Draft', 'Queued', 'Sending', 'Sent', 'Failed'];
  for (const status of statuses)
    await sql`
      insert into outbound (account_id, id, shard, status, blob, sender, subject, sent_email_id, created_at, updated_at)
      values (${id}, ${randomUUID()}, 0, ${status}, '\\x00', 's@example.test', '', ${randomUUID()}, now(), now())`;
  const [tried, ...others] = [randomUUID(), randomUUID(), randomUUID()];
  await sql`insert into inbound (account_id, id, blob, envelope, is_tried) values (${id}, ${tried!}, '\\x00', '{}', true)`;
  for (const command of [tried!, ...others])
    await sql`insert into recent_commands (account_id, id, reply, at) values (${id}, ${command}, '{}', now() - interval '9 min')`;
  return { id, emails, tried: tried! };
}

test('a restored store has the rows, beyond every number that the first one can give', async (t) => {
  const first = await opened(t);
  const { id, emails, tried } = await inhabited(first);
  await noteBackup(first, { at: 1, bytes: 2, isEncrypted: true });
  t.deepEqual(await lastBackup(first), { at: 1, bytes: 2, isEncrypted: true });
  const before = await first<{ uidvalidity: string }[]>`select uidvalidity from folders`;
  const copy = await saved(first);
  t.like(copy.facts, { emails: 2, accounts: 1 });

  const second = await opened(t, testDatabase);
  await filled(second, copy);
  const [account] = await second`select display_name, epoch::int as epoch, modseq::int as modseq from accounts`;
  t.is(account!['display_name'], 'Zoë 💌');
  t.true(account!['epoch'] > 7 && account!['modseq'] > 100_050, 'more than the log of an account keeps');
  const leases = await second<{ node: string | null; epoch: number; expired: boolean }[]>`
    select node_id as node, epoch::int as epoch, expires_at < now() as expired from shard_leases`;
  t.is(leases.length, SHARDS);
  for (const lease of leases) {
    t.like(lease, { node: null, expired: true });
    t.true(lease.epoch >= account!['epoch']);
  }
  const folders = await second<{ uidvalidity: string }[]>`select uidvalidity from folders`;
  t.is(folders.length, before.length);
  for (const { uidvalidity } of folders) t.true(Number(uidvalidity) > Number(before[0]!.uidvalidity) + 50);
  const settings = await second<{ key: string }[]>`select key from settings order by key`;
  t.deepEqual(
    settings.map(({ key }) => key),
    ['shards', 'vapid'],
    'another cluster, without a backup of its own',
  );
  const flags = await second`select flags, keywords, modseq::int as modseq from emails where account_id = ${id}`;
  t.deepEqual(
    [...flags],
    emails.map(() => ({ flags: 3, keywords: ['new'], modseq: 50 })),
  );
  const commands = await second`select id, at > now() - interval '1 min' as fresh from recent_commands`;
  t.deepEqual([...commands], [{ id: tried, fresh: true }], 'mail that was placed is not placed again');
  t.is((await second`select from deferred_flag_writes`).length, 0);
  t.deepEqual(await postgresEvents(second).read(id, 0, 10), []);
  t.is(await postgresEvents(second).newest(id), account!['modseq']);
  const outbound = await second<
    { status: string; waits: boolean }[]
  >`select status, awaits_release as waits from outbound`;
  for (const { status, waits } of outbound) t.is(waits, status === 'Queued' || status === 'Sending', status);

  await t.throwsAsync(filled(second, copy), { message: /the store is not empty \(accounts has rows\)/ });
  const third = await opened(t, testDatabase);
  await filled(third, await saved(second), true);
  t.is(
    (await third`select from outbound where awaits_release`).length,
    0,
    'the operator releases them with the restore',
  );
});

test('a backup sees what was committed before it, and one runs at a time', async (t) => {
  const sql = await opened(t);
  const directory = postgresDirectory(sql, SHARDS);
  await directory.createAccount('before@example.test', 'B');
  const emails = await withSnapshot(sql, async ({ facts, rows }) => {
    await directory.createAccount('after@example.test', 'A');
    await t.throwsAsync(saved(sql), { message: /another backup of this store is running/ });
    const chunks: Uint8Array[] = [];
    for (const table of facts.tables) for await (const chunk of rows(table)) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks).toString('latin1');
    return ['before@', 'after@'].map((name) => text.includes(name));
  });
  t.deepEqual(emails, [true, false]);
  await t.notThrowsAsync(saved(sql));
});

test('a restore that fails leaves an empty store, which a second one fills', async (t) => {
  const first = await opened(t);
  await inhabited(first);
  const copy = await saved(first);
  const second = await opened(t);
  const without = (name: string, octets: Uint8Array): Saved => ({
    ...copy,
    rows: new Map([...copy.rows, [name, octets]]),
  });
  const accounts = copy.rows.get('accounts')!;
  const emails = copy.rows.get('emails')!;
  // Rows that are cut, doubled, or many: the database refuses them at their end or while they come.
  const header = emails.subarray(0, 19);
  const rows = emails.subarray(19, -2);
  const many = Buffer.concat([header, ...Array.from({ length: 20_000 }, () => rows), emails.subarray(-2)]);
  const broken = [
    without('accounts', accounts.subarray(0, -10)),
    without('emails', many),
    without('blobs', Buffer.from('no rows')),
  ];
  for (const each of broken) {
    await t.throwsAsync(filled(second, each), { message: /refuses rows of|duplicate key|COPY/ });
    t.is((await second`select from accounts`).length, 0);
    t.is((await second`select from emails`).length, 0);
  }
  const column = { ...copy.facts, tables: [{ name: 'accounts', columns: ['id', 'nothing'] }] };
  await t.throwsAsync(filled(second, { ...copy, facts: column }), { message: /has a table or column .*: accounts/ });
  const foreign = { ...copy.facts, tables: [{ name: 'pg_authid', columns: ['rolname'] }] };
  await filled(second, { ...copy, facts: foreign });
  t.is((await second`select from accounts`).length, 0, 'rows of a table that is not Mansio’s are passed over');
  await filled(second, copy);
  t.is((await second`select from emails`).length, 2);
});

test('what breaks a backup or a restore off is its error, and the connection can be used again', async (t) => {
  const first = await opened(t);
  await inhabited(first);
  await first`
    insert into blob_chunks (hash, seq, data)
    select sha256(int4send(i)), 0, decode(repeat(md5(i::text), 200), 'hex') from generate_series(1, 20000) i`;
  const full = () => Promise.reject(new Error('the disk is full'));
  const brokenOff = withSnapshot(first, async ({ facts, rows }) => {
    for await (const _ of rows(facts.tables.find(({ name }) => name === 'blob_chunks')!)) await full();
  });
  await t.throwsAsync(brokenOff, { message: 'the disk is full' });
  const copy = await saved(first);
  const second = await opened(t);
  async function* cut(): AsyncGenerator<Uint8Array> {
    yield copy.rows.get('blob_chunks')!.subarray(0, 1_000_000);
    throw new Error('the file is cut');
  }
  const { facts } = copy;
  const table = facts.tables.find(({ name }) => name === 'blob_chunks')!;
  const restored = fillStore(second, {
    facts,
    releasesQueue: false,
    fill: ({ fill }) => fill(table, cut()),
    committed: () => t.fail('nothing is committed'),
  });
  await t.throwsAsync(restored, { message: 'the file is cut' });
  await filled(second, copy);
  t.is((await second`select from blob_chunks`).length, 20_000);
});

test('what belongs to the rows follows the commit at once, before the statistics', async (t) => {
  const first = await opened(t);
  await inhabited(first);
  const copy = await saved(first);
  const second = await opened(t);
  const killed = filled(second, copy, false, () => {
    throw new Error('killed');
  });
  await t.throwsAsync(killed, { message: 'killed' });
  t.true((await second`select from accounts`).length > 0);
  const [statistics] = await second`select reltuples from pg_class where oid = 'accounts'::regclass`;
  t.is(statistics?.['reltuples'], -1);
});

test('a store with a node, a newer schema or an unknown one is refused', async (t) => {
  const first = await opened(t);
  await inhabited(first);
  const copy = await saved(first);
  const second = await opened(t);
  await second`
    insert into nodes (id, incarnation, version, roles, bus, state, started_at, beat_at, expires_at)
    values ('n1', 'i', '1', '{}', 'nats', 'serving', now(), now(), now() + interval '1 minute')`;
  await t.throwsAsync(refuseUsedStore(second), { message: /nodes run on this store \(n1\): stop them first/ });
  await t.throwsAsync(filled(second, copy), { message: /nodes run on this store/ });
  await second`update nodes set expires_at = now()`;
  await t.notThrowsAsync(refuseUsedStore(second));
  const schema = (name: string, checksum = 'x') => ({
    ...copy,
    facts: { ...copy.facts, schema: [{ name, checksum }] },
  });
  await t.throwsAsync(filled(second, schema('0001_schema')), { message: /of a development version of Mansio/ });
  await t.throwsAsync(filled(second, schema('9999_later')), {
    message: /of a later version of Mansio \(migration 9999_later\)/,
  });
  await second`insert into schema_migrations (name, checksum) values ('9999_later', 'x')`;
  await t.throwsAsync(filled(second, copy), { message: /has a newer schema \(9999_later\) than the backup/ });
  await first`insert into schema_migrations (name, checksum) values ('0000_other', 'x')`;
  await t.throwsAsync(saved(first), { message: /has the migration 0000_other of another version/ });
});

test('a store that a later version has changed is saved whole, and only a version that knows the change restores it', async (t) => {
  const [first, second] = [await opened(t), await opened(t)];
  const { id } = await postgresDirectory(first, SHARDS).createAccount('ann@example.test', 'Ann');
  for (const sql of [first, second]) await sql`alter table accounts add column weight integer not null default 7`;
  await first`
    create table later_notes (account_id uuid primary key references accounts (id) on delete cascade, note text)`;
  await first`insert into later_notes values (${id}, 'kept')`;
  await first`update accounts set weight = 8`;
  // A table of somebody else, in a store that no later version has changed, is none of a backup's business.
  t.false((await saved(first)).facts.tables.some(({ name }) => name === 'later_notes'));
  await first`insert into schema_migrations (name, checksum) values ('9999_later', 'x')`;
  const copy = await saved(first);
  t.deepEqual(copy.facts.tables.at(-1), { name: 'later_notes', columns: ['account_id', 'note'] });
  t.true(copy.facts.tables.find(({ name }) => name === 'accounts')!.columns.includes('weight'));
  await t.throwsAsync(filled(second, copy), { message: /of a later version of Mansio \(migration 9999_later\)/ });
  // A version that has the migration, and does not save the table, passes it over.
  await filled(second, { ...copy, facts: { ...copy.facts, schema: copy.facts.schema.slice(0, -1) } });
  const [account] = await second`select id, weight from accounts`;
  t.deepEqual({ ...account }, { id, weight: 8 });
});
