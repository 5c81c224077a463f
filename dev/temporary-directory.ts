// Temporary directories of a test process, removed however it ends. One shell per process gets their names line by line.
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// A PostgreSQL that still runs in one of them is ended first; its pid is trusted only if its command line matches. A directory that a test
// has mounted is unmounted.
const SWEEP = `
  while read -r line; do set -- "$@" "$line"; done
  for dir; do
    pid=$(find "$dir" -maxdepth 3 -name postmaster.pid -exec head -n 1 {} \\; 2>/dev/null | head -n 1)
    [ -n "$pid" ] && ps -o args= -p "$pid" | grep -qF "$dir" && kill -QUIT "$pid"
    umount -l "$dir" 2>/dev/null
  done
  for attempt in 1 2 3 4 5; do rm -rf "$@" && break; sleep 1; done`;

/** A file system in memory: what a process has written there survives its kill, as on a disk, and syncing costs nothing. */
const IN_MEMORY = '/dev/shm';
/** The necessary room in octets: several times what a run of all tests uses at once. */
const ROOM_OCTETS = 6e9;

let sweeper: ChildProcess | undefined;
let parent: string | undefined;

/** The directory is in memory if there is room. */
export function temporaryDirectory(prefix = 'mansio-test-'): string {
  parent ??= roomInMemory() ? IN_MEMORY : tmpdir();
  return directoryBelow(parent, prefix);
}

/** Returns a directory for measurements, and for data that may grow. */
export function temporaryDirectoryOnDisk(prefix: string): string {
  return directoryBelow(tmpdir(), prefix);
}

function directoryBelow(parent: string, prefix: string): string {
  const directory = mkdtempSync(join(parent, prefix));
  // A node of root runs its database as another user.
  chmodSync(directory, 0o711);
  sweeper ??= startSweeper();
  sweeper.stdin?.write(`${directory}\n`);
  return directory;
}

function roomInMemory(): boolean {
  try {
    accessSync(IN_MEMORY, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ROOM_OCTETS && process.availableMemory() >= ROOM_OCTETS;
  } catch {
    return false;
  }
}

function startSweeper(): ChildProcess {
  const shell = spawn('/bin/sh', ['-c', SWEEP], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  return shell;
}
