// Acts when this process is gone, however it ended, kill -9 included: a shell that waits for its stdin, a pipe from the
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
