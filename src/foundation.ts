// The ground a node stands on, in the order it is laid: data directory, name, database, schema, TLS. Actors and gateways
// are built on it by `main.ts`, commands use what they need of it themselves.

import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import type { Lifecycle } from './lifecycle.js';
import { type DataDirectory, openDataDirectory } from './store/data-directory.js';
import { startEmbedded } from './store/embedded.js';
import { connect, type DatabaseAddress, type PoolOptions, type Sql } from './store/postgres/client.js';
import { migrate } from './store/postgres/migrate.js';
import { checkDatabase } from './store/postgres/safety.js';
import { openTls, type TlsMaterial } from './tls.js';

export interface Foundation {
  readonly config: Config;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  readonly nodeId: string;
  readonly dataDirectory: DataDirectory;
  readonly database: DatabaseAddress;
  readonly sql: Sql;
  /** For the group commits of mail and mailboxes. */
  readonly writerSql: Sql;
  /** For the words of emails. */
  readonly searchSql: Sql;
  /** For the heartbeat alone: it must not wait behind mail. */
  readonly leaseSql: Sql;
  readonly tls: TlsMaterial;
}

// The embedded server allows 50; commands beside the node want some of them.
const POOL_SIZE = 16;
const WRITER_POOL_SIZE = 2;
/** What searches and indexing may take of the database's processors. */
const SEARCH_POOL_SIZE = 4;
/** Half of it for statements under way, then connections are cut. */
const CONNECTIONS_STOP_MS = 250;
/** Enough for the checkpoint of most fast shutdowns, and leaves the parts above more than half of the time to drain. */
const DATABASE_RESERVE_MS = 4000;

/** Adds to `lifecycle` whatever it started, also when it fails. `signal` stops it between two steps. */
export async function layFoundation(
  config: Config,
  log: Logger,
  lifecycle: Lifecycle,
  signal: AbortSignal,
): Promise<Foundation> {
  const dataDirectory = openDataDirectory(config.dataDir);
  lifecycle.add('data directory', () => dataDirectory.release());
  const nodeId = config.nodeId ?? dataDirectory.keep('node-id', () => randomBytes(8).toString('hex'));

  const database = await openDatabase(config, dataDirectory, log, lifecycle);
  signal.throwIfAborted();
  const pool = (max: number, purpose: string, kind: Pick<PoolOptions, 'byKey' | 'wide'> = {}): Sql => {
    const opened = connect(database, { max, applicationName: `mansio ${nodeId}${purpose}`, ...kind });
    const end = () => opened.end({ timeout: CONNECTIONS_STOP_MS / 1000 / 2 });
    lifecycle.add(`connections${purpose}`, end, CONNECTIONS_STOP_MS);
    return opened;
  };
  const sql = pool(POOL_SIZE, '');
  const writerSql = pool(WRITER_POOL_SIZE, ' writer', { byKey: true });
  const searchSql = pool(SEARCH_POOL_SIZE, ' search', { byKey: true, wide: true });
  const leaseSql = pool(1, ' leases');
  await checkDatabase(sql, { allowUnsafe: config.allowUnsafeDatabase });
  const { applied, version } = await migrate(sql);
  if (applied.length > 0) log.info({ applied, version }, 'schema brought up to date');
  signal.throwIfAborted();

  const { tls: files, hostname } = config;
  const tls = await openTls({ files, dataDir: dataDirectory.path, hostname, log });
  lifecycle.add('certificate', () => tls.stop());
  return { config, log, lifecycle, nodeId, dataDirectory, database, sql, writerSql, searchSql, leaseSql, tls };
}

async function openDatabase(
  config: Config,
  dataDir: DataDirectory,
  log: Logger,
  lifecycle: Lifecycle,
): Promise<DatabaseAddress> {
  if (config.databaseUrl !== undefined) return { url: config.databaseUrl };
  const embedded = await startEmbedded({ dataDir, log });
  lifecycle.add('embedded database', () => embedded.stop(), DATABASE_RESERVE_MS);
  return embedded.address;
}
