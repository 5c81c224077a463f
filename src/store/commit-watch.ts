// Tells the health check which group commits fail for a reason in the database: a full disk refuses mail while the small commits
// of heartbeats still find room.
import type { CommitMeter } from './commit-meter.js';

/** The health check shows a failure for this time, unless a commit of the same group succeeds earlier. */
const SHOWN_MS = 60_000;

export class CommitWatch {
  /** Groups whose last commit failed, with the time on the monotonic clock. */
  readonly #failures = new Map<string, number>();

  /** Returns the meter for the commits of one group; `beside` gets the same calls. */
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

  /** A group whose commits currently fail. Only the log has the reason, because the health check is public. */
  get failing(): string | undefined {
    const since = performance.now() - SHOWN_MS;
    return [...this.#failures].find(([, at]) => at > since)?.[0];
  }
}
