// One snapshot of the database for a backup: a read-only transaction sees what was committed when it began, whatever is committed while
// its tables are read. Nodes go on meanwhile.
import {
  type AppliedMigration,
  BackupFault,
  type SavedTable,
  type SnapshotFacts,
  type StoreSnapshot,
} from '../../backup/store-snapshot.js';
import type { Sql, SqlTransaction } from '../driver/client.js';
import { knownMigrations } from '../migrate.js';
import { copyOut } from './copy.js';
import { SAVED_SEQUENCES, SAVED_TABLES, UNSAVED_TABLES } from './saved-tables.js';

/** Key of the advisory lock; "backup" in ASCII. */
const LOCK = 0x6261636b7570;

/** @throws BackupFault when another backup runs, or the schema is not one that this program knows. */
export async function withSnapshot<T>(sql: Sql, work: (snapshot: StoreSnapshot) => Promise<T>): Promise<T> {
  const known = await knownMigrations();
  const result = await sql.begin('isolation level repeatable read read only', async (tx) => {
    await tx`select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`;
    const [lock] = await tx<[{ free: boolean }]>`select pg_try_advisory_xact_lock(${LOCK}::bigint) as free`;
    if (!lock.free) throw new BackupFault('another backup of this store is running: wait for its end');
    const facts = await factsOf(tx, known);
    const [size] = await tx<[{ octets: number }]>`
      select coalesce(sum(pg_table_size(to_regclass(name))), 0)::float8 as octets
      from unnest(${tx.array(facts.tables.map(({ name }) => name))}::text[]) name`;
    return { value: await work({ facts, estimatedOctets: size.octets, rows: (table) => rowsOf(tx, table) }) };
  });
  return result.value;
}

async function factsOf(tx: SqlTransaction, known: readonly AppliedMigration[]): Promise<SnapshotFacts> {
  const [present] = await tx<
    [{ hasSchema: boolean }]
  >`select to_regclass('schema_migrations') is not null as "hasSchema"`;
  if (!present.hasSchema) throw new BackupFault('this database is no store of Mansio: it has no schema');
  const schema = await tx<AppliedMigration[]>`select name, checksum from schema_migrations order by name`;
  const newest = known.at(-1)?.name ?? '';
  for (const { name, checksum } of schema) {
    if (name > newest || known.some((own) => own.name === name && own.checksum === checksum)) continue;
    throw new BackupFault(`the store has the migration ${name} of another version: run the mansio of its nodes`);
  }
  const [counts] = await tx<[{ at: Date; emails: number; accounts: number }]>`
    select now() as at, (select count(*) from emails)::float8 as emails,
      (select count(*) from accounts where not unclaimed)::float8 as accounts`;
  const tables = [];
  for (const saved of SAVED_TABLES) {
    const columns = await columnsOf(tx, saved.name);
    // An older schema may lack the table.
    if (columns.length === 0) continue;
    tables.push({ name: saved.name, columns: columns.filter((column) => saved.without?.includes(column) !== true) });
  }
  const hasLater = schema.some(({ name }) => name > newest);
  for (const name of hasLater ? await laterTables(tx) : []) tables.push({ name, columns: await columnsOf(tx, name) });
  const { emails, accounts } = counts;
  return {
    at: counts.at.toISOString(),
    schema: schema.map(({ name, checksum }) => ({ name, checksum })),
    tables,
    sequences: await sequences(tx),
    emails,
    accounts,
  };
}

/** The tables that a later version has added, which are saved whole; in the order in which they were made, so a table refers to earlier ones. */
async function laterTables(tx: SqlTransaction): Promise<readonly string[]> {
  const rows = await tx<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' order by oid`;
  const known = [...SAVED_TABLES.map(({ name }) => name), ...UNSAVED_TABLES, 'schema_migrations'];
  return rows.map(({ name }) => name).filter((name) => !known.includes(name));
}

/** The columns in their order; none when there is no such table. */
export async function columnsOf(tx: SqlTransaction, table: string): Promise<readonly string[]> {
  const rows = await tx<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`;
  return rows.map(({ name }) => name);
}

/** Sequences are not part of a snapshot: read after it was taken, they have passed every number in it. */
async function sequences(tx: SqlTransaction): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of SAVED_SEQUENCES) {
    const [row] = await tx<[{ value: string }]>`select last_value::text as value from ${tx(name)}`;
    found[name] = row.value;
  }
  return found;
}

function rowsOf(tx: SqlTransaction, { name, columns }: SavedTable): AsyncIterable<Uint8Array> {
  const where = SAVED_TABLES.find((saved) => saved.name === name)?.where;
  const selected = `select ${columns.map(quoted).join(', ')} from ${quoted(name)}`;
  return copyOut(
    tx,
    `copy (${selected}${where === undefined ? '' : ` where ${where}`}) to stdout with (format binary)`,
  );
}

export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
