// Brings the schema to the version of this program: numbered files next to this one, each in its own transaction. Nodes that
// start together wait for each other. Upgrades roll (decision 0013): migrations of a later version are left alone, but a file
// that was edited after it was applied stops the start, because the schema is then unknown.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { StartFault } from '../../concurrency/start-fault.js';
import type { AppliedMigration } from '../backup/store-snapshot.js';
import { StoreFault } from '../errors.js';
import { type Sql, type SqlTransaction, storeFault } from './driver/client.js';

export interface Migrated {
  /** Names of the migrations applied now, in order; empty when the schema was up to date. */
  readonly applied: readonly string[];
  /** Name of the newest migration in the database. */
  readonly version: string;
  /** Migrations that a later version of the program applied and this one does not know. */
  readonly newer: readonly string[];
}

/** The schema and the files of this program contradict each other. */
export class MigrationMismatch extends StartFault {
  constructor(message: string, options?: ErrorOptions) {
    super('schema-mismatch', message, options);
  }
}

interface MigrationFile extends AppliedMigration {
  readonly text: string;
}

const FILES = fileURLToPath(new URL('./migrations/', import.meta.url));
const FILE_NAME = /^(\d{4}_[a-z0-9_]+)\.sql$/;
/** Key of the advisory lock; "mansio" in ASCII. */
const LOCK = 0x6d616e73696f;
/**
 * A migration waits this long for a table; then it lets the statements behind it pass and tries again: statements of other nodes
 * queue behind it, and the commits of mail wait for at most a second.
 */
const TABLE_LOCK_MS = 500;
const RETRY_MS = 1_000;
/** The first migration of 0.1.0, from whose schema no migration leads to this one. */
const SCHEMA_OF_0_1_0 = '0001_engine';
/**
 * The setting that a migration of a later version makes when it removes what older versions need: the newest migration that a program must
 * know to use the store.
 */
const OLDEST_SCHEMA = 'oldest-schema';

/** The migrations of this program, in their order. */
export async function knownMigrations(directory = FILES): Promise<readonly AppliedMigration[]> {
  return (await readFiles(directory)).map(({ name, checksum }) => ({ name, checksum }));
}

/**
 * `upTo`: the name of the last migration that is applied; all are when it is absent.
 * @throws MigrationMismatch, StoreFault
 */
export async function migrate(sql: Sql, directory = FILES, upTo?: string): Promise<Migrated> {
  const files = (await readFiles(directory)).filter(({ name }) => upTo === undefined || name <= upTo);
  try {
    const recorded = await locked(sql, async (tx) => {
      await createRecord(tx);
      await refuseOutdated(tx, files);
      return readRecord(tx);
    });
    verify(files, recorded);
    const applied: string[] = [];
    for (const file of files) {
      if (recorded.has(file.name)) continue;
      if (await appliedHere(sql, file)) applied.push(file.name);
    }
    const newest = files.at(-1)?.name ?? '';
    const newer = [...recorded.keys()].filter((name) => name > newest).sort();
    return { applied, version: newer.at(-1) ?? newest, newer };
  } catch (error) {
    throw error instanceof MigrationMismatch ? error : storeFault(error);
  }
}

async function readFiles(directory: string): Promise<readonly MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => FILE_NAME.test(name)).sort();
  names.forEach((name, i) => {
    if (i > 0 && names[i - 1]!.slice(0, 4) === name.slice(0, 4)) {
      throw new MigrationMismatch(`migrations ${names[i - 1]!.slice(0, -4)} and ${name.slice(0, -4)} have one number`);
    }
  });
  return Promise.all(
    names.map(async (name) => {
      const text = (await readFile(`${directory}/${name}`, 'utf8')).replaceAll('\r\n', '\n');
      return { name: name.slice(0, -4), text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

function verify(files: readonly MigrationFile[], recorded: ReadonlyMap<string, string>): void {
  if (recorded.has(SCHEMA_OF_0_1_0)) {
    throw new MigrationMismatch(
      'this store is of Mansio 0.1.0: export each account with that version (mansio export), and import it with this one (mansio import) into a new store',
    );
  }
  for (const file of files) refuseEdited(file, recorded);
  const newest = files.at(-1)?.name ?? '';
  for (const name of recorded.keys()) {
    if (name < newest && !files.some((file) => file.name === name)) {
      throw new MigrationMismatch(
        `migration ${name} was applied to this database but is not part of this version of Mansio`,
      );
    }
  }
}

async function refuseOutdated(tx: SqlTransaction, files: readonly MigrationFile[]): Promise<void> {
  const [row] = await tx<{ missing: boolean }[]>`select to_regclass('settings') is null as missing`;
  if (row?.missing !== false) return;
  const [oldest] = await tx<{ value: string }[]>`select value from settings where key = ${OLDEST_SCHEMA}`;
  if (oldest === undefined || files.some(({ name }) => name >= oldest.value)) return;
  throw new MigrationMismatch(
    `this store was upgraded by a later version, after which this version cannot use it any more: run a version of Mansio that has the migration ${oldest.value}`,
  );
}

function refuseEdited(file: MigrationFile, recorded: ReadonlyMap<string, string>): void {
  const checksum = recorded.get(file.name);
  if (checksum === undefined || checksum === file.checksum) return;
  throw new MigrationMismatch(
    `migration ${file.name} was edited after it had been applied to this database: put the file back as it was (SHA-256 ${checksum.slice(0, 12)}…) and write a new migration`,
  );
}

/**
 * Tries however long others use the tables: a backup may read for hours. Returns false when another node applied the file
 * meanwhile.
 */
async function appliedHere(sql: Sql, file: MigrationFile): Promise<boolean> {
  for (;;) {
    try {
      return await locked(sql, (tx) => apply(tx, file));
    } catch (error) {
      if (storeFault(error).code !== 'store-locked') throw error;
      await pause(RETRY_MS);
    }
  }
}

/** Returns false when another node applied it while this one waited for the lock. */
async function apply(tx: SqlTransaction, file: MigrationFile): Promise<boolean> {
  const recorded = await readRecord(tx);
  refuseEdited(file, recorded);
  if (recorded.has(file.name)) return false;
  await tx`select set_config('lock_timeout', ${String(TABLE_LOCK_MS)}, true)`;
  await tx.unsafe(file.text).catch((error: unknown) => {
    const { code, message, temporary } = storeFault(error);
    throw new StoreFault(code, `migration ${file.name}: ${message}`, { temporary, cause: error });
  });
  await record(tx, file);
  return true;
}

/**
 * Runs `work` in a transaction that no other `migrate` overlaps. It has no timeouts, because waiting and long changes are
 * allowed.
 */
async function locked<T>(sql: Sql, work: (tx: SqlTransaction) => Promise<T>): Promise<T> {
  const result = await sql.begin(async (tx) => {
    await tx`select set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)`;
    await tx`select pg_advisory_xact_lock(${LOCK}::bigint)`;
    return { value: await work(tx) };
  });
  return result.value;
}

/** Checks before it creates the table: a role without CREATE on the schema may use a database that another role migrates. */
async function createRecord(tx: SqlTransaction): Promise<void> {
  const [row] = await tx<{ missing: boolean }[]>`select to_regclass('schema_migrations') is null as missing`;
  if (row?.missing !== true) return;
  await tx`
    create table schema_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`;
}

async function readRecord(tx: SqlTransaction): Promise<Map<string, string>> {
  const rows = await tx<{ name: string; checksum: string }[]>`select name, checksum from schema_migrations`;
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

async function record(tx: SqlTransaction, file: MigrationFile): Promise<void> {
  await tx`insert into schema_migrations (name, checksum) values (${file.name}, ${file.checksum})`;
}
