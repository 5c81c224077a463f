// The circuit breaker of the database. It opens when the database has stopped answering, which is a stall: no octet arrives on any connection although answers are due, and a question
// of our own gets none either. One long statement, a large upload or a database under load are no stall, because that
// question is answered beside them. During a stall statements fail at once instead of after the patience of their pool.
import { StoreFault } from '../errors.js';
import { cutWatched, type Watchable, watched } from './watched-socket.js';

const CHECK_MS = 500;
/** Silent checks before the database is asked. They are counted, not the time: a process that was paused heard nothing. */
const ASK_AFTER = 2;
/** Silent checks before the database counts as stalled. */
const OPEN_AFTER = 5;
/** Checks between the deadline of a commit and the stall: one for the first, which may come at once, and one for clocks that are not exact. */
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

  /** `ask`: a statement on a pool made as `probe`. */
  constructor(ask: () => Promise<unknown>, changed: (isOpen: boolean) => void) {
    this.#ask = ask;
    this.#changed = changed;
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Until when what the database is sent now may be stored, in ms from now: before a stall can begin, and what waits fails.
   * @throws StoreFault during a stall
   */
  commitWithinMs(): number {
    if (this.isOpen) throw stalled();
    return Math.max(0, OPEN_AFTER - CHECKS_OF_MARGIN - this.#silentChecks) * CHECK_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The database has answered a statement that is not watched: a stall is over before the next check. */
  noteAnswer(): void {
    this.#silentChecks = 0;
    if (this.isOpen) this.#set(false);
  }

  /** The outcome of the work. @throws StoreFault during a stall, also one that begins later; the work itself goes on */
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
   * The port with all that it does run by the breaker. `streams`: methods that return an async iterable. `unabandoned`: methods that
   * read what their caller takes away when they fail; during a stall they are refused, and those under way fail with their
   * connection.
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
      // Not waited for: it may hang as well.
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
    // Connections that were opened since get no answer either.
    if (this.isOpen) cutWatched();
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
