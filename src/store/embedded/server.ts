// One run of the server process of the cluster: started with Mansio's settings, checked to be ready, stopped in bounded time. Its
// owner decides what happens when it ends by itself.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  lchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { atMost } from '../../concurrency/time-bounds.js';
import { LocalFault } from '../local/local-fault.js';
import { syncDirectory } from '../local/whole-file.js';
import type { Binaries } from './binaries.js';
import type { DatabaseUser, Launch } from './database-user.js';
import { findPostmaster } from './postmaster.js';
import { PORT } from './socket-directory.js';

export const USER = 'mansio';
export const DATABASE = 'mansio';

export interface Cluster {
  /** The directory of the cluster; PostgreSQL's output goes to `<directory>.start.log` until its log file is open. */
  readonly directory: string;
  readonly sockets: string;
  readonly user: DatabaseUser | undefined;
  readonly binaries: Binaries;
  readonly launch: (program: string, args: readonly string[]) => Launch;
  /** Settings that override those below; for tests. */
  readonly settings: Readonly<Record<string, string>>;
}

// Durability settings are on the command line, where only a session's own setting overrides them.
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  listen_addresses: '',
  max_connections: '50',
  shared_buffers: '256MB',
  // Fewer checkpoints write fewer full-page images; mail is mostly written once.
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  // The packaged programs are built without lz4.
  wal_compression: 'pglz',
  random_page_cost: '1.1',
  // Statements here are short; compiling them costs more than running them.
  jit: 'off',
  log_destination: 'stderr',
  logging_collector: 'on',
  log_directory: 'log',
  // One file per weekday, overwritten a week later.
  log_filename: 'postgresql-%a.log',
  log_rotation_age: '1d',
  log_truncate_on_rotation: 'on',
  log_checkpoints: 'off',
  log_timezone: 'UTC',
};

/** Creates the cluster in one step: it exists completely or not at all. */
export function createCluster(cluster: Cluster): void {
  const parent = dirname(cluster.directory);
  const prefix = `${basename(cluster.directory)}.new-`;
  for (const name of readdirSync(parent)) {
    if (name.startsWith(prefix)) rmSync(join(parent, name), { recursive: true, force: true });
  }
  // Use a unique name: the initdb of a killed node may still be running.
  const fresh = join(parent, `${prefix}${randomBytes(6).toString('hex')}`);
  mkdirSync(fresh, { mode: 0o700 });
  if (cluster.user !== undefined) lchownSync(fresh, cluster.user.uid, cluster.user.gid);
  const { initdb, postgres } = cluster.binaries;
  const shape = ['--encoding=UTF8', '--no-locale', '--data-checksums'];
  run(cluster, initdb, ['-D', fresh, '-U', USER, '--auth=trust', '--no-instructions', ...shape], '');
  // Without this, it also exits with 0 after an error: Ctrl-C, which reaches it as well, would leave a cluster without the
  // database.
  const strict = ['-c', 'exit_on_error=on'];
  run(cluster, postgres, ['--single', ...strict, '-D', fresh, 'postgres'], `create database ${DATABASE};\n`);
  renameSync(fresh, cluster.directory);
  syncDirectory(parent);
}

function run(cluster: Cluster, program: string, programArgs: readonly string[], input: string): void {
  const { command, args, options } = cluster.launch(program, programArgs);
  const done = spawnSync(command, args, { ...options, stdio: 'pipe', input, encoding: 'utf8' });
  if (done.status === 0) return;
  const why = (done.error?.message ?? done.stderr.trim().slice(-2000)) || `exit ${done.status ?? done.signal}`;
  throw new LocalFault(`cannot create the embedded database in ${cluster.directory}: ${why}`);
}

/** @throws LocalFault with PostgreSQL's own words when the server does not start. */
export async function startServer(cluster: Cluster): Promise<ChildProcess> {
  const settings = { ...SETTINGS, unix_socket_permissions: '0700', ...cluster.settings };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const postgresArgs = ['-D', cluster.directory, '-k', cluster.sockets, '-p', String(PORT), ...options];
  const launch = cluster.launch(cluster.binaries.postgres, postgresArgs);
  const said = `${cluster.directory}.start.log`;
  // Use a file, not a pipe: a server that outlives a killed node must not block or fail on it.
  // It is a new file: a link of the directory's owner must not lead root to another one.
  rmSync(said, { force: true });
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const output = openSync(said, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  // The next start may be that user's.
  if (cluster.user !== undefined) fchownSync(output, cluster.user.uid, cluster.user.gid);
  const began = fstatSync(output).mtimeMs;
  // The server gets its own process group: Ctrl-C in the terminal reaches only the node, which stops the database last.
  const stdio = ['ignore', output, output] as ['ignore', number, number];
  const child = spawn(launch.command, launch.args, { ...launch.options, detached: true, stdio });
  closeSync(output);
  // The server must not keep the node alive; the code that started it shuts it down.
  child.unref();
  let ended: string | undefined;
  child.once('error', (error) => {
    ended = error.message;
  });
  child.once('exit', (code, signal) => {
    ended ??= `exit ${code ?? signal}`;
  });
  // Until the caller owns the server, an exit of this process must end it.
  const orphan = () => child.kill('SIGINT');
  process.once('exit', orphan);
  try {
    for (;;) {
      await delay(10);
      if (ended !== undefined)
        throw new LocalFault(`the embedded database does not start: ${lastWords(cluster, said, began, ended)}`);
      const postmaster = findPostmaster(cluster.directory);
      if (postmaster?.ready && postmaster.pid === child.pid) return child;
    }
  } finally {
    process.off('exit', orphan);
  }
}

function lastWords(cluster: Cluster, path: string, since: number, ended: string): string {
  const logs = join(cluster.directory, 'log');
  const said = existsSync(path) ? readFileSync(path, 'utf8').trim().slice(-2000) : '';
  // Once the log file is open, the reason is there.
  const lines = /(?:FATAL|PANIC): /.test(said) ? said : (lastFailure(logs, since) ?? said);
  return `${ended}${lines === '' ? '' : `: ${lines}`} (more in ${logs})`;
}

/** The last line of the log that ended a process of the server; undefined when there is none since this time. */
function lastFailure(logs: string, since: number): string | undefined {
  if (!existsSync(logs)) return undefined;
  const files = readdirSync(logs).map((name) => join(logs, name));
  const written = files.filter((file) => statSync(file).mtimeMs >= since);
  const lines = written.flatMap((file) => readFileSync(file, 'utf8').slice(-8000).split('\n'));
  return lines.findLast((line) => /(?:FATAL|PANIC): /.test(line));
}

/** Shuts down fast; after `boundMs` immediately (the next start replays the log). */
export async function stopServer(child: ChildProcess, boundMs: number): Promise<void> {
  const steps = [
    ['SIGINT', boundMs],
    ['SIGQUIT', 2000],
    ['SIGKILL', 1000],
  ] as const;
  for (const [signal, waitMs] of steps) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    await atMost(exited, waitMs);
  }
}
