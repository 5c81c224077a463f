// Port: counts of group commits for the node's metrics. Called once a write, so it must not throw.
import type { StoreFault } from './errors.js';

export interface CommitMeter {
  /** A write of so many items ended; `ok`: they are committed. */
  written(items: number, ms: number, ok: boolean): void;
  /** Why the write that ended last was not committed. */
  failed?(fault: StoreFault): void;
}
