// Temporary directories of a test process, removed however it ends. One shell a process learns of them line by line.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// A PostgreSQL that still runs in one of them is ended first; its pid is believed only while its command line agrees.
const SWEEP = `
  while read -r line; do set -- "$@" "$line"; done
  for dir; do
    pid=$(find "$dir" -maxdepth 3 -name postmaster.pid -exec head -n 1 {} \\; 2>/dev/null | head -n 1)
    [ -n "$pid" ] && ps -o args= -p "$pid" | grep -qF "$dir" && kill -QUIT "$pid"
  done
  for attempt in 1 2 3 4 5; do rm -rf "$@" && break; sleep 1; done`;

let sweeper: ChildProcess | undefined;

export function temporaryDirectory(prefix = 'mansio-test-'): string {
  const directory = mkdtempSync(join(tmpdir(), prefix));
  // Root's database runs as another user.
  chmodSync(directory, 0o711);
  sweeper ??= startSweeper();
  sweeper.stdin?.write(`${directory}\n`);
  return directory;
}

function startSweeper(): ChildProcess {
  const shell = spawn('/bin/sh', ['-c', SWEEP], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  return shell;
}
