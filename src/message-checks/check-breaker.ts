// The circuit breaker of a service that checks need. After several failures in a row the service is left alone for a while; then one request
// tries it, and the others go on without it until that one is answered. So a service that is down delays only few messages. A failure that
// a message may have caused counts once for each holder, so that nobody can open the breaker for all by sending heavy messages. A holder has
// a breaker of its own: several such failures in a row open it for that holder alone, until the service answers anybody.
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
  /** The failures of those whose messages got no answer since the last answer; never more than `failures` holders. */
  readonly #holders = new Map<string, number>();
  /** What is tried now: `KEY`, or a holder. */
  readonly #trying = new Set<string>();

  constructor({ failures, firstMs, longestMs, now }: CheckBreakerOptions) {
    this.#most = failures;
    this.#backoff = new Backoff({ firstMs, longestMs, most: failures + 1, ...(now && { now }) });
  }

  /** Tells whether a request may be made. After a true one, either `answered` or `failed` is called, the latter with the same holder. */
  mayAsk(holder?: string): boolean {
    const key = this.#openFor(holder);
    if (key === undefined) return true;
    if (this.#trying.has(key) || this.#backoff.has(key)) return false;
    this.#trying.add(key);
    return true;
  }

  answered(): void {
    this.#unreachable = 0;
    this.#backoff.succeeded(KEY);
    for (const holder of this.#holders.keys()) this.#backoff.succeeded(holderKey(holder));
    this.#holders.clear();
    this.#trying.clear();
  }

  /**
   * `holder`: the account or network whose message got no answer. `isReached`: the service took the request, and the message may be why it
   * gives no answer.
   */
  failed(holder?: string, isReached = holder !== undefined): void {
    this.#trying.delete(KEY);
    if (holder !== undefined) this.#trying.delete(holderKey(holder));
    if (holder === undefined || !isReached) this.#unreachable++;
    else if (!this.#isOpen) this.#holders.set(holder, (this.#holders.get(holder) ?? 0) + 1);
    const key = this.#openFor(holder);
    if (key !== undefined) this.#backoff.failed(key);
  }

  get #isOpen(): boolean {
    return this.#unreachable + this.#holders.size >= this.#most;
  }

  /** What backs off for the holder: the service as a whole, or the holder alone. */
  #openFor(holder: string | undefined): string | undefined {
    if (this.#isOpen) return KEY;
    return holder !== undefined && (this.#holders.get(holder) ?? 0) >= this.#most ? holderKey(holder) : undefined;
  }
}

const holderKey = (holder: string): string => `holder ${holder}`;
