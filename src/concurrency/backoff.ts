// Back-off after failures: a failed id is left alone for a while, twice as long after each further failure, up to a limit. A success ends
// the back-off. If an id does not fail for as long as its last back-off, the next back-off is the first again.
import type { LRUCache } from 'lru-cache';
import { lruCache } from './lru-cache.js';

export interface BackoffOptions {
  readonly firstMs: number;
  readonly longestMs: number;
  /** The most ids that are remembered; above it, the one that failed least recently is dropped. */
  readonly most: number;
  /** ms of a clock that does not jump; `performance.now` by default. */
  readonly now?: () => number;
}

interface Failure<R> {
  readonly until: number;
  readonly ms: number;
  readonly reason: R;
}

/** `R`: the reason that is stored with each failure. */
export class Backoff<R = undefined> {
  readonly #options: Required<BackoffOptions>;
  readonly #failures: LRUCache<string, Failure<R>>;

  constructor(options: BackoffOptions) {
    this.#options = { now: () => performance.now(), ...options };
    this.#failures = lruCache(options.most);
  }

  /** Ids that back off now. */
  get ids(): readonly string[] {
    const now = this.#options.now();
    const found: string[] = [];
    for (const [id, { until, ms }] of this.#failures) {
      if (until > now) found.push(id);
      else if (until + ms < now) this.#failures.delete(id);
    }
    return found;
  }

  has(id: string): boolean {
    return this.of(id) !== undefined;
  }

  /** How long the id still backs off, and why; undefined when it does not. */
  of(id: string): { readonly ms: number; readonly reason: R } | undefined {
    const failure = this.#failures.peek(id);
    const ms = failure === undefined ? 0 : failure.until - this.#options.now();
    return failure !== undefined && ms > 0 ? { ms, reason: failure.reason } : undefined;
  }

  /** Failures during a back-off do not prolong it. */
  failed(id: string, ...[reason]: R extends undefined ? [] : [reason: R]): void {
    if (this.has(id)) return;
    const { firstMs, longestMs, now } = this.#options;
    const before = this.#failures.peek(id);
    const isRecent = before !== undefined && before.until + before.ms >= now();
    const ms = isRecent ? Math.min(2 * before.ms, longestMs) : firstMs;
    this.#failures.set(id, { until: now() + ms, ms, reason: reason as R });
  }

  succeeded(id: string): void {
    this.#failures.delete(id);
  }
}
