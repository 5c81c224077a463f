// Periodically deletes what interrupted merges of the search index have left. The next merge of an account deletes it too, but an inactive
// account has no merges.
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { SearchStore } from '../../store/search.js';

/** Longer than any merge takes: a segment that is unfinished in two passes belongs to no running merge on any node. */
const POLL_MS = 60 * 60_000;

export interface MergeClearing {
  stop(): Promise<void>;
}

export interface MergeClearingOptions {
  readonly store: Pick<SearchStore, 'clear'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly pollMs?: number;
}

export function startMergeClearing({ store, log, pollMs = POLL_MS }: MergeClearingOptions): MergeClearing {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    let seen: ReadonlySet<number> = new Set();
    while (!signal.aborted) {
      try {
        seen = await store.clear(seen, signal);
      } catch (err) {
        if (!signal.aborted) log.warn({ err }, 'what merges of the search index have left could not be deleted');
      }
      await pause(pollMs, undefined, { signal }).catch(() => {});
    }
  }
  const running = run();

  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
