// Acts when this process is gone, however it ended, including by kill -9: a shell waits until its stdin, a pipe from the process, is
// closed.
import { spawn } from 'node:child_process';

/** Runs `script` in sh, with `args` as $1…, as soon as this process is gone; the returned function cancels it. */
export function whenGone(script: string, ...args: readonly string[]): () => void {
  const shell = spawn('/bin/sh', ['-c', `read -r _; ${script}`, 'watchdog', ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  return () => void shell.kill('SIGKILL');
}
