// A value of the server that is read again when events touch it: one reading at a time, and while events keep coming not more often than the
// rates allow. Failures that pass are waited for; other ones are errors of the stream.
import { Observable, ReplaySubject, type Subscription, share, timer } from 'rxjs';
import type { ClientEvent, HubLink } from './hub/hub-link.js';
import { pauseAfter } from './hub/pause.js';
import { isPassing, isSignedOut, Refusal } from './refusal.js';

export interface RefreshedOptions<T> {
  read(): Promise<T>;
  /** The value after an event that says all that has changed, or `'read'` when it must be read again; otherwise undefined. */
  touch(event: ClientEvent, newest: T): T | 'read' | undefined;
  /** The least time between the starts of two readings. ms */
  readonly leastMs?: number;
  /** A value of an earlier time, which is shown until it is read. */
  readonly earlier?: () => T | undefined;
  /** Emits when the stream is over. */
  readonly end$?: Observable<unknown>;
  /** Emits when the value must be read again, besides events. */
  readonly also$?: Observable<unknown>;
}

/** Events come in bursts, and one reading serves all of a burst. */
const BURST_MS = 20;
const LEAST_MS = 1_000;
/** While events keep coming the readings become rarer, down to one in this time: a key has 100 requests a minute for everything. */
const RAREST_MS = 8_000;
/** A value without subscribers is followed for this time, so that going back shows it at once. */
const LINGER_MS = 10_000;

/** A stream that all subscribers share; a new one gets the newest value at once. */
export function refreshed<T>(link: HubLink, options: RefreshedOptions<T>): Observable<T> {
  return new Observable<T>((subscriber) => {
    const value = new Refreshed(link, options, {
      next: (newest) => subscriber.next(newest),
      error: (error) => subscriber.error(error),
    });
    subscriber.add(link.state$.subscribe({ complete: () => subscriber.complete() }));
    subscriber.add(options.end$?.subscribe(() => subscriber.complete()));
    return () => value.end();
  }).pipe(share({ connector: () => new ReplaySubject<T>(1), resetOnRefCountZero: () => timer(LINGER_MS) }));
}

interface Sink<T> {
  next(value: T): void;
  error(error: unknown): void;
}

class Refreshed<T> {
  readonly #options: RefreshedOptions<T>;
  readonly #sink: Sink<T>;
  readonly #subscriptions: Subscription[];
  #newest: T | undefined;
  #isReading = false;
  /** Something has changed since the reading began. */
  #isStale = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  /** The least time to the next reading. */
  #paceMs = 0;
  #failures = 0;
  #isEnded = false;

  constructor(link: HubLink, options: RefreshedOptions<T>, sink: Sink<T>) {
    this.#options = options;
    this.#sink = sink;
    this.#subscriptions = [
      link.events$.subscribe((event) => this.#touched(event)),
      // A reading from before the connection may have missed a change.
      link.opened$.subscribe(() => this.#stale(0)),
      link.resync$.subscribe(() => this.#stale(0)),
    ];
    if (options.also$ !== undefined) this.#subscriptions.push(options.also$.subscribe(() => this.#stale(BURST_MS)));
    const earlier = options.earlier?.();
    if (earlier !== undefined) this.#show(earlier);
    link.open();
    void this.#read();
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
  }

  #touched(event: ClientEvent): void {
    if (this.#newest === undefined) {
      this.#isStale = this.#isReading;
      return;
    }
    const after = this.#options.touch(event, this.#newest);
    if (after === undefined) return;
    if (after === 'read' || this.#isReading) this.#stale(BURST_MS);
    if (after !== 'read') this.#show(after);
  }

  #stale(soonMs: number): void {
    this.#isStale = true;
    if (this.#isReading || this.#timer !== undefined) return;
    this.#schedule(Math.max(soonMs, this.#readAt + this.#paceMs - performance.now()));
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#read(), ms);
  }

  async #read(): Promise<void> {
    this.#timer = undefined;
    this.#isReading = true;
    this.#isStale = false;
    const { leastMs = LEAST_MS } = this.#options;
    const isSoon = performance.now() - this.#readAt < 2 * this.#paceMs;
    this.#paceMs = isSoon ? Math.min(RAREST_MS, 1.5 * this.#paceMs) : leastMs;
    this.#readAt = performance.now();
    let waitMs: number | undefined;
    try {
      const value = await this.#options.read();
      this.#failures = 0;
      this.#isReading = false;
      if (this.#isEnded) return;
      this.#show(value);
    } catch (error) {
      this.#isReading = false;
      // The connection after the next sign-in makes the value stale.
      if (this.#isEnded || isSignedOut(error)) return;
      if (!isPassing(error)) {
        this.#sink.error(error);
        return;
      }
      waitMs = this.#waitAfter(error);
    }
    if (waitMs !== undefined) this.#schedule(waitMs);
    else if (this.#isStale) this.#stale(BURST_MS);
  }

  #waitAfter(error: unknown): number {
    const asked = error instanceof Refusal ? (error.retryAfterMs ?? 0) : 0;
    return Math.max(asked, pauseAfter(this.#failures++));
  }

  #show(value: T): void {
    this.#newest = value;
    this.#sink.next(value);
  }
}
