// A value of the server that is read again when events touch it: one reading at a time, and while events keep coming not more often than the
// rates allow. A reading that overlaps a change which this client makes may be older than the change, so it is not shown. Failures that
// pass are waited for; other ones are errors of the stream.
import { Observable, ReplaySubject, type Subscription, share, timer } from 'rxjs';
import type { ClientEvent, HubLink } from './hub/hub-link.js';
import { pauseAfter } from './hub/pause.js';
import { isPassing, isSignedOut, Refusal } from './refusal.js';

export interface RefreshedOptions<T> {
  read(): Promise<T>;
  /**
   * The value after an event that says all that has changed; `'read'` when it must be read again, `'readSoon'` after an event of the rare
   * kind that people cause one by one; otherwise undefined.
   */
  touch(event: ClientEvent, newest: T): T | 'read' | 'readSoon' | undefined;
  /** Changes that this client makes to the value, each until the server has answered. */
  readonly changes$?: Observable<Promise<unknown>>;
  /** The least time between the starts of two readings. ms */
  readonly leastMs?: number;
  /** Values of an earlier time: one is shown until the value is read. */
  readonly earlier$?: Observable<T | undefined>;
  /** Emits when the stream is over. */
  readonly end$?: Observable<unknown>;
  /** Emits when the value must be read again, besides events. */
  readonly also$?: Observable<unknown>;
}

/** Events come in bursts, and one reading serves all of a burst. */
const BURST_MS = 20;
const LEAST_MS = 1_000;
const SOON_LEAST_MS = 200;
/** While events keep coming the readings become rarer, down to one in this time: a key has 100 requests a minute for everything. */
const RAREST_MS = 8_000;
/** A value without subscribers is followed for this time, so that going back shows it at once. */
const LINGER_MS = 10_000;

/** What announces that a value may have changed. */
export type Announcing = Pick<HubLink, 'events$' | 'opened$' | 'resync$' | 'state$' | 'open'>;

/** A stream that all subscribers share; a new one gets the newest value at once. */
export function refreshed<T>(link: Announcing, options: RefreshedOptions<T>): Observable<T> {
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

/** The times at which readings of one cause may begin. */
class Pace {
  readonly #leastMs: number;
  #readAt = Number.NEGATIVE_INFINITY;
  /** The least time to the next reading. */
  #ms = 0;

  constructor(leastMs: number) {
    this.#leastMs = leastMs;
  }

  get waitMs(): number {
    return this.#readAt + this.#ms - performance.now();
  }

  began(): void {
    const now = performance.now();
    const isSoon = now - this.#readAt < 2 * this.#ms;
    this.#ms = isSoon ? Math.min(RAREST_MS, 1.5 * this.#ms) : this.#leastMs;
    this.#readAt = now;
  }
}

class Refreshed<T> {
  readonly #options: RefreshedOptions<T>;
  readonly #sink: Sink<T>;
  readonly #subscriptions: Subscription[];
  readonly #pace: Pace;
  readonly #soonPace = new Pace(SOON_LEAST_MS);
  /** The paces of what has touched the value since the newest reading began. */
  readonly #stale = new Set<Pace>();
  #newest: T | undefined;
  #isReading = false;
  /** The number of changes of this client that the server has not answered. */
  #changing = 0;
  /** The number of changes of this client so far. */
  #changes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #failures = 0;
  /** The time of the next try after a failure. */
  #retryAt = Number.NEGATIVE_INFINITY;
  #isEnded = false;

  constructor(link: Announcing, options: RefreshedOptions<T>, sink: Sink<T>) {
    this.#options = options;
    this.#sink = sink;
    this.#pace = new Pace(options.leastMs ?? LEAST_MS);
    this.#subscriptions = [
      link.events$.subscribe((event) => this.#touched(event)),
      // A reading from before the connection may have missed a change.
      link.opened$.subscribe(() => this.#readAgain(this.#pace, 0)),
      link.resync$.subscribe(() => this.#readAgain(this.#pace, 0)),
    ];
    const { also$, changes$ } = options;
    if (also$ !== undefined) this.#subscriptions.push(also$.subscribe(() => this.#readAgain(this.#pace)));
    if (changes$ !== undefined) this.#subscriptions.push(changes$.subscribe((change) => void this.#change(change)));
    const earlier = options.earlier$?.subscribe((value) => {
      if (value !== undefined && this.#newest === undefined) this.#show(value);
    });
    if (earlier !== undefined) this.#subscriptions.push(earlier);
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
      if (this.#isReading) this.#stale.add(this.#pace);
      return;
    }
    const after = this.#options.touch(event, this.#newest);
    if (after === undefined) return;
    if (after === 'read' || after === 'readSoon') {
      this.#readAgain(after === 'read' ? this.#pace : this.#soonPace);
      return;
    }
    if (this.#isReading) this.#readAgain(this.#pace);
    this.#show(after);
  }

  async #change(change: Promise<unknown>): Promise<void> {
    this.#changing++;
    this.#changes++;
    await change.catch(() => undefined);
    this.#changing--;
    if (this.#changing === 0 && !this.#isEnded) this.#readAgain(this.#soonPace, 0);
  }

  #readAgain(pace: Pace, soonMs = BURST_MS): void {
    this.#stale.add(pace);
    if (!this.#isReading) this.#schedule(Math.max(soonMs, pace.waitMs, this.#retryAt - performance.now()));
  }

  /** A timer that is set for an earlier time stays. */
  #schedule(ms: number): void {
    const at = performance.now() + ms;
    if (this.#timerAt <= at) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => void this.#read(), ms);
  }

  async #read(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#isReading = true;
    for (const pace of this.#stale.size === 0 ? [this.#pace] : this.#stale) pace.began();
    this.#stale.clear();
    const changesBefore = this.#changing === 0 ? this.#changes : undefined;
    try {
      const value = await this.#options.read();
      this.#failures = 0;
      this.#retryAt = Number.NEGATIVE_INFINITY;
      this.#isReading = false;
      if (this.#isEnded) return;
      if (this.#newest === undefined || this.#changes === changesBefore) this.#show(value);
    } catch (error) {
      this.#isReading = false;
      // The connection after the next sign-in makes the value stale.
      if (this.#isEnded || isSignedOut(error)) return;
      if (!isPassing(error)) {
        this.#sink.error(error);
        return;
      }
      this.#retryAt = performance.now() + this.#waitAfter(error);
      this.#stale.add(this.#pace);
    }
    for (const pace of this.#stale) this.#readAgain(pace);
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
