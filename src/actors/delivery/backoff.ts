// What has just failed and is left alone for a while, longer each time: so that nothing that fails at once is tried in a
// tight loop. What is not heard of again is forgotten.

const FIRST_MS = 500;
const LONGEST_MS = 30_000;
/** More than fail within the longest rest. */
const MOST = 5_000;

export class Backoff {
  readonly #now: () => number;
  readonly #resting = new Map<string, { readonly until: number; readonly restMs: number }>();

  /** `now`: ms of a clock that does not jump. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get ids(): readonly string[] {
    const now = this.#now();
    const resting: string[] = [];
    for (const [id, { until, restMs }] of this.#resting) {
      if (until > now) resting.push(id);
      else if (until + restMs < now) this.#resting.delete(id);
    }
    return resting;
  }

  has(id: string): boolean {
    return (this.#resting.get(id)?.until ?? Number.NEGATIVE_INFINITY) > this.#now();
  }

  failed(id: string): void {
    // Several at a time that fail together are one failure.
    if (this.has(id)) return;
    const before = this.#resting.get(id)?.restMs;
    const restMs = before === undefined ? FIRST_MS : Math.min(2 * before, LONGEST_MS);
    this.#resting.delete(id);
    this.#resting.set(id, { until: this.#now() + restMs, restMs });
    if (this.#resting.size > MOST) this.#resting.delete(this.#resting.keys().next().value!);
  }

  succeeded(id: string): void {
    this.#resting.delete(id);
  }
}
