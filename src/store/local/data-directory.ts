// The data directory of one node: created when missing, used by one process at a time. It keeps values that are generated once.
// The lock is a numbered file `mansio.lock.N` that names its process; the highest number counts. link(2) takes a number, and only
// one process can win that, so the take-over from a dead process has no gap.
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { LocalFault } from './local-fault.js';
import { identityOf, isAlive, type ProcessIdentity } from './process-identity.js';
import { writeWhole } from './whole-file.js';

export interface DataDirectory {
  /** Absolute, symbolic links resolved. */
  readonly path: string;
  /** Returns the text in the file `name` (mode 0600); writes `initial()` when there is none. */
  keep(name: string, initial: () => string): string;
  release(): void;
}

/** @throws LocalFault when another live process holds the directory or it is not writable. */
export function openDataDirectory(path: string): DataDirectory {
  const real = prepare(path);
  const lock = take(real);
  return {
    path: real,
    keep: (name, initial) => keep(join(real, name), initial),
    release: () => rmSync(lock, { force: true }),
  };
}

/** The live process that holds the directory, if any. @throws LocalFault when its lock file cannot be read */
export function holderOf(path: string): ProcessIdentity | undefined {
  const generation = generations(path).at(-1);
  const holder = generation === undefined ? undefined : read(lockPath(path, generation));
  return holder !== undefined && isAlive(holder) ? holder : undefined;
}

/** Writes the whole file or nothing; only the owner can read it. */
export function writePrivate(path: string, content: string): void {
  // A file that root writes into another user's directory belongs to that user, who may run the next start.
  const above = process.getuid?.() === 0 ? statSync(dirname(path)) : undefined;
  writeWhole(path, content, { mode: 0o600, owner: above?.uid === 0 ? undefined : above });
}

function prepare(path: string): string {
  try {
    // When Mansio is root, the database runs as another user, who must pass this directory; secret files in it have their own
    // mode.
    makeDirectory(path, process.getuid?.() === 0 ? 0o711 : 0o700);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return realpathSync(path);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const why = WHY_UNUSABLE[code] ?? message;
    throw new LocalFault(`cannot use the data directory ${path} (MANSIO_DATA_DIR): ${why}`);
  }
}

const WHY_UNUSABLE: Readonly<Record<string, string>> = {
  EEXIST: 'it is not a directory',
  ENOTDIR: 'it is not a directory',
  EACCES: 'Mansio may not write there',
  EPERM: 'Mansio may not write there',
  EROFS: 'the file system is read-only',
  ENOENT: 'the system makes no directory there',
};

/**
 * The `recursive` option of mkdir is not used: Node 20 to 24 loop forever where the system creates no directories, such as below
 * /proc.
 */
export function makeDirectory(path: string, mode: number): void {
  if (!existsSync(path)) makeDirectory(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

function take(directory: string): string {
  const self = identityOf(process.pid);
  if (self === undefined) throw new Error('this process has no identity');
  const temporary = join(directory, `mansio.lock-${process.pid}-${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(temporary, JSON.stringify(self), { mode: 0o600, flag: 'wx' });
    // Root and the user of the service look for each other here, whatever the umask is.
    chmodSync(temporary, 0o644);
    for (;;) {
      const seen = generations(directory);
      refuseIfLocked(directory, seen);
      const next = (seen.at(-1) ?? 0) + 1;
      const path = lockPath(directory, next);
      try {
        linkSync(temporary, path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
        throw error;
      }
      // Other processes may have started and ended since `seen`, so the number may be old: a process with a higher one holds the
      // lock.
      try {
        refuseIfLocked(
          directory,
          generations(directory).filter((other) => other > next),
        );
      } catch (error) {
        rmSync(path, { force: true });
        throw error;
      }
      for (const old of generations(directory)) if (old < next) rmSync(lockPath(directory, old), { force: true });
      return path;
    }
  } finally {
    rmSync(temporary, { force: true });
  }
}

function refuseIfLocked(directory: string, among: readonly number[]): void {
  for (const generation of among) {
    const holder = read(lockPath(directory, generation));
    if (holder === undefined || !isAlive(holder)) continue;
    throw new LocalFault(
      `the data directory ${directory} is in use by another running Mansio (process ${holder.pid}): ` +
        'stop that one, or give this one a directory of its own with MANSIO_DATA_DIR',
    );
  }
}

function generations(directory: string): number[] {
  const found: number[] = [];
  for (const name of readdirSync(directory)) {
    const match = /^mansio\.lock\.(\d+)$/.exec(name);
    if (match) found.push(Number(match[1]));
  }
  return found.sort((a, b) => a - b);
}

function lockPath(directory: string, generation: number): string {
  return join(directory, `mansio.lock.${generation}`);
}

/** @throws LocalFault when another user keeps the file closed: its process may be alive */
function read(path: string): ProcessIdentity | undefined {
  try {
    const { pid, started } = JSON.parse(readFileSync(path, 'utf8'));
    return { pid: Number(pid), started: String(started) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return undefined;
    throw new LocalFault(
      `${path} cannot be read, so another user's Mansio may use the data directory: stop it, or delete the file when none runs`,
    );
  }
}

function keep(path: string, initial: () => string): string {
  const kept = readIfThere(path);
  if (kept !== '') {
    chmodSync(path, 0o600);
    return kept;
  }
  writePrivate(path, `${initial()}\n`);
  return readIfThere(path);
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
