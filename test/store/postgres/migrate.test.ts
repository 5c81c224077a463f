// Tests migrations in a real PostgreSQL: once, at the same time, edited, newer; and the catalogue rule of decision 0010.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { ACCOUNT_TABLES } from '../../../src/store/postgres/accounts/account-rows.js';
import { connect, type Sql } from '../../../src/store/postgres/driver/client.js';
import { knownMigrations, MigrationMismatch, migrate } from '../../../src/store/postgres/migrate.js';
import { testDatabase } from '../../support/database/embedded-database.js';
import { deferred } from '../../support/deferred.js';
import test from '../../support/test.js';

const SHIPPED = fileURLToPath(new URL('../../../src/store/postgres/migrations/', import.meta.url));

/** Tables that are read by their own key. Every other table belongs to an account. */
const DIRECTORY_TABLES = [
  'settings',
  'greylist_waiting',
  'greylist_known',
  'nodes',
  'shard_leases',
  'domains',
  'domain_aliases',
  'aliases',
  'accounts',
  'deleted_accounts',
  'addresses',
  'verification_mails',
  'api_keys',
  'sessions',
  'passkeys',
  'spent_challenges',
  'sign_in_links',
  'blobs',
  'blob_chunks',
  'blob_candidates',
  'schema_migrations',
  'dkim_keys',
  'sts_policies',
  'refusals',
  'due_reports',
  'counted_reports',
  'dmarc_sums',
  'tls_sums',
  'dmarc_counts',
  'sent_reports',
  'tls_counts',
  'junk_bases',
  'sent_tls_reports',
  'acme_accounts',
  'certificates',
  'acme_tokens',
];

/**
 * The SHA-256 of migrations that a release has: they are never edited, because stores have applied them (decision 0082). A change of the
 * schema is a new file, and its line is added here by the release.
 */
const RELEASED = { '0001_schema': '070ecdd4661e9c205ec8fa107e279bdc3833bdba2081d09f8eb069990747e649' };

async function database(t: { teardown(fn: () => Promise<void>): void }, pools = 1): Promise<Sql[]> {
  const { address, drop } = await testDatabase();
  const sqls = Array.from({ length: pools }, () => connect(address, { max: 2, applicationName: 'test' }));
  t.teardown(async () => {
    await Promise.all(sqls.map((sql) => sql.end()));
    await drop();
  });
  return sqls;
}

function migrations(files: Record<string, string>): string {
  const directory = temporaryDirectory('mansio-migrations-');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

test('applies the shipped migrations once', async (t) => {
  const [sql] = await database(t);
  const first = await migrate(sql!);
  t.is(first.applied[0], '0001_schema');
  t.is(first.version, first.applied.at(-1)!);
  t.deepEqual(await migrate(sql!), { applied: [], version: first.version, newer: [] });
});

test('migrations of a release are what they were', async (t) => {
  const known = await knownMigrations();
  t.like(Object.fromEntries(known.map(({ name, checksum }) => [name, checksum])), RELEASED);
});

test('nodes that start together apply each file once between them', async (t) => {
  const sqls = await database(t, 4);
  const results = await Promise.all(sqls.map((sql) => migrate(sql)));
  const applied = results.flatMap((result) => result.applied);
  t.is(new Set(applied).size, applied.length);
  t.true(applied.includes('0001_schema'));
  t.is(new Set(results.map((result) => result.version)).size, 1);
});

test('an edited migration is an error that names it', async (t) => {
  const [sql] = await database(t);
  const directory = migrations({ '0001_a.sql': 'create table a (id integer)' });
  await migrate(sql!, directory);
  writeFileSync(join(directory, '0001_a.sql'), 'create table a (id bigint)');
  const error = await t.throwsAsync(migrate(sql!, directory), { instanceOf: MigrationMismatch });
  t.regex(error.message, /0001_a was edited/);
});

test('line ends are no edit', async (t) => {
  const [sql] = await database(t);
  const directory = migrations({ '0001_a.sql': 'create table a (\nid integer)' });
  await migrate(sql!, directory);
  writeFileSync(join(directory, '0001_a.sql'), 'create table a (\r\nid integer)');
  t.deepEqual((await migrate(sql!, directory)).applied, []);
});

test('migrations of a later version are left alone and reported', async (t) => {
  const [sql] = await database(t);
  const later = migrations({ '0001_a.sql': 'select 1', '0002_b.sql': 'select 2' });
  await migrate(sql!, later);
  const earlier = migrations({ '0001_a.sql': 'select 1' });
  t.deepEqual(await migrate(sql!, earlier), { applied: [], version: '0002_b', newer: ['0002_b'] });
});

test('a version that lacks the oldest migration that a store can be used with is refused', async (t) => {
  const [sql] = await database(t);
  const first = { '0001_a.sql': 'create table settings (key text primary key, value text not null)' };
  const second = { ...first, '0002_b.sql': 'select 2' };
  const third = { ...second, '0003_c.sql': "insert into settings values ('oldest-schema', '0002_b')" };
  await migrate(sql!, migrations(third));
  t.deepEqual((await migrate(sql!, migrations(second))).newer, ['0003_c']);
  const error = await t.throwsAsync(migrate(sql!, migrations(first)), { instanceOf: MigrationMismatch });
  t.regex(
    error.message,
    /by a later version, after which this version cannot use it any more: run .* the migration 0002_b$/,
  );
});

test('a migration that is missing between known ones is an error', async (t) => {
  const [sql] = await database(t);
  await migrate(sql!, migrations({ '0001_a.sql': 'select 1' }));
  const other = migrations({ '0002_b.sql': 'select 2' });
  await t.throwsAsync(migrate(sql!, other), { instanceOf: MigrationMismatch, message: /0001_a was applied/ });
});

test('a store of 0.1.0 is an error that says how its mail is moved, and nothing is changed', async (t) => {
  const [sql] = await database(t);
  await sql!`
    create table schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now()
    )`;
  await sql!`insert into schema_migrations (name, checksum) values ('0001_engine', ''), ('0038_deferred_placements', '')`;
  const error = await t.throwsAsync(migrate(sql!), { instanceOf: MigrationMismatch });
  t.regex(error.message, /of Mansio 0\.1\.0: export .* with that version .* import .* with this one/);
  const [row] = await sql!`select count(*)::int as tables from pg_tables where schemaname = 'public'`;
  t.is(row!['tables'], 1);
});

test('two files with one number are an error', async (t) => {
  const [sql] = await database(t);
  const directory = migrations({ '0001_a.sql': 'select 1', '0001_b.sql': 'select 2' });
  await t.throwsAsync(migrate(sql!, directory), { instanceOf: MigrationMismatch, message: /0001_a and 0001_b/ });
});

test('a migration that fails leaves nothing behind, and what came before it stays', async (t) => {
  const [sql] = await database(t);
  const directory = migrations({
    '0001_a.sql': 'create table a (id integer)',
    '0002_b.sql': 'create table b (id integer); select 1 / 0',
  });
  const error = await t.throwsAsync(migrate(sql!, directory), { message: /0002_b/ });
  t.regex(error.message, /division by zero/);
  const [row] = await sql!`select to_regclass('a') is not null as a, to_regclass('b') is null as no_b`;
  t.deepEqual({ ...row }, { a: true, no_b: true });
  writeFileSync(join(directory, '0002_b.sql'), 'create table b (id integer)');
  t.deepEqual((await migrate(sql!, directory)).applied, ['0002_b']);
});

test('a migration that waits for a long reader keeps no other statement waiting', async (t) => {
  const [sql, older] = await database(t, 2);
  const first = { '0001_a.sql': 'create table a (id integer)' };
  await migrate(sql!, migrations(first));
  const { promise: isOver, resolve: readOn } = deferred();
  t.teardown(() => readOn());
  let reader: Promise<unknown> = isOver;
  // A backup reads all tables in one transaction.
  await new Promise<void>((reading, failed) => {
    reader = older!.begin(async (tx) => {
      await tx`select from a`;
      reading();
      await isOver;
    });
    reader.catch(failed);
  });
  const migrated = migrate(sql!, migrations({ ...first, '0002_b.sql': 'alter table a add column more integer' }));
  const isWaiting = () => older!`select from pg_locks where relation = 'a'::regclass and not granted`;
  while ((await isWaiting()).length === 0);
  await older!.begin(async (tx) => {
    await tx`set local lock_timeout = '10s'`;
    await tx`insert into a values (1)`;
  });
  readOn();
  await reader;
  t.deepEqual((await migrated).applied, ['0002_b']);
});

test('a role that may not create tables can run a schema that is up to date', async (t) => {
  const [sql] = await database(t);
  const directory = migrations({});
  cpSync(SHIPPED, directory, { recursive: true });
  await migrate(sql!, directory);
  const role = `reader_${process.pid}`;
  await sql!.unsafe(`create role ${role} login; grant select on schema_migrations, settings to ${role};
    revoke create on schema public from ${role}`);
  const reader = connect({ ...addressOf(sql!), user: role }, { max: 1, applicationName: 'test' });
  t.teardown(() => reader.end());
  t.deepEqual((await migrate(reader, directory)).applied, []);
});

function addressOf(sql: Sql): { host: string; port: number; database: string } {
  return { host: sql.options.host[0]!, port: sql.options.port[0]!, database: sql.options.database };
}

test('docs/scaling.md has every table', async (t) => {
  const [sql] = await database(t);
  await migrate(sql!);
  const tables = await sql!<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`;
  const text = readFileSync('docs/scaling.md', 'utf8');
  const named = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name!);
  const byAccount = named(/create_distributed_table\('(\w+)', 'account_id'/g);
  t.deepEqual(byAccount.sort(), [...ACCOUNT_TABLES].sort());
  const local = /^((?:`\w+`,\s)+`\w+`) stay local to the\s+coordinator:/m.exec(text)?.[1] ?? '';
  const others = [
    ...named(/create_distributed_table\('(\w+)', '(?!account_id)/g),
    ...named(/create_reference_table\('(\w+)'/g),
  ];
  const placed = [...byAccount, ...others, ...[...local.matchAll(/`(\w+)`/g)].map(([, name]) => name!)];
  t.deepEqual(placed.sort(), tables.map(({ name }) => name).sort());
  for (const [statement] of text.matchAll(/^(?:alter table|create index) .*;$/gm)) {
    await t.notThrowsAsync(async () => sql!.unsafe(statement), statement);
  }
});

test('a version that does not know a table deletes its rows with their account (decision 0082)', async (t) => {
  const [sql] = await database(t);
  await migrate(sql!, undefined, '0001_schema');
  const first = await sql!<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`;
  await migrate(sql!);
  const cascading = await sql!<{ name: string }[]>`
    select conrelid::regclass::text as name from pg_constraint
    where contype = 'f' and confrelid = 'accounts'::regclass and confdeltype = 'c'`;
  const deleted = [...first, ...cascading].map(({ name }) => name);
  t.true(deleted.includes('emails'));
  t.deepEqual(
    ACCOUNT_TABLES.filter((table) => !deleted.includes(table)),
    [],
    'the table needs `references accounts (id) on delete cascade`',
  );
});

test('tables outside the directory have account_id first in every key (decision 0010)', async (t) => {
  const [sql] = await database(t);
  await migrate(sql!);
  const keys = await sql!<{ table: string; index: string; primary: boolean; first: string | null }[]>`
    select c.relname as table, i.relname as index, x.indisprimary as primary, a.attname as first
    from pg_class c
    left join pg_index x on x.indrelid = c.oid and x.indisunique
    left join pg_class i on i.oid = x.indexrelid
    left join pg_attribute a on a.attrelid = c.oid and a.attnum = x.indkey[0]
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`;
  const tables = [...new Set(keys.map((key) => key.table))];
  for (const table of DIRECTORY_TABLES) t.true(tables.includes(table), `${table} is gone: take it off the list`);
  const owned = tables.filter((table) => !DIRECTORY_TABLES.includes(table));
  t.true(owned.length > 0);
  for (const table of owned) {
    const ofTable = keys.filter((key) => key.table === table);
    t.true(
      ofTable.some((key) => key.primary),
      `${table} has no primary key`,
    );
    for (const key of ofTable) t.is(key.first, 'account_id', `${table}: ${key.index} does not lead with account_id`);
  }
  t.deepEqual([...ACCOUNT_TABLES].sort(), owned.sort(), 'deleteAccount must delete from every account-owned table');
});
