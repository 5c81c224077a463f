// The embedded PostgreSQL: a real server below Mansio's data directory, reachable only over a Unix socket. This file creates the
// cluster at the first start, ends the leftover server of a killed node, restarts the server when it dies, and stops it last.
// `postgres/` has the schema and the connections.
import type { ChildProcess } from 'node:child_process';
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type DataDirectory, openDataDirectory } from '../local/data-directory.js';
import { LocalFault } from '../local/local-fault.js';
import type { DatabaseAddress } from '../postgres/driver/client.js';
import { findBinaries } from './binaries.js';
import { databaseUser, launcher } from './database-user.js';
import { endOrphans, endPostmaster, findPostmaster, removeTornPidFile } from './postmaster.js';
import { type Cluster, createCluster, DATABASE, startServer, stopServer, USER } from './server.js';
import { socketDirectory } from './socket-directory.js';

export interface EmbeddedOptions {
  /** The cluster is in `postgres/` below it; a directory that is already opened is released by its opener. */
  readonly dataDir: string | DataDirectory;
  readonly log: Logger;
  /** Settings of the server that override the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedDatabase {
  readonly address: DatabaseAddress;
  /** False when the server belongs to another process; `stop` then leaves it running. */
  readonly owned: boolean;
  readonly pid: number;
  stop(): Promise<void>;
}

const LEFTOVER_STOP_MS = 15_000;
const STOP_MS = 5_000;
const RESTART_MS = 500;
/** Attempts during which processes without a postmaster may end by themselves. */
const ORPHANED_AFTER = 6;
const PASSING = /pre-existing shared memory block|lock file "postmaster\.pid" already exists/;

/** The address of the running embedded database, for commands that run next to a node; undefined when none runs. */
export function findEmbedded(dataDir: string): DatabaseAddress | undefined {
  if (!existsSync(join(dataDir, 'postgres'))) return undefined;
  const postmaster = findPostmaster(join(realpathSync(dataDir), 'postgres'));
  if (postmaster === undefined || !postmaster.ready) return undefined;
  return addressOf(postmaster.socketDirectory, postmaster.port);
}

/** @throws LocalFault that says what the operator can do. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const opened = typeof options.dataDir === 'string' ? openDataDirectory(options.dataDir) : undefined;
  const directory = opened ?? (options.dataDir as DataDirectory);
  try {
    return await start(directory.path, options, () => opened?.release());
  } catch (error) {
    opened?.release();
    throw error;
  }
}

async function start(
  dataDirectory: string,
  { log, settings = {} }: EmbeddedOptions,
  stopped: () => void,
): Promise<EmbeddedDatabase> {
  const directory = join(dataDirectory, 'postgres');
  const user = databaseUser(directory);
  const binaries = findBinaries();
  const launch = launcher(user, binaries, directory);
  await endLeftover(directory, log);
  const sockets = socketDirectory(dataDirectory, user);
  const cluster: Cluster = { directory, sockets, user, binaries, launch, settings };
  if (!existsSync(join(directory, 'PG_VERSION'))) {
    if (existsSync(directory)) throw new LocalFault(`${directory} exists but holds no database: move it away`);
    log.info({ directory }, 'creating the embedded database');
    createCluster(cluster);
  }
  return supervise(cluster, log, await startPatiently(cluster, log), stopped);
}

function addressOf(host: string, port: number): DatabaseAddress {
  return { host, port, user: USER, database: DATABASE };
}

async function endLeftover(directory: string, log: Logger): Promise<void> {
  if (await removeTornPidFile(directory, LEFTOVER_STOP_MS)) {
    log.warn({ directory }, 'removed a postmaster.pid that named no process');
  }
  const leftover = findPostmaster(directory);
  if (leftover === undefined) return;
  log.warn({ pid: leftover.pid }, 'stopping the database left over from a node that was killed');
  await endPostmaster(leftover.pid, LEFTOVER_STOP_MS);
}

/**
 * Children of a killed postmaster hold the cluster until they notice; a postmaster that a killed node had just started may appear
 * late. Both end by themselves, or the children are stopped.
 */
async function startPatiently(cluster: Cluster, log: Logger): Promise<ChildProcess> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startServer(cluster);
    } catch (error) {
      const passing = error instanceof LocalFault && PASSING.test(error.message);
      if (!passing || attempt === 20) throw error;
      if (attempt >= ORPHANED_AFTER) endOrphans(cluster.directory);
      await delay(RESTART_MS);
      await endLeftover(cluster.directory, log);
    }
  }
}

function supervise(cluster: Cluster, log: Logger, first: ChildProcess, stopped: () => void): EmbeddedDatabase {
  let child = first;
  let stopping = false;
  let restarting: Promise<void> | undefined;
  // When the node exits without `stop`, after a second signal or a bug, this signal makes the server shut down.
  const orphan = () => child.kill('SIGINT');
  process.once('exit', orphan);

  const watch = () => {
    child.once('exit', (code, signal) => {
      if (stopping) return;
      log.error({ code, signal }, 'the embedded database ended: starting it again');
      restarting = restart().finally(() => {
        restarting = undefined;
      });
    });
  };
  const restart = async () => {
    while (!stopping) {
      try {
        child = await startPatiently(cluster, log);
        watch();
        return;
      } catch (error) {
        log.error({ err: error }, 'the embedded database does not start');
        await delay(RESTART_MS);
      }
    }
  };
  watch();

  return {
    address: addressOf(cluster.sockets, 5432),
    owned: true,
    get pid() {
      return child.pid ?? 0;
    },
    async stop() {
      stopping = true;
      await restarting;
      await stopServer(child, STOP_MS);
      process.off('exit', orphan);
      // Remove a socket directory in the temporary directory; the next start creates it again.
      if (dirname(cluster.sockets) !== dirname(cluster.directory))
        rmSync(cluster.sockets, { recursive: true, force: true });
      stopped();
    },
  };
}
