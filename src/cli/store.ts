// The store of an administrative command: the database of DATABASE_URL, or the embedded one of the data directory, which is shared with a
// running node or else started only for the command. It is checked and migrated as for a node. A command creates a new embedded store only
// with --create: without the settings of its node it would work on an empty one.
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { inTime } from '../concurrency/time-bounds.js';
import { type Config, readConfig, shownDatabaseUrl } from '../node/config/config.js';
import type { DirectoryStore } from '../store/directory.js';
import { findEmbedded, startEmbedded } from '../store/embedded/embedded.js';
import { postgresDirectory } from '../store/postgres/accounts/directory.js';
import { codeOf, connect, type DatabaseAddress, type PoolOptions, type Sql } from '../store/postgres/driver/client.js';
import { readDatabaseClock } from '../store/postgres/driver/database-condition.js';
import { checkDatabase } from '../store/postgres/driver/durability-check.js';
import { postgresLeases } from '../store/postgres/leases.js';
import { type Migrated, migrate } from '../store/postgres/migrate.js';
import { postgresSigningKeys } from '../store/postgres/outbound/signing-keys.js';
import type { SigningKeyStore } from '../store/signing-keys.js';
import { CommandError } from './output.js';

export interface CommandStore {
  readonly sql: Sql;
  readonly directory: DirectoryStore;
  readonly signingKeys: SigningKeyStore;
  readonly migrated: Migrated;
}

/** The connections of `mansio doctor`. */
const EXAMINED_AT_ONCE = 3;
/** A connection that is silent for this long is cut. */
const PATIENCE_MS = 5_000;
/** The time for the first answer to any other command. */
const FIRST_ANSWER_MS = 15_000;

/** Whether `--create` was given; a process runs only one command. */
let mayCreate = false;

/** Adds the option `--create` to every command of `commands`, and makes it report on stderr which store it used. */
export function onStore(commands: readonly Command[]): void {
  for (const command of commands) {
    command
      .option('--create', 'make a new embedded store when there is none')
      .hook('preAction', () => {
        mayCreate = command.opts<{ create?: boolean }>().create === true;
      })
      .hook('postAction', () => {
        const { json, check } = command.opts<{ json?: boolean; check?: boolean }>();
        // A check of a file opens no store.
        if (json === true || check === true) return;
        command.configureOutput().writeErr?.(`(store: ${storeName(readConfig())})\n`);
      });
  }
}

/** Opens the store for commands that change something, or need the schema of this version. */
export async function withStore<T>(work: (store: CommandStore) => Promise<T>): Promise<T> {
  return withStoreOf(readConfig(), work);
}

/** Opens the store of `mansio setup`, which is made when there is none. */
export async function withNewStore<T>(config: Config, work: (store: CommandStore) => Promise<T>): Promise<T> {
  mayCreate = true;
  return withStoreOf(config, work);
}

async function withStoreOf<T>(config: Config, work: (store: CommandStore) => Promise<T>): Promise<T> {
  return withPool(config, { max: 2, applicationName: 'mansio command' }, async (sql) => {
    await checkDatabase(sql, { allowUnsafe: config.allowUnsafeDatabase });
    const migrated = await migrate(sql);
    const shards = await postgresLeases(sql).shardCount(config.shards);
    const directory = postgresDirectory(sql, shards);
    return work({ sql, directory, signingKeys: postgresSigningKeys(sql), migrated });
  });
}

/** Opens the store for commands that only read: they accept any version of the database and its schema. */
export async function readingStore<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
  return withPool(readConfig(), { max: 1, applicationName: 'mansio command' }, work);
}

/** Opens the store for `mansio doctor`, which bounds its own time and takes a store that does not answer as a finding. */
export async function examiningStore<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
  return withAddress(readConfig(), async (address) => {
    const sql = connect(address, { max: EXAMINED_AT_ONCE, applicationName: 'mansio doctor', patienceMs: PATIENCE_MS });
    try {
      return await work(sql);
    } finally {
      await sql.end({ timeout: 0.1 });
    }
  });
}

/** Connects to the database of DATABASE_URL and checks it, for `mansio setup` before it makes anything. Does nothing without one. */
export async function checkGivenDatabase(config: Config): Promise<void> {
  if (config.databaseUrl !== undefined) await withChecked(config, 'mansio command', async () => undefined);
}

/** Opens the store for a restore: the schema may be missing, and so may an embedded store, which is created. */
export async function restoringStore<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
  mayCreate = true;
  return withChecked(readConfig(), 'mansio restore', work);
}

async function withChecked<T>(config: Config, applicationName: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  return withPool(config, { max: 1, applicationName }, async (sql) => {
    await checkDatabase(sql, { allowUnsafe: config.allowUnsafeDatabase });
    return work(sql);
  });
}

/** The driver connects again and again, so a server that says nothing would hold the command for ever. */
async function withPool<T>(config: Config, options: PoolOptions, work: (sql: Sql) => Promise<T>): Promise<T> {
  return withAddress(config, async (address) => {
    const sql = connect(address, options);
    try {
      await inTime(
        readDatabaseClock(sql),
        FIRST_ANSWER_MS,
        () =>
          new CommandError(`the database does not answer within ${FIRST_ANSWER_MS / 1000} s (${storeName(config)})`),
      );
      return await work(sql);
    } catch (error) {
      throw lostConnection(config, error) ?? error;
    } finally {
      await sql.end({ timeout: 5 });
    }
  });
}

/** The server ended, or cut the connection, in the middle of the work: what the driver says of that helps nobody. */
function lostConnection({ databaseUrl, dataDir }: Config, error: unknown): CommandError | undefined {
  if (!/^CONNECTION_|^57P01$/.test(codeOf(error))) return undefined;
  const log = databaseUrl === undefined ? `its log is in ${join(dataDir, 'postgres', 'log')}` : 'its log says why';
  return new CommandError(`the database ended the connection: ${log}; run the command again`);
}

/** Whether there is a store; that of DATABASE_URL may be empty. */
export function hasStore(): boolean {
  const { databaseUrl, dataDir } = readConfig();
  return databaseUrl !== undefined || hasEmbedded(dataDir);
}

const hasEmbedded = (dataDir: string) => existsSync(join(dataDir, 'postgres', 'PG_VERSION'));

async function withAddress<T>(config: Config, work: (address: DatabaseAddress) => Promise<T>): Promise<T> {
  // The default action of a signal would leave the database running, and a file half written; an exit ends both.
  const exits = Object.entries({ SIGINT: 130, SIGTERM: 143 }).map(([signal, code]) => ({
    signal,
    exit: () => process.exit(code),
  }));
  for (const { signal, exit } of exits) process.on(signal, exit);
  try {
    return await withDatabase(config, work);
  } finally {
    for (const { signal, exit } of exits) process.off(signal, exit);
  }
}

async function withDatabase<T>(config: Config, work: (address: DatabaseAddress) => Promise<T>): Promise<T> {
  if (config.databaseUrl !== undefined) return work({ url: config.databaseUrl });
  refuseClosed(config.dataDir);
  const running = findEmbedded(config.dataDir);
  if (running !== undefined) return work(running);
  if (!mayCreate && !hasEmbedded(config.dataDir))
    throw new CommandError(
      `there is no store in ${config.dataDir}: give the command the settings of its node (DATABASE_URL or ` +
        'MANSIO_DATA_DIR, see --env-file), or make a new embedded store there with --create',
    );
  // Only a command that starts a server needs a log.
  const { openLog } = await import('../node/log.js');
  const { log } = openLog({ level: 'silent', sync: true });
  const started = await startEmbedded({ dataDir: config.dataDir, log });
  try {
    return await work(started.address);
  } finally {
    await started.stop();
  }
}

/** Checks access, because the store of another user's node looks as if there were none. */
function refuseClosed(dataDir: string): void {
  try {
    accessSync(join(dataDir, 'postgres'), constants.R_OK | constants.X_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return;
    const as = 'run the command as the user who runs the node, or as root';
    throw new CommandError(`the store in ${dataDir} is closed to this user: ${as}`);
  }
}

function storeName({ databaseUrl, dataDir }: Config): string {
  return databaseUrl === undefined ? `embedded, in ${dataDir}` : shownDatabaseUrl(databaseUrl);
}
