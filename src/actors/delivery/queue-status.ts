// How the queue of a node does, for its health check and its metrics.

/** An overdue time is asked of the store no more often. */
const OVERDUE_MS = 5_000;

export class Standing {
  readonly #inFlight: () => number;
  readonly pollMs: number;
  shards = 0;
  /** ms that the first of what is due has been due; as of the last look. */
  overdueMs = 0;
  isStopped = false;
  // By the monotonic clock.
  #lookedAt = performance.now();
  #overdueAt = Number.NEGATIVE_INFINITY;
  #failingSince: number | undefined;
  #isBlind = false;

  constructor(inFlight: () => number, pollMs: number) {
    this.#inFlight = inFlight;
    this.pollMs = pollMs;
  }

  get inFlight(): number {
    return this.#inFlight();
  }

  /** ms since it has seen what is due. */
  get lookAgeMs(): number {
    return performance.now() - this.#lookedAt;
  }

  /** ms for which no delivery could be begun though there were some; 0 when the last one could. */
  get failingMs(): number {
    return this.#failingSince === undefined ? 0 : performance.now() - this.#failingSince;
  }

  get wantsOverdue(): boolean {
    return performance.now() - this.#overdueAt > OVERDUE_MS;
  }

  looked(shards: number): void {
    this.shards = shards;
    if (shards === 0) this.overdueMs = 0;
    this.#lookedAt = performance.now();
    this.#isBlind = false;
  }

  /** Whether that is news. */
  failedToLook(): boolean {
    const isNews = !this.#isBlind;
    this.#isBlind = true;
    return isNews;
  }

  overdue(ms: number): void {
    this.overdueMs = ms;
    this.#overdueAt = performance.now();
  }

  delivers(): void {
    this.#failingSince = undefined;
  }

  failedToDeliver(): void {
    this.#failingSince ??= performance.now();
  }

  stopped(): void {
    this.isStopped = true;
  }
}
