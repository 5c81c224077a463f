// Databases for tests: one embedded cluster a test process, started when first asked for and gone with the process; a
// fresh database a call.
import { pino } from 'pino';
import { DATABASE as MIGRATED } from '../../src/store/embedded/server.js';
import { startEmbedded } from '../../src/store/embedded.js';
import { connect, type DatabaseAddress, type Sql } from '../../src/store/postgres/client.js';
import { preparedDirectory } from './prepared-cluster.js';

export interface TestDatabase {
  readonly address: DatabaseAddress;
  drop(): Promise<void>;
}

/** The part of AVA's `t` that is used. */
export interface Teardown {
  teardown(work: () => Promise<void>): void;
}

const SETTINGS = { shared_buffers: '32MB', max_connections: '200', max_wal_size: '256MB' };
let cluster: Promise<DatabaseAddress> | undefined;
let count = 0;

/** An empty database, dropped by `t`'s teardown or by `drop`. */
export function testDatabase(t?: Teardown): Promise<TestDatabase> {
  return create('template1', t);
}

/** The same with the schema in it. */
export function migratedDatabase(t?: Teardown): Promise<TestDatabase> {
  return create(MIGRATED, t);
}

async function create(from: string, t?: Teardown): Promise<TestDatabase> {
  cluster ??= startCluster();
  const server = await cluster;
  const database = `test_${++count}`;
  await asAdmin(server, (sql) => sql.unsafe(`create database ${database} template ${from} strategy file_copy`));
  const drop = async () => {
    await asAdmin(server, (sql) => sql.unsafe(`drop database if exists ${database} with (force)`));
  };
  t?.teardown(drop);
  return { address: { ...server, database }, drop };
}

async function startCluster(): Promise<DatabaseAddress> {
  const { address } = await startEmbedded({
    dataDir: await preparedDirectory('mansio-test-db-'),
    log: pino({ level: 'silent' }),
    settings: SETTINGS,
  });
  return address;
}

async function asAdmin(server: DatabaseAddress, work: (sql: Sql) => Promise<unknown>): Promise<void> {
  const sql = connect({ ...server, database: 'postgres' }, { max: 1, applicationName: 'test admin' });
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}
