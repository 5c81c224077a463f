// The time that all nodes share: the database's. Times that are stored, or compared with times of another node or of the
// database, are of this clock; a machine whose own clock is an hour off then neither dates mail wrongly nor misses deadlines.
// Heartbeats bring the time; between them the monotonic clock continues it.

/** An estimate that is good to 1 ms is believed for so many seconds over one that is good to 2 ms. */
const DRIFT_MS_PER_S = 1;

export class DatabaseClock {
  /** Of the monotonic clock; undefined until the database was asked. */
  #offset: number | undefined;
  #errorMs = Number.POSITIVE_INFINITY;
  #learnedAt = 0;

  /** ms since the epoch; by this machine until the database was asked. */
  now(): number {
    return this.#offset === undefined ? Date.now() : Math.round(performance.now() + this.#offset);
  }

  /** The database said `time` between two moments of the monotonic clock. */
  learn(time: number, asked: number, answered: number): void {
    const errorMs = (answered - asked) / 2;
    const drifted = this.#errorMs + ((answered - this.#learnedAt) / 1000) * DRIFT_MS_PER_S;
    const middle = (asked + answered) / 2;
    // Further off than both may err: the database's clock was set, or another database has taken over.
    const wasSet = Math.abs(time - middle - (this.#offset ?? 0)) > errorMs + drifted;
    if (errorMs > drifted && !wasSet) return;
    this.#offset = time - middle;
    this.#errorMs = errorMs;
    this.#learnedAt = answered;
  }
}

/** One for the process: a node has one database. */
export const clock = new DatabaseClock();
