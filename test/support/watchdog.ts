// Cleans up after a test process however it ends, kill -9 included: a shell that waits for its stdin, a pipe from the test
// process, to close.
import { spawn } from 'node:child_process';

/** Runs `script` in sh, with `args` as $1…, as soon as this process is gone; the returned function calls it off. */
export function whenGone(script: string, ...args: readonly string[]): () => void {
  const shell = spawn('/bin/sh', ['-c', `read -r _; ${script}`, 'watchdog', ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  return () => void shell.kill('SIGKILL');
}

/** Ends the PostgreSQL below data directory $1 and removes the directory. */
export const REMOVE_DATA_DIRECTORY = `
  pid=$(head -n 1 "$1/postgres/postmaster.pid" 2>/dev/null)
  [ -n "$pid" ] && ps -o args= -p "$pid" | grep -qF "$1" && kill -QUIT "$pid"
  for i in 1 2 3 4 5; do rm -rf "$1" && break; sleep 1; done`;
