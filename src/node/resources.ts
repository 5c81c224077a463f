// The resources of a node in the order of their creation: data directory, name, database, schema, TLS. `main.ts` builds actors and gateways
// on them; commands open only what they need.

import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { startEmbedded } from '../store/embedded/embedded.js';
import { type DataDirectory, openDataDirectory } from '../store/local/data-directory.js';
import { CircuitBreaker } from '../store/postgres/driver/circuit-breaker.js';
import {
  connect,
  type DatabaseAddress,
  openConnections,
  type PoolOptions,
  type Sql,
} from '../store/postgres/driver/client.js';
import { connectionLimit } from '../store/postgres/driver/connection-limit.js';
import { checkDatabase } from '../store/postgres/driver/durability-check.js';
import { ping } from '../store/postgres/driver/ping.js';
import { type Migrated, migrate } from '../store/postgres/migrate.js';
import type { Config } from './config/config.js';
import type { Lifecycle } from './lifecycle.js';
import { clearLeftDirectories } from './processes/process-directories.js';
import { type ProcessShare, shareOfPool } from './processes/process-share.js';
import { openTls, type TlsMaterial } from './tls/tls.js';

/** Pools of connections to the database, one per purpose. */
export interface DatabasePools {
  readonly sql: Sql;
  /** The pool for the commits of mailboxes. */
  readonly commitSql: Sql;
  /** The pool for the other group commits: inbound rows, blobs, and claims. */
  readonly writerSql: Sql;
  /** The pool for the words of emails. */
  readonly searchSql: Sql;
  /** The pool for the messages that mail protocols read by UID. */
  readonly messagesSql: Sql;
  /** The pool for the heartbeat, which must not wait behind mail. */
  readonly leaseSql: Sql;
  /** The pool for the health check, so that a balancer does not mistake a busy node for one without a database. */
  readonly healthSql: Sql;
  /** The pool for statements that read whole tables, which have no time limit. */
  readonly maintenanceSql: Sql;
}

export interface Resources extends DatabasePools {
  readonly config: Config;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  readonly nodeId: string;
  /** Undefined for a node without a parent. */
  readonly processShare: ProcessShare | undefined;
  readonly dataDirectory: DataDirectory;
  readonly database: DatabaseAddress;
  /** The breaker of calls to the database. */
  readonly breaker: CircuitBreaker;
  readonly tls: TlsMaterial;
}

// The embedded server allows 50; commands next to the nodes need some of them.
const POOL_SIZE = 16;
/**
 * One commit of mailboxes runs at a time. The driver distributes statements over the connections of a pool in turn, and a backend that
 * executed the previous statement is a fifth faster than one that was idle meanwhile.
 */
const COMMIT_POOL_SIZE = 1;
/** One commit of inbound rows or blobs and one of claims run at a time. */
const WRITER_POOL_SIZE = 2;
/** The number of the database's processors that searches and indexing may use. */
const SEARCH_POOL_SIZE = 4;
/** The remaining connection serves indexing and merges. */
export const SEARCHES_AT_ONCE = SEARCH_POOL_SIZE - 1;
/** Each connection reads one page of messages at a time, for all sessions. */
const MESSAGES_POOL_SIZE = 4;
/** The connections for leases, health, maintenance, and notices of changes in the directory, for which the driver opens its own. */
const SINGLE_CONNECTIONS = 4;
/** Group commits take ms; they wait a second for locks, and the rest is for storage that stalls. */
const WRITER_PATIENCE_MS = 10_000;
/** Longer than the largest mailbox takes to load. Statements that read whole tables have a pool of their own. */
const PATIENCE_MS = 15_000;
/** A heartbeat is abandoned after these lease times; a connection and its login need longer than a very short one. */
const LEASE_PATIENCE_TTLS = 2;
const LEAST_LEASE_PATIENCE_MS = 1000;
/** Half of it is for current statements, then connections are cut. */
const CONNECTIONS_STOP_MS = 250;
/** Enough for most fast shutdowns, while the parts above have time to drain; the database also gets the time that they do not use. */
const DATABASE_RESERVE_MS = 2000;

/** Adds everything that it starts to `lifecycle`, also when it fails. `signal` stops it between two steps. */
export async function openResources(
  config: Config,
  log: Logger,
  lifecycle: Lifecycle,
  signal: AbortSignal,
  processShare?: ProcessShare,
): Promise<Resources> {
  const dataDirectory = openDataDirectory(config.dataDir);
  lifecycle.add('data directory', () => dataDirectory.release());
  const nodeId = config.nodeId ?? dataDirectory.keep('node-id', () => randomBytes(8).toString('hex'));
  // The directories remain from a time at which this directory belonged to a parent.
  if (processShare === undefined) await clearLeftDirectories(dataDirectory.path, 0, log, signal);

  const database = processShare?.database ?? (await openDatabase(config, dataDirectory, log, lifecycle));
  signal.throwIfAborted();
  const name = `mansio ${nodeId}`;
  const pools = openPools(config, database, name, lifecycle, processShare);
  const { applied, version } = await prepare(config, database, name, log, processShare);
  if (applied.length > 0) log.info({ applied, version }, 'schema brought up to date');
  await openConnections(pools.commitSql, COMMIT_POOL_SIZE);
  await openConnections(pools.writerSql, WRITER_POOL_SIZE);
  await openConnections(pools.healthSql, 1);
  const breaker = breakerOf(pools.healthSql, log);
  lifecycle.add('circuit breaker of the database', () => breaker.stop());
  signal.throwIfAborted();

  const { tls: files, hostname } = config;
  // All processes on one port present the same certificate.
  const tls = await openTls({ files, dataDir: processShare?.directory ?? dataDirectory.path, hostname, log });
  lifecycle.add('certificate', () => tls.stop());
  return {
    config,
    log,
    lifecycle,
    nodeId,
    processShare,
    dataDirectory,
    database,
    ...pools,
    breaker,
    tls,
  };
}

function poolSizes(processes: number) {
  return {
    sql: shareOfPool(POOL_SIZE, processes, 4),
    search: shareOfPool(SEARCH_POOL_SIZE, processes, 1),
    messages: shareOfPool(MESSAGES_POOL_SIZE, processes, 1),
  };
}

/** Opens the connections of each purpose; a purpose that hangs does not delay another one. */
function openPools(
  config: Config,
  database: Parameters<typeof connect>[0],
  name: string,
  lifecycle: Lifecycle,
  processShare: ProcessShare | undefined,
) {
  const opened: Sql[] = [];
  const end = (pool: Sql) => pool.end({ timeout: CONNECTIONS_STOP_MS / 1000 / 2 });
  const endAll = async () => void (await Promise.all(opened.map(end)));
  lifecycle.add('connections to the database', endAll, CONNECTIONS_STOP_MS);
  const pool = (
    max: number,
    purpose: string,
    patienceMs: number | undefined,
    kind: Pick<PoolOptions, 'byKey' | 'wide' | 'probe'> = {},
  ): Sql => {
    const connected = connect(database, { max, applicationName: `${name}${purpose}`, patienceMs, ...kind });
    opened.push(connected);
    return connected;
  };
  const sizes = poolSizes(processShare?.count ?? 1);
  const leasePatienceMs = Math.max(LEAST_LEASE_PATIENCE_MS, config.leaseTtlMs * LEASE_PATIENCE_TTLS);
  return {
    sql: pool(sizes.sql, '', PATIENCE_MS),
    commitSql: pool(COMMIT_POOL_SIZE, ' commits', WRITER_PATIENCE_MS, { byKey: true }),
    writerSql: pool(WRITER_POOL_SIZE, ' writer', WRITER_PATIENCE_MS, { byKey: true }),
    searchSql: pool(sizes.search, ' search', PATIENCE_MS, { byKey: true, wide: true }),
    messagesSql: pool(sizes.messages, ' messages', PATIENCE_MS, { byKey: true }),
    leaseSql: pool(1, ' leases', leasePatienceMs),
    healthSql: pool(1, ' health', WRITER_PATIENCE_MS, { probe: true }),
    maintenanceSql: pool(1, ' maintenance', undefined),
  };
}

function breakerOf(healthSql: Sql, log: Logger): CircuitBreaker {
  return new CircuitBreaker(
    () => ping(healthSql),
    (isOpen) => {
      if (isOpen) log.error('the database does not answer: requests that need the database are refused');
      else log.info('the database answers again');
    },
  );
}

/** The number of connections to the database that the `processes` nodes of one parent keep together. */
export function connectionsOf(processes: number): number {
  const { sql, search, messages } = poolSizes(processes);
  return processes * (sql + search + messages + COMMIT_POOL_SIZE + WRITER_POOL_SIZE + SINGLE_CONNECTIONS);
}

/** Uses a connection of its own, because a migration, or the wait for that of another node, has no time limit. */
async function prepare(
  config: Config,
  database: DatabaseAddress,
  applicationName: string,
  log: Logger,
  processShare: ProcessShare | undefined,
): Promise<Migrated> {
  const sql = connect(database, { max: 1, applicationName });
  try {
    await checkDatabase(sql, { allowUnsafe: config.allowUnsafeDatabase });
    // The warning appears once, before the database refuses connections under load.
    if (processShare?.number === 1) await warnOfFewConnections(sql, processShare.count, log);
    return await migrate(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function warnOfFewConnections(sql: Sql, processes: number, log: Logger): Promise<void> {
  const [allowed, wanted] = [await connectionLimit(sql), connectionsOf(processes)];
  if (wanted > allowed)
    log.warn(
      { processes, wanted, allowed },
      'the database allows fewer connections than the processes may open: raise max_connections',
    );
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
