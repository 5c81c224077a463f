// The time that all nodes share: that of the database. Use it for times that are stored or compared with times of another node or
// the database, so that a wrong clock of one machine neither misdates mail nor misses deadlines. Heartbeats deliver the time; the
// monotonic clock continues it between them.

/** The error of an estimate grows at this rate: after one second, a new estimate that is 1 ms less precise replaces it. */
const DRIFT_MS_PER_S = 1;

export class DatabaseClock {
  /** Difference to the monotonic clock; undefined before the first answer of the database. */
  #offset: number | undefined;
  #errorMs = Number.POSITIVE_INFINITY;
  #learnedAt = 0;

  /** ms since the epoch; before the first answer of the database, by the clock of this machine. */
  now(): number {
    return this.#offset === undefined ? Date.now() : Math.round(performance.now() + this.#offset);
  }

  /** The database reported `time` between two moments of the monotonic clock. */
  learn(time: number, asked: number, answered: number): void {
    const errorMs = (answered - asked) / 2;
    const drifted = this.#errorMs + ((answered - this.#learnedAt) / 1000) * DRIFT_MS_PER_S;
    const middle = (asked + answered) / 2;
    // A larger difference than both errors allow means that the clock was set or another database has taken over.
    const wasSet = Math.abs(time - middle - (this.#offset ?? 0)) > errorMs + drifted;
    if (errorMs > drifted && !wasSet) return;
    this.#offset = time - middle;
    this.#errorMs = errorMs;
    this.#learnedAt = answered;
  }
}

/** The process has one clock, because a node has one database. */
export const clock = new DatabaseClock();
