// A queue of keys to work on, after the workqueue of client-go. One worker at a time has a key; a key that is added again while it waits
// runs once, and one that is added while it runs, runs again. After a failure the key waits for a back-off that no `add` shortens. The keys
// of the queue and its workers are bounded, and a holder (an account, if its keys are emails) has a share of both. The queue keeps keys in
// memory only: what must not be lost is a row in the store, which is read again.
import { FairSemaphore } from './fair-semaphore.js';
import { KeyedLimiter, type Reservation } from './keyed-limiter.js';
import { dynamicShare } from './share-policies.js';

export interface Timing {
  /** ms of a clock that does not jump. */
  now(): number;
  /** Calls `run` after this many ms. Returns the function that prevents it. */
  after(ms: number, run: () => void): () => void;
}

export interface WorkAttempt {
  readonly holder: string;
  /** The failures of the key since it last succeeded. */
  readonly failures: number;
  /** Aborts when the queue stops. */
  readonly signal: AbortSignal;
}

export interface WorkQueueOptions {
  /** Works on a key. A number is the ms after which the key runs again; a rejection is a failure. */
  work(key: string, attempt: WorkAttempt): Promise<number | undefined>;
  /** Reports a failure, but none after the queue has been stopped. */
  failed(key: string, error: unknown, holder: string): void;
  /** Whether a key that failed runs again after its back-off; always by default. */
  isTemporary?(error: unknown): boolean;
  /** Keys in work at a time; 1 by default. */
  readonly workers?: number;
  /** Keys that wait or are in work; further keys are refused. */
  readonly most: number;
  /** The back-off after the first failure, which doubles with each further one up to the longest: by default it stays the same. ms */
  readonly backoff: { readonly firstMs: number; readonly longestMs?: number };
  /** How long a worker rests after a key, in ms; it does not rest by default. */
  restMs?(tookMs: number, hasFailed: boolean): number;
  /** The timers of the process by default. */
  readonly timing?: Timing;
}

interface Entry {
  readonly key: string;
  readonly holder: string;
  /** Its place in the queue. */
  readonly place: Reservation;
  state: 'delayed' | 'ready' | 'running';
  /** When the key is due; infinite while it runs and is not wanted again. */
  at: number;
  /** The end of the back-off. */
  notBefore: number;
  failures: number;
  /** The key was forgotten while it runs: it does not run again by itself. */
  isForgotten: boolean;
  cancel(): void;
}

/** The longest timer of Node.js. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const PROCESS_TIMING: Timing = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(Math.ceil(ms), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #timing: Timing;
  readonly #entries = new Map<string, Entry>();
  readonly #room: KeyedLimiter;
  readonly #permits: FairSemaphore;
  readonly #running = new Set<Promise<void>>();
  readonly #rests = new Set<() => void>();
  readonly #stopping = new AbortController();

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#timing = options.timing ?? PROCESS_TIMING;
    this.#room = new KeyedLimiter(dynamicShare({ total: options.most }));
    this.#permits = new FairSemaphore({ total: options.workers ?? 1, factor: 2 });
  }

  /** The keys that wait, back off, or are in work, in the order in which they were first added. */
  get keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The number of keys that are not in work. */
  get waiting(): number {
    return this.#entries.size - this.#running.size;
  }

  /** How many further keys the queue takes, if they are of different holders. */
  get free(): number {
    return this.#room.free;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** See `addAfter`. */
  add(key: string, holder?: string): boolean {
    return this.addAfter(key, 0, holder);
  }

  /**
   * Runs the key after this many ms; of several times the earliest counts. Keys of one holder have a share of the queue; a key without a
   * holder has a share of its own. Returns false when the key is refused, because the share is used up or the queue is stopped.
   */
  addAfter(key: string, ms: number, holder = key): boolean {
    if (this.#isStopped) return false;
    const entry = this.#entries.get(key) ?? this.#admit(key, holder);
    if (entry === undefined) return false;
    entry.isForgotten = false;
    this.#wantAt(entry, this.#timing.now() + ms);
    return true;
  }

  /** Removes the key. If it is in work, it does not run again. */
  forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    if (entry.state === 'running') {
      entry.at = Number.POSITIVE_INFINITY;
      entry.isForgotten = true;
    } else this.#drop(entry);
  }

  /** Begins no further work; resolves when the work that runs has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const entry of [...this.#entries.values()]) if (entry.state !== 'running') this.#drop(entry);
    for (const cancel of this.#rests) cancel();
    await Promise.all(this.#running);
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  #admit(key: string, holder: string): Entry | undefined {
    const place = this.#room.reserve(holder);
    if (place === undefined) return undefined;
    const entry: Entry = {
      key,
      holder,
      place,
      state: 'delayed',
      at: Number.POSITIVE_INFINITY,
      notBefore: 0,
      failures: 0,
      isForgotten: false,
      cancel() {},
    };
    this.#entries.set(key, entry);
    return entry;
  }

  #drop(entry: Entry): void {
    entry.cancel();
    this.#entries.delete(entry.key);
    entry.place.release();
  }

  #wantAt(entry: Entry, time: number): void {
    const at = Math.max(time, entry.notBefore);
    if (at >= entry.at) return;
    entry.at = at;
    if (entry.state === 'delayed') this.#delay(entry);
  }

  #delay(entry: Entry): void {
    entry.cancel();
    const ms = entry.at - this.#timing.now();
    // A timer may fire early.
    if (ms > 0) entry.cancel = this.#timing.after(ms, () => this.#delay(entry));
    else {
      entry.state = 'ready';
      void this.#permits.acquire(entry.holder).then((permit) => this.#begin(entry, permit));
    }
  }

  #begin(entry: Entry, permit: Reservation): void {
    if (this.#entries.get(entry.key) !== entry) {
      permit.release();
      return;
    }
    entry.state = 'running';
    entry.at = Number.POSITIVE_INFINITY;
    const run = this.#run(entry, permit).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  async #run(entry: Entry, permit: Reservation): Promise<void> {
    const { work, restMs } = this.#options;
    const { signal } = this.#stopping;
    const began = this.#timing.now();
    let hasFailed = false;
    try {
      const { key, holder, failures } = entry;
      const againInMs = await work(key, { holder, failures, signal });
      entry.failures = 0;
      if (againInMs !== undefined && !entry.isForgotten) this.#wantAt(entry, this.#timing.now() + againInMs);
    } catch (error) {
      hasFailed = true;
      this.#fail(entry, error);
    }
    this.#goOn(entry);
    this.#rest(restMs?.(this.#timing.now() - began, hasFailed) ?? 0, permit);
  }

  #fail(entry: Entry, error: unknown): void {
    if (this.#isStopped) return;
    const { failed, isTemporary = () => true, backoff } = this.#options;
    const { firstMs, longestMs = firstMs } = backoff;
    failed(entry.key, error, entry.holder);
    if (entry.isForgotten || !isTemporary(error)) {
      entry.failures = 0;
      // A key that was added while its work failed waits as well.
      if (entry.at < Number.POSITIVE_INFINITY && !entry.isForgotten)
        entry.at = entry.notBefore = Math.max(entry.at, this.#timing.now() + firstMs);
      return;
    }
    entry.notBefore = this.#timing.now() + Math.min(firstMs * 2 ** entry.failures, longestMs);
    entry.failures++;
    entry.at = entry.notBefore;
  }

  /** The key has run: it waits for its next time, or leaves the queue. */
  #goOn(entry: Entry): void {
    entry.state = 'delayed';
    if (entry.at === Number.POSITIVE_INFINITY || this.#isStopped) this.#drop(entry);
    else this.#delay(entry);
  }

  #rest(ms: number, permit: Reservation): void {
    if (ms <= 0 || this.#isStopped) {
      permit.release();
      return;
    }
    const cancel = this.#timing.after(ms, () => {
      this.#rests.delete(cancel);
      permit.release();
    });
    this.#rests.add(cancel);
  }
}
