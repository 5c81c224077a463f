// Which group commits fail for a reason that lies in the database, for the health check: a full disk refuses mail while the
// small commits of heartbeats still find room.
import type { CommitMeter } from './commit-meter.js';

/** A failure is told for so long, unless a commit of its group succeeds before. */
const TOLD_MS = 60_000;

export class CommitWatch {
  /** Groups whose last commit failed, and when, by the monotonic clock. */
  readonly #failures = new Map<string, number>();

  /** For the commits of one group; `beside` is told the same. */
  meter(group: string, beside?: CommitMeter): CommitMeter {
    return {
      written: (items, ms, ok) => {
        if (ok) this.#failures.delete(group);
        beside?.written(items, ms, ok);
      },
      failed: (fault) => {
        if (fault.code === 'store-unavailable') this.#failures.set(group, performance.now());
        beside?.failed?.(fault);
      },
    };
  }

  /** A group whose commits fail at present. The reason is the log's: anybody may read the health check. */
  get failing(): string | undefined {
    const since = performance.now() - TOLD_MS;
    return [...this.#failures].find(([, at]) => at > since)?.[0];
  }
}
