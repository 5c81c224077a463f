// The circuit breaker of the database. It opens when the database stalls: answers are due, but no octet arrives on any
// connection, and a probe statement gets no answer either. One long statement, a large upload or a busy database is not a stall,
// because the probe is still answered. During a stall, statements fail at once instead of after the patience of their pool.
import { StoreFault } from '../../errors.js';
import { cutWatched, type Watchable, watched } from './watched-socket.js';

const CHECK_MS = 500;
/**
 * Silent checks before the probe is sent. Checks are counted instead of time, because a process that was paused heard nothing.
 */
const ASK_AFTER = 2;
/** Silent checks before the database counts as stalled. */
const OPEN_AFTER = 5;
/**
 * Checks between the deadline of a commit and the stall: one because the first check may come at once, and one because clocks are
 * not exact.
 */
const CHECKS_OF_MARGIN = 2;

export class CircuitBreaker {
  readonly #ask: () => Promise<unknown>;
  readonly #changed: (isOpen: boolean) => void;
  readonly #read = new WeakMap<Watchable, number>();
  readonly #waiting = new Set<(fault: StoreFault) => void>();
  readonly #timer: NodeJS.Timeout;
  #isOpen = false;
  #silentChecks = 0;
  #asking = false;

  /** `ask`: runs a statement on a `probe` pool. */
  constructor(ask: () => Promise<unknown>, changed: (isOpen: boolean) => void) {
    this.#ask = ask;
    this.#changed = changed;
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Returns the ms within which a statement that is sent now may store anything; they end before a stall can begin, which fails
   * the waiting callers. @throws StoreFault during a stall
   */
  commitWithinMs(): number {
    if (this.isOpen) throw stalled();
    return Math.max(0, OPEN_AFTER - CHECKS_OF_MARGIN - this.#silentChecks) * CHECK_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The database has answered a statement on an unwatched connection: the stall ends before the next check. */
  noteAnswer(): void {
    this.#silentChecks = 0;
    if (this.isOpen) this.#set(false);
  }

  /** Returns the outcome of the work. @throws StoreFault during a stall, also one that begins later; the work itself continues */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.isOpen) return Promise.reject(stalled());
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      work().then(
        (result) => {
          this.#waiting.delete(reject);
          resolve(result);
        },
        (error) => {
          this.#waiting.delete(reject);
          reject(error);
        },
      );
    });
  }

  /**
   * Wraps a port so that the breaker guards every call. `streams`: methods that return an async iterable. `unabandoned`: methods
   * that read memory which their caller reuses when they fail: during a stall new calls are refused, and running ones fail only
   * with their connection.
   */
  guard<T extends object>(port: T, streams: readonly (keyof T)[] = [], unabandoned: readonly (keyof T)[] = []): T {
    return new Proxy(port, {
      get: (target, name) => {
        const member = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          const call = () => member.apply(target, args);
          if (streams.includes(name as keyof T)) return this.#stream(call());
          if (!unabandoned.includes(name as keyof T)) return this.run(call);
          return this.isOpen ? Promise.reject(stalled()) : call();
        };
      },
    });
  }

  async *#stream(source: AsyncIterable<unknown>): AsyncIterable<unknown> {
    const iterator = source[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.run(() => iterator.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      // Do not wait for it: it may hang as well.
      void iterator.return?.();
    }
  }

  #check(): void {
    let isHeard = false;
    let isDue = false;
    for (const socket of watched) {
      if (socket.destroyed) continue;
      const read = socket.bytesRead;
      if (read !== (this.#read.get(socket) ?? 0)) isHeard = true;
      if (read === socket.readAtWrite) isDue = true;
      this.#read.set(socket, read);
    }
    this.#silentChecks = !isHeard && (isDue || this.isOpen) ? this.#silentChecks + 1 : 0;
    if (this.#silentChecks >= ASK_AFTER) this.#askOnce();
    if (isHeard && this.isOpen) this.#set(false);
    else if (this.#silentChecks >= OPEN_AFTER && !this.isOpen) this.#set(true);
    // Connections that were opened meanwhile get no answer either.
    if (this.isOpen) cutWatched('the database does not answer');
  }

  #askOnce(): void {
    if (this.#asking) return;
    this.#asking = true;
    this.#ask()
      .catch(() => {})
      .finally(() => {
        this.#asking = false;
      });
  }

  #set(isOpen: boolean): void {
    this.#isOpen = isOpen;
    this.#changed(isOpen);
    if (!isOpen) return;
    for (const reject of this.#waiting) reject(stalled());
    this.#waiting.clear();
  }
}

function stalled(): StoreFault {
  return new StoreFault('store-unavailable', 'the database does not answer', { temporary: true });
}
