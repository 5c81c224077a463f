// The circuit breaker of a service that checks need. After several failures in a row the service is left alone for a while; then one request
// tries it, and the others go on without it until that one is answered. So a service that is down delays only few messages.
import { Backoff } from '../concurrency/backoff.js';

interface CheckBreakerOptions {
  /** Failures in a row that open it. */
  readonly failures: number;
  readonly firstMs: number;
  readonly longestMs: number;
  /** ms of a clock that does not jump; `performance.now` by default. */
  readonly now?: () => number;
}

const KEY = 'service';

export class CheckBreaker {
  readonly #most: number;
  readonly #backoff: Backoff;
  #failures = 0;
  #isTrying = false;

  constructor({ failures, firstMs, longestMs, now }: CheckBreakerOptions) {
    this.#most = failures;
    this.#backoff = new Backoff({ firstMs, longestMs, most: 1, ...(now && { now }) });
  }

  /** Tells whether a request may be made. After a true one, either `answered` or `failed` is called. */
  mayAsk(): boolean {
    if (this.#failures < this.#most) return true;
    if (this.#isTrying || this.#backoff.has(KEY)) return false;
    this.#isTrying = true;
    return true;
  }

  answered(): void {
    this.#failures = 0;
    this.#isTrying = false;
    this.#backoff.succeeded(KEY);
  }

  failed(): void {
    this.#isTrying = false;
    if (++this.#failures >= this.#most) this.#backoff.failed(KEY);
  }
}
