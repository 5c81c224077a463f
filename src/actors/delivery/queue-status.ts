// The status of a node's delivery queue, for its health check and its metrics.

/** The least time between two queries of how long the oldest email has been due. */
const OVERDUE_MS = 5_000;

export class QueueStatus {
  readonly #inFlight: () => number;
  readonly pollMs: number;
  shards = 0;
  /** The time in ms for which the oldest due email has been due, at the last read of the store. */
  overdueMs = 0;
  isStopped = false;
  // Times of the monotonic clock.
  #readAt = performance.now();
  #overdueAt = Number.NEGATIVE_INFINITY;
  #failingSince: number | undefined;
  #isUnreadable = false;

  constructor(inFlight: () => number, pollMs: number) {
    this.#inFlight = inFlight;
    this.pollMs = pollMs;
  }

  get inFlight(): number {
    return this.#inFlight();
  }

  /** The time in ms since the queue was last read from the store. */
  get lookAgeMs(): number {
    return performance.now() - this.#readAt;
  }

  /** The time in ms for which no due delivery could be started; 0 when the last one could. */
  get failingMs(): number {
    return this.#failingSince === undefined ? 0 : performance.now() - this.#failingSince;
  }

  get wantsOverdue(): boolean {
    return performance.now() - this.#overdueAt > OVERDUE_MS;
  }

  read(shards: number): void {
    this.shards = shards;
    if (shards === 0) this.overdueMs = 0;
    this.#readAt = performance.now();
    this.#isUnreadable = false;
  }

  /** Returns true for the first failure after a success. */
  failedToRead(): boolean {
    const isFirst = !this.#isUnreadable;
    this.#isUnreadable = true;
    return isFirst;
  }

  overdue(ms: number): void {
    this.overdueMs = ms;
    this.#overdueAt = performance.now();
  }

  started(): void {
    this.#failingSince = undefined;
  }

  failedToStart(): void {
    this.#failingSince ??= performance.now();
  }

  stopped(): void {
    this.isStopped = true;
  }
}
