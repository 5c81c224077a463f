// Which group commits fail for a reason that lies in the database, for the health check: a full disk refuses mail while the
// small commits of heartbeats still find room.
import type { CommitMeter } from './commit-meter.js';

/** The health check shows a failure for so long, unless a commit of its group succeeds before. */
const SHOWN_MS = 60_000;

export class CommitWatch {
  /** Groups whose last commit failed, and when, by the monotonic clock. */
  readonly #failures = new Map<string, number>();

  /** For the commits of one group; `beside` gets the same calls. */
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

  /** A group whose commits fail at present. The log has the reason: the health check is public. */
  get failing(): string | undefined {
    const since = performance.now() - SHOWN_MS;
    return [...this.#failures].find(([, at]) => at > since)?.[0];
  }
}
