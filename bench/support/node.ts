// A whole node for benchmarks: bin/mansio in a new data directory on free ports, with accounts made directly in its store (one command per
// account would take longer than the benchmark).
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { UNLIMITED } from '../../dev/node-process.js';
import { newApiKey } from '../../src/actors/directory/api-key.js';
import type { Scope } from '../../src/store/directory.js';
import { findEmbedded } from '../../src/store/embedded/embedded.js';
import { postgresDirectory } from '../../src/store/postgres/accounts/directory.js';
import { connect, type DatabaseAddress, openConnections } from '../../src/store/postgres/driver/client.js';

export const SHARDS = 256;
/** `BENCH_NODE_OPTIONS=--cpu-prof` profiles the node. */
const profiling = process.env['BENCH_NODE_OPTIONS']?.split(' ') ?? [];

export interface BenchAccount {
  readonly id: string;
  readonly email: string;
}

export interface BenchNode {
  readonly process: ChildProcess;
  readonly database: DatabaseAddress;
  /** The id of the embedded database's first process. */
  readonly databasePid: number;
  port(listener: string): number;
  createAccounts(count: number): Promise<BenchAccount[]>;
  /** Returns the text of a new key, with scope `app` unless others are named. */
  createKey(accountId: string, scopes?: readonly Scope[]): Promise<string>;
  /** Kills the node and resolves when another one runs in its data directory, on other ports. */
  replace(): Promise<void>;
  stop(): Promise<void>;
  /** Stops the node and moves its data directory to this path, from which nodes can be started; it must be on the same file system. */
  stopAndKeep(path: string): Promise<void>;
}

/** `kept` is a data directory that was kept: the node gets a copy with its accounts. */
export async function startBenchNode(
  environment: Readonly<Record<string, string>> = {},
  kept?: string,
): Promise<BenchNode> {
  const dataDir = await mkdtemp(join(tmpdir(), 'mansio-bench-'));
  // The copy keeps the owners of the files: a node of root runs its database as another user.
  if (kept !== undefined) await promisify(execFile)('cp', ['--archive', '--reflink=auto', `${kept}/.`, dataDir]);
  let running = await start(dataDir, environment);
  return {
    get process() {
      return running.child;
    },
    get database() {
      return running.database;
    },
    get databasePid() {
      return running.databasePid;
    },
    port: (listener) => Number(running.listeners[listener]!.replace(/^.*:/, '')),
    createAccounts: (count) =>
      Promise.all(
        Array.from({ length: count }, () =>
          running.directory.createAccount(`user-${randomBytes(6).toString('hex')}@example.test`, 'Bench'),
        ),
      ),
    async createKey(accountId, scopes = ['app']) {
      const key = newApiKey(randomBytes);
      const { prefix, hash } = key;
      await running.directory.createKey({ accountId, name: 'bench', scopes, serviceWide: false, prefix, hash });
      return key.apiKey;
    },
    async replace() {
      await end(running, 'SIGKILL');
      running = await start(dataDir, environment);
    },
    async stop() {
      await end(running, 'SIGTERM');
      await rm(dataDir, { recursive: true, force: true });
    },
    async stopAndKeep(path) {
      await end(running, 'SIGTERM');
      await rename(dataDir, path);
    },
  };
}

async function start(dataDir: string, environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [...profiling, '--', 'bin/mansio', 'serve'], {
    env: {
      ...process.env,
      ...UNLIMITED,
      MANSIO_DATA_DIR: dataDir,
      MANSIO_HTTP_PORT: '0',
      MANSIO_MX_PORT: '0',
      MANSIO_SUBMISSION_PORT: '0',
      MANSIO_SUBMISSIONS_PORT: '0',
      MANSIO_IMAP_PORT: '0',
      MANSIO_IMAPS_PORT: '0',
      MANSIO_POP3_PORT: '0',
      MANSIO_POP3S_PORT: '0',
      MANSIO_SIEVE_PORT: '0',
      MANSIO_HOSTED_DOMAINS: 'example.test',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const listeners = await ready(child);
  const database = await findEmbedded(dataDir);
  if (database === undefined) throw new Error('the node has no embedded database');
  const sql = connect(database, { max: 4, applicationName: 'bench' });
  // The driver learns the types of arrays from the first connection, and would write the arrays of the first statement wrongly.
  await openConnections(sql, 1);
  return {
    child,
    listeners,
    database,
    databasePid: Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]),
    sql,
    directory: postgresDirectory(sql, SHARDS),
  };
}

async function end({ child, sql }: Awaited<ReturnType<typeof start>>, signal: NodeJS.Signals): Promise<void> {
  await sql.end();
  child.kill(signal);
  await once(child, 'exit');
}

/** Returns the listeners of the ready line; later output is read and dropped, so that the node never waits for a reader. */
async function ready(child: ChildProcess): Promise<Record<string, string>> {
  const lines = createInterface({ input: child.stdout! });
  return await new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the node ended with code ${code} before it was ready`)));
    lines.on('line', (line) => {
      if (!line.startsWith('{"event":"ready"')) return;
      resolve(JSON.parse(line).listeners);
      lines.close();
      child.stdout!.resume();
    });
  });
}
