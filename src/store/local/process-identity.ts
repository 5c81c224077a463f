// Distinguishes a process from a later one with the same pid, by pid, start time and boot. Linux reads /proc, other systems ask
// ps.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** Unique per pid; '' when the system hides it. */
  readonly started: string;
}

/** Returns undefined when no such process runs; a process that has ended but was not reaped does not run. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined;
  }
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

export function isAlive(identity: ProcessIdentity): boolean {
  const now = identityOf(identity.pid);
  if (now === undefined) return false;
  return now.started === '' || identity.started === '' || now.started === identity.started;
}

/** The command line of a process, arguments separated by spaces; '' when it is not visible. */
export function commandOf(pid: number): string {
  if (process.platform !== 'linux') return ps('command', pid);
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/**
 * Processes whose working directory this is; where the system does not show that, processes with the directory in their command
 * line.
 */
export function processesAt(directory: string): number[] {
  if (process.platform === 'linux') {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => directoryOf(pid) === directory && identityOf(pid) !== undefined);
  }
  const { stdout } = spawnSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8' });
  const lines = stdout.split('\n').filter((line) => line.includes(directory));
  return lines.map((line) => Number.parseInt(line, 10)).filter((pid) => pid !== process.pid);
}

function directoryOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

function fromProc(pid: number): ProcessIdentity | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // The process exists but is hidden (hidepid), or has just ended: it is safer to treat it as alive.
    return { pid, started: '' };
  }
  // proc(5): the second field is the name in parentheses and may hold spaces; state is field 3, starttime field 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return { pid, started: `${bootId()}/${fields[19] ?? ''}` };
}

function fromPs(pid: number): ProcessIdentity | undefined {
  return { pid, started: ps('lstart', pid) };
}

function ps(column: string, pid: number): string {
  return spawnSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? '';
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'boot';
  }
}
