// The ground a node stands on, in the order it is laid: data directory, name, database, schema, TLS. Actors and gateways
// are built on it by `main.ts`, commands use what they need of it themselves.

import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config } from '../config.js';
import { type DataDirectory, openDataDirectory } from '../store/data-directory.js';
import { startEmbedded } from '../store/embedded.js';
import { CircuitBreaker } from '../store/postgres/circuit-breaker.js';
import {
  connect,
  type DatabaseAddress,
  openConnections,
  type PoolOptions,
  type Sql,
} from '../store/postgres/client.js';
import { connectionLimit } from '../store/postgres/connection-limit.js';
import { checkDatabase } from '../store/postgres/durability-check.js';
import { type Migrated, migrate } from '../store/postgres/migrate.js';
import { ping } from '../store/postgres/ping.js';
import type { Lifecycle } from './lifecycle.js';
import { clearLeftDirectories } from './processes/process-directories.js';
import { type ProcessShare, shareOfPool } from './processes/process-share.js';
import { openTls, type TlsMaterial } from './tls.js';

/** Pools of connections to the database, one a purpose. */
export interface DatabasePools {
  readonly sql: Sql;
  /** For the commits of mailboxes. */
  readonly commitSql: Sql;
  /** For the other group commits: of inbound rows, of blobs, and of claims. */
  readonly writerSql: Sql;
  /** For the words of emails. */
  readonly searchSql: Sql;
  /** For the messages that mail protocols read by UID. */
  readonly messagesSql: Sql;
  /** For the heartbeat alone: it must not wait behind mail. */
  readonly leaseSql: Sql;
  /** For the health check alone: a balancer is not to take a busy node for one without a database. */
  readonly healthSql: Sql;
  /** For statements that look through whole tables: they take as long as they take. */
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
  /** Whether the database answers. */
  readonly breaker: CircuitBreaker;
  readonly tls: TlsMaterial;
}

// The embedded server allows 50; commands beside the node want some of them.
const POOL_SIZE = 16;
/**
 * One commit of mailboxes runs at a time. The driver deals statements out to the connections of a pool in turn, and a backend that
 * carried out the statement before is a fifth quicker than one that has rested meanwhile.
 */
const COMMIT_POOL_SIZE = 1;
/** A commit of inbound rows, or of blobs, and one of claims at a time. */
const WRITER_POOL_SIZE = 2;
/** What searches and indexing may take of the database's processors. */
const SEARCH_POOL_SIZE = 4;
/** The rest is left for indexing and merges. */
export const SEARCHES_AT_ONCE = SEARCH_POOL_SIZE - 1;
/** One page of messages each: what is read for all sessions at a time. */
const MESSAGES_POOL_SIZE = 4;
/** For leases, health, maintenance, and notices of changes in the directory, for which the driver opens one of its own. */
const SINGLE_CONNECTIONS = 4;
/** Group commits take ms; their locks are waited for a second, and the rest is for storage that stalls. */
const WRITER_PATIENCE_MS = 10_000;
/** Above what the largest mailbox takes to load. What looks through whole tables has a pool of its own. */
const PATIENCE_MS = 15_000;
/** A heartbeat is given up after one lease time; connecting and logging in need longer than a very short one. */
const LEASE_PATIENCE_TTLS = 2;
const LEAST_LEASE_PATIENCE_MS = 1000;
/** Half of it for statements under way, then connections are cut. */
const CONNECTIONS_STOP_MS = 250;
/** Enough for most fast shutdowns, and leaves the parts above their time to drain; the database has what those do not use. */
const DATABASE_RESERVE_MS = 2000;

/** Adds to `lifecycle` whatever it started, also when it fails. `signal` stops it between two steps. */
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
  // Of a time when this directory was a parent's.
  if (processShare === undefined) await clearLeftDirectories(dataDirectory.path, 0, log, signal);

  const database = processShare?.database ?? (await openDatabase(config, dataDirectory, log, lifecycle));
  signal.throwIfAborted();
  const name = `mansio ${nodeId}`;
  const pools: Sql[] = [];
  const end = (opened: Sql) => opened.end({ timeout: CONNECTIONS_STOP_MS / 1000 / 2 });
  const endAll = async () => void (await Promise.all(pools.map(end)));
  lifecycle.add('connections to the database', endAll, CONNECTIONS_STOP_MS);
  const pool = (
    max: number,
    purpose: string,
    patienceMs: number | undefined,
    kind: Pick<PoolOptions, 'byKey' | 'wide' | 'probe'> = {},
  ): Sql => {
    const opened = connect(database, { max, applicationName: `${name}${purpose}`, patienceMs, ...kind });
    pools.push(opened);
    return opened;
  };
  const sizes = poolSizes(processShare?.count ?? 1);
  const sql = pool(sizes.sql, '', PATIENCE_MS);
  const commitSql = pool(COMMIT_POOL_SIZE, ' commits', WRITER_PATIENCE_MS, { byKey: true });
  const writerSql = pool(WRITER_POOL_SIZE, ' writer', WRITER_PATIENCE_MS, { byKey: true });
  const searchSql = pool(sizes.search, ' search', PATIENCE_MS, { byKey: true, wide: true });
  const messagesSql = pool(sizes.messages, ' messages', PATIENCE_MS, { byKey: true });
  const leasePatienceMs = Math.max(LEAST_LEASE_PATIENCE_MS, config.leaseTtlMs * LEASE_PATIENCE_TTLS);
  const leaseSql = pool(1, ' leases', leasePatienceMs);
  const healthSql = pool(1, ' health', WRITER_PATIENCE_MS, { probe: true });
  const maintenanceSql = pool(1, ' maintenance', undefined);
  const { applied, version } = await prepare(config, database, name, log, processShare);
  if (applied.length > 0) log.info({ applied, version }, 'schema brought up to date');
  await openConnections(commitSql, COMMIT_POOL_SIZE);
  await openConnections(writerSql, WRITER_POOL_SIZE);
  await openConnections(healthSql, 1);
  const breaker = new CircuitBreaker(
    () => ping(healthSql),
    (isOpen) => {
      if (isOpen) log.error('the database does not answer: requests that need the database are refused');
      else log.info('the database answers again');
    },
  );
  lifecycle.add('circuit breaker of the database', () => breaker.stop());
  signal.throwIfAborted();

  const { tls: files, hostname } = config;
  // All processes on one port show one certificate.
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
    sql,
    commitSql,
    writerSql,
    searchSql,
    messagesSql,
    leaseSql,
    healthSql,
    breaker,
    maintenanceSql,
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

/** The connections to the database that nodes keep, `processes` of one parent together. */
export function connectionsOf(processes: number): number {
  const { sql, search, messages } = poolSizes(processes);
  return processes * (sql + search + messages + COMMIT_POOL_SIZE + WRITER_POOL_SIZE + SINGLE_CONNECTIONS);
}

/** On a connection of its own: a migration, or waiting for another node's, takes as long as it takes. */
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
    // Once, before the database refuses connections under load.
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
