// New databases for tests, made in the server of the run (`test/run.ts`). When a file runs by itself, they are made in a server that is
// started at the first request and ends with the process.
import { startPostgresServer } from '../../../dev/servers/postgres-server.js';
import { DATABASE as MIGRATED, USER } from '../../../src/store/embedded/server.js';
import {
  connect,
  type DatabaseAddress,
  type PoolOptions,
  type Sql,
} from '../../../src/store/postgres/driver/client.js';
import { preparedDirectory } from './prepared-cluster.js';

export interface TestDatabase {
  readonly address: DatabaseAddress;
  drop(): Promise<void>;
}

/** The part of AVA's `t` that is used. */
export interface Teardown {
  teardown(work: () => Promise<void>): void;
}

/** The environment variable with the port of the run's server. */
export const RUN_SERVER = 'TEST_POSTGRES_PORT';
const HOST = '127.0.0.1';
const SETTINGS = { shared_buffers: '128MB', max_connections: '500', max_wal_size: '512MB' };
let port: Promise<number> | undefined;
let count = 0;

/** Creates an empty database, dropped by `t`'s teardown or by `drop`. */
export function testDatabase(t?: Teardown): Promise<TestDatabase> {
  return create('template1', t);
}

/** Creates a database with the schema, dropped in the same way. */
export function migratedDatabase(t?: Teardown): Promise<TestDatabase> {
  return create(MIGRATED, t);
}

/** Opens connections to a database of its own with the schema; `t`'s teardown ends them and drops it. */
export async function migratedSql(t: Teardown, options: Omit<PoolOptions, 'applicationName'>): Promise<Sql> {
  const { address } = await migratedDatabase(t);
  const sql = connect(address, { ...options, applicationName: 'test' });
  t.teardown(() => sql.end({ timeout: 5 }));
  return sql;
}

/** Creates a database with the schema for nodes: `url` is the value of DATABASE_URL. */
export async function nodeDatabase(): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const { address, drop } = await migratedDatabase();
  return { url: `postgres://${USER}@${HOST}:${address.port}/${address.database}`, drop };
}

/** The server is stopped and removed with the process. */
export async function startTestServer() {
  return startPostgresServer({ dataDir: await preparedDirectory('mansio-test-db-'), settings: SETTINGS });
}

async function create(from: string, t?: Teardown): Promise<TestDatabase> {
  port ??= serverPort();
  const server = { host: HOST, port: await port, user: USER };
  const database = `test_${process.pid}_${++count}`;
  // A copy of the files takes 50 ms, a copy through the log (`wal_log`) 400.
  await asAdmin(server, (sql) => sql.unsafe(`create database ${database} template ${from} strategy file_copy`));
  const drop = async () => {
    await asAdmin(server, (sql) => sql.unsafe(`drop database if exists ${database} with (force)`));
  };
  t?.teardown(drop);
  return { address: { ...server, database }, drop };
}

async function serverPort(): Promise<number> {
  const given = process.env[RUN_SERVER];
  return given === undefined ? (await startTestServer()).port : Number(given);
}

async function asAdmin(server: DatabaseAddress, work: (sql: Sql) => Promise<unknown>): Promise<void> {
  const sql = connect({ ...server, database: 'postgres' }, { max: 1, applicationName: 'test admin' });
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}
