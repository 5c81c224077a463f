// Fills an empty store with the rows of a backup, in one transaction: until its commit nobody sees anything of it, and a restore that is
// killed leaves the store as empty as it was. No node can start on the store meanwhile, because the tables are locked.
import { BackupFault, type FilledStore, type SavedTable, type SnapshotFacts } from '../../backup/store-snapshot.js';
import type { Sql, SqlTransaction } from '../driver/client.js';
import { knownMigrations, migrate } from '../migrate.js';
import { copyIn } from './copy.js';
import { makeRestored } from './restored-state.js';
import { FILLED_BY_STARTS, SAVED_SEQUENCES, SAVED_TABLES, UNSAVED_TABLES } from './saved-tables.js';
import { columnsOf, quoted } from './snapshot.js';

const LOCK_TIMEOUT_MS = 5_000;

export interface FillingOptions {
  readonly facts: SnapshotFacts;
  /** Whether outbound email that was not final is delivered without `mansio queue release`. */
  readonly releasesQueue: boolean;
  /** Fills every table; what it throws undoes everything. */
  fill(store: FilledStore): Promise<void>;
  /** Is called right after the commit: the schema of this version and the statistics may take minutes. */
  committed(): void;
}

/** Refuses a file whose schema this version cannot have been or become. @throws BackupFault */
export async function refuseUnknownSchema({ schema }: SnapshotFacts): Promise<void> {
  const known = await knownMigrations();
  schema.forEach(({ name, checksum }, i) => {
    const own = known[i];
    if (own?.name === name && own.checksum === checksum) return;
    const isLater = own === undefined || name > own.name;
    throw new BackupFault(
      isLater
        ? `the backup is of a later version of Mansio (migration ${name}): restore it with that version`
        : `the backup is of a development version of Mansio (its migration ${name} is another one): restore it with that version`,
    );
  });
}

/** @throws BackupFault when the store is not empty, or nodes run on it. */
export async function refuseUsedStore(sql: Sql): Promise<void> {
  await sql.begin('read only', refuseUsed);
}

async function refuseUsed(tx: SqlTransaction): Promise<void> {
  const tables = await present(tx, [...SAVED_TABLES.map(({ name }) => name), ...UNSAVED_TABLES]);
  if (tables.includes('nodes')) {
    const nodes = await tx<{ id: string }[]>`select id from nodes where expires_at > now() order by id`;
    const ids = nodes.map(({ id }) => id).join(', ');
    if (nodes.length > 0) throw new BackupFault(`nodes run on this store (${ids}): stop them first`);
  }
  for (const name of tables) {
    if (FILLED_BY_STARTS.includes(name)) continue;
    const rows = await tx`select from ${tx(name)} limit 1`;
    if (rows.length === 0) continue;
    throw new BackupFault(
      `the store is not empty (${name} has rows): move postgres/ of the data directory away, or take another MANSIO_DATA_DIR, or a DATABASE_URL of an empty database`,
    );
  }
}

async function present(tx: SqlTransaction, names: readonly string[]): Promise<readonly string[]> {
  const rows = await tx<{ name: string }[]>`
    select name from unnest(${tx.array(names as string[])}::text[]) with ordinality as t (name, n)
    where to_regclass(name) is not null order by n`;
  return rows.map(({ name }) => name);
}

/** Brings the store to the schema of the backup, fills it, and brings it to the schema of this version. @throws BackupFault */
export async function fillStore(sql: Sql, { facts, releasesQueue, fill, committed }: FillingOptions): Promise<void> {
  await refuseUnknownSchema(facts);
  const upTo = facts.schema.at(-1)?.name ?? '';
  const { version } = await migrate(sql, undefined, upTo);
  if (version !== upTo)
    throw new BackupFault(
      `the store has a newer schema (${version}) than the backup (${upTo}): restore into a database or data directory without a schema`,
    );
  await sql.begin(async (tx) => {
    await tx`select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true),
      set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true)`;
    await clear(tx);
    await fill({ fill: (table, rows) => fillTable(tx, table, rows) });
    await passSequences(tx, facts.sequences);
    await makeRestored(tx, releasesQueue);
  });
  committed();
  await migrate(sql);
  await sql`analyze`;
}

/** A truncated table is locked, and a rolled back transaction leaves no dead rows in it. */
async function clear(tx: SqlTransaction): Promise<void> {
  const tables = await present(tx, [...SAVED_TABLES.map(({ name }) => name), ...UNSAVED_TABLES]);
  const list = tables.map(quoted).join(', ');
  // Locks first: a node that starts at this moment has joined before the check, or waits.
  await tx.unsafe(`lock table ${list} in access exclusive mode`);
  await refuseUsed(tx);
  await tx.unsafe(`truncate ${list}`);
}

async function fillTable(
  tx: SqlTransaction,
  { name, columns }: SavedTable,
  rows: AsyncIterable<Uint8Array>,
): Promise<void> {
  // The version that made the backup did not know the table, and this one does not save it.
  if (!SAVED_TABLES.some((saved) => saved.name === name)) return passOver(rows);
  const own = await columnsOf(tx, name);
  if (columns.length === 0 || columns.some((column) => !own.includes(column)))
    throw new BackupFault(`the backup has a table or column that its schema does not have: ${name}`);
  const list = columns.map(quoted).join(', ');
  await copyIn(tx, `copy ${quoted(name)} (${list}) from stdin with (format binary, freeze)`, rows, `rows of ${name}`);
}

async function passOver(rows: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of rows);
}

async function passSequences(tx: SqlTransaction, sequences: SnapshotFacts['sequences']): Promise<void> {
  for (const name of SAVED_SEQUENCES) {
    const value = sequences[name];
    if (value !== undefined) await tx`select setval(${name}::regclass, ${value}::text::bigint)`;
  }
}
