// Port: counts group commits for the metrics of the node. It is called once per write, so it must not throw.
import type { StoreFault } from './errors.js';

export interface CommitMeter {
  /** A write of this many items ended; `ok`: they are committed. */
  written(items: number, ms: number, ok: boolean): void;
  /** The reason why the last write was not committed. */
  failed?(fault: StoreFault): void;
}
