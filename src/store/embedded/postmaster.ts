// The server process of one cluster as its postmaster.pid tells it: whether it is alive, ready, and where it listens;
// and how to end one that nobody owns any more.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LocalFault } from '../local-fault.js';
import { commandOf, identityOf, isAlive } from '../process-identity.js';

export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly socketDirectory: string;
  readonly ready: boolean;
}

/** The live postmaster of the cluster in `directory`; undefined when none runs. */
export function findPostmaster(directory: string): Postmaster | undefined {
  let lines: string[];
  try {
    lines = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return undefined;
  }
  const pid = Number(lines[0]);
  if (identityOf(pid) === undefined) return undefined;
  // After a crash of the machine the pid may be anybody's.
  const command = commandOf(pid);
  if (!command.includes('postgres') || !command.includes(directory)) return undefined;
  return {
    pid,
    port: Number(lines[3] ?? 0),
    socketDirectory: lines[4]?.trim() ?? '',
    ready: lines[7]?.trim() === 'ready',
  };
}

/** Shuts it down (SIGINT: fast, with a checkpoint) and waits; past `boundMs` without the checkpoint. */
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
    for (const end = Date.now() + boundMs; Date.now() < end; await delay(10)) if (!isAlive(identity)) return;
  }
  throw new LocalFault(`the PostgreSQL left over from an earlier run (process ${pid}) does not stop`);
}
