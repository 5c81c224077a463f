// The circuit breaker of a service that checks need. After several failures in a row the service is left alone for a while; then one request
// tries it, and the others go on without it until that one is answered. So a service that is down delays only few messages. A failure that
// a message may have caused counts once for each holder, so that nobody can open the breaker for all by sending heavy messages.
import { Backoff } from '../concurrency/backoff.js';

interface CheckBreakerOptions {
  /** The number of failures in a row that opens it. */
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
  #unreachable = 0;
  /** Those whose messages got no answer since the last answer; never more than `failures` of them. */
  readonly #holders = new Set<string>();
  #isTrying = false;

  constructor({ failures, firstMs, longestMs, now }: CheckBreakerOptions) {
    this.#most = failures;
    this.#backoff = new Backoff({ firstMs, longestMs, most: 1, ...(now && { now }) });
  }

  /** Tells whether a request may be made. After a true one, either `answered` or `failed` is called. */
  mayAsk(): boolean {
    if (!this.#isOpen) return true;
    if (this.#isTrying || this.#backoff.has(KEY)) return false;
    this.#isTrying = true;
    return true;
  }

  answered(): void {
    this.#unreachable = 0;
    this.#holders.clear();
    this.#isTrying = false;
    this.#backoff.succeeded(KEY);
  }

  /** `holder`: the account or network whose message got no answer; undefined when the service was not even reached. */
  failed(holder?: string): void {
    this.#isTrying = false;
    if (holder === undefined) this.#unreachable++;
    else if (!this.#isOpen) this.#holders.add(holder);
    if (this.#isOpen) this.#backoff.failed(KEY);
  }

  get #isOpen(): boolean {
    return this.#unreachable + this.#holders.size >= this.#most;
  }
}
