// The server process of one cluster as its postmaster.pid describes it: whether it is alive and ready, and where it listens. Also
// ends a server that nobody owns.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LocalFault } from '../local/local-fault.js';
import { commandOf, identityOf, isAlive, processesAt } from '../local/process-identity.js';

const PID_FILE = 'postmaster.pid';
const WRITING_MS = 100;
/** Time for processes that have lost their postmaster to notice it. */
const ORPHANS_MS = 3_000;

export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly socketDirectory: string;
  readonly ready: boolean;
}

/** The live postmaster of the cluster in `directory`; undefined when none runs. */
export function findPostmaster(directory: string): Postmaster | undefined {
  const lines = readPidFile(directory)?.split('\n');
  if (lines === undefined) return undefined;
  const pid = Number(lines[0]);
  // After a crash of the machine, the pid may belong to any process.
  if (identityOf(pid) === undefined || !isPostmaster(pid, directory)) return undefined;
  return {
    pid,
    port: Number(lines[3] ?? 0),
    socketDirectory: lines[4]?.trim() ?? '',
    ready: lines[7]?.trim() === 'ready',
  };
}

/**
 * Removes a pid file that names no process, as a power cut leaves it: PostgreSQL refuses to start with such a file. If a server
 * is running whose file was torn while the disk was full, it is ended first. Returns false when the file is whole or missing.
 */
export async function removeTornPidFile(directory: string, boundMs: number): Promise<boolean> {
  if (!isTorn(directory)) return false;
  const began = performance.now();
  // A starting server writes the file in two steps.
  await delay(WRITING_MS);
  for (let running = processesAt(directory); running.length > 0; running = processesAt(directory)) {
    if (!isTorn(directory)) return false;
    const postmaster = running.find((pid) => isPostmaster(pid, directory));
    if (postmaster !== undefined) await endPostmaster(postmaster, boundMs);
    else if (performance.now() > began + boundMs) {
      throw new LocalFault(`processes ${running.join(', ')} still use the database in ${directory}: end them`);
    } else {
      if (performance.now() > began + ORPHANS_MS) endOrphans(directory);
      await delay(10);
    }
  }
  if (!isTorn(directory)) return false;
  rmSync(join(directory, PID_FILE), { force: true });
  return true;
}

/**
 * Kills processes of a server whose postmaster is gone. They end by themselves when they notice, unless they are stopped or hang;
 * the recovery of the next start rolls back what they had not committed.
 */
export function endOrphans(directory: string): void {
  const running = processesAt(directory);
  if (running.some((pid) => isPostmaster(pid, directory))) return;
  for (const pid of running) {
    // The working directory of a shell may be here too.
    if (!commandOf(pid).startsWith('postgres:')) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

/** Shuts it down (SIGINT: fast, with a checkpoint) and waits; after `boundMs` it is ended without the checkpoint. */
export async function endPostmaster(pid: number, boundMs: number): Promise<void> {
  const identity = identityOf(pid);
  if (identity === undefined) return;
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw new LocalFault(`cannot stop the PostgreSQL left over from an earlier run (process ${pid}): ${error}`);
    }
    for (const end = performance.now() + boundMs; performance.now() < end; await delay(10))
      if (!isAlive(identity)) return;
  }
  throw new LocalFault(`the PostgreSQL left over from an earlier run (process ${pid}) does not stop`);
}

function readPidFile(directory: string): string | undefined {
  try {
    return readFileSync(join(directory, PID_FILE), 'utf8');
  } catch {
    return undefined;
  }
}

/** PostgreSQL reads a number first; a negative one means a server in single-user mode. */
function isTorn(directory: string): boolean {
  const text = readPidFile(directory);
  return text !== undefined && !/^\s*[+-]?0*[1-9]/.test(text);
}

function isPostmaster(pid: number, directory: string): boolean {
  const command = commandOf(pid);
  return command.includes('postgres') && command.includes(directory);
}
