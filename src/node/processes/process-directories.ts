// The data directories of the processes of one parent, below its own: each contains a spool, and nothing that has to survive.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { holderOf } from '../../store/local/data-directory.js';
import { LocalFault } from '../../store/local/local-fault.js';

/** The directory that contains these directories, which are named by number. */
export const PROCESSES = 'processes';

/** Longer than a process without a parent takes to end. */
const LEFT_MS = 15_000;
const LOOK_MS = 50;

/**
 * Waits for processes of an earlier parent that was killed, and removes the directories that `count` processes do not use.
 * @throws LocalFault when one of the processes does not end
 */
export async function clearLeftDirectories(
  directory: string,
  count: number,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const parent = join(directory, PROCESSES);
  if (!existsSync(parent)) return;
  const until = performance.now() + LEFT_MS;
  let isSaid = false;
  const found = readdirSync(parent, { withFileTypes: true }).filter(
    (each) => each.isDirectory() && /^\d+$/.test(each.name),
  );
  for (const { name } of found) {
    const path = join(parent, name);
    for (;;) {
      signal.throwIfAborted();
      const holder = holderOf(path);
      if (holder === undefined) break;
      if (performance.now() > until)
        throw new LocalFault(
          `process ${holder.pid} of an earlier Mansio does not end and holds ${path}: stop it first`,
        );
      if (!isSaid) log.warn({ pid: holder.pid }, 'waiting for the processes of an earlier parent to end');
      isSaid = true;
      await delay(LOOK_MS);
    }
    if (Number(name) > count) rmSync(path, { recursive: true, force: true });
  }
}
