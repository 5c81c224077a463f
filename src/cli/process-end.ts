// The end of every process of `mansio serve`: it waits for the request to stop, and logs a bug before it dies of it.
import { once } from 'node:events';
import type { LogOutput } from '../node/log.js';

export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  // A handler of signals alone does not keep a process running.
  const awake = setInterval(() => {}, 2 ** 30);
  await once(signal, 'abort');
  clearInterval(awake);
}

export function dieOfBugs({ log, flush }: LogOutput): void {
  const die = (error: unknown) => {
    log.fatal({ err: error }, 'a bug: the node ends, a restart recovers');
    void flush().finally(() => process.exit(1));
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}
