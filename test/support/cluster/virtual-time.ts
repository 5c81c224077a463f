// Time that passes only when the test advances it, for code that uses normal timers and clocks: it replaces the globals of this process.
// Timers belong to the simulated process that set them, which may be paused or dead when they are due.
import { AsyncLocalStorage } from 'node:async_hooks';

/** A simulated process. Its timers and messages are held back while it is paused, and dropped when it is dead. */
export interface Proc {
  paused: boolean;
  dead: boolean;
}

interface Timer {
  at: number;
  readonly order: number;
  readonly everyMs: number | undefined;
  readonly proc: Proc | undefined;
  readonly run: () => void;
}

const REAL = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  dateNow: Date.now,
};
const { setImmediate: realTurn } = globalThis;

export class VirtualTime {
  now = 1_000_000;
  /** Called after every event. */
  check: () => void = () => {};
  readonly #timers = new Set<Timer>();
  readonly #context = new AsyncLocalStorage<Proc>();
  #order = 0;

  install(): void {
    const handleOf = (timer: Timer) => Object.assign(timer, { unref: () => timer, ref: () => timer });
    const clear = (timer: unknown) => void this.#timers.delete(timer as Timer);
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms = 0) => handleOf(this.#add(run, ms, undefined)),
      setInterval: (run: () => void, ms: number) => handleOf(this.#add(run, ms, ms)),
      clearTimeout: clear,
      clearInterval: clear,
    });
    performance.now = () => this.now;
    Date.now = () => this.now;
  }

  uninstall(): void {
    const { dateNow, ...timers } = REAL;
    Object.assign(globalThis, timers);
    Reflect.deleteProperty(performance, 'now');
    Date.now = dateNow;
  }

  /** Runs the work as the process: what the work starts stops with the process. */
  as<T>(proc: Proc, work: () => T): T {
    return this.#context.run(proc, work);
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#add(resolve, ms, undefined));
  }

  /** Resolves when everything that was caused so far has happened. */
  async settled(): Promise<void> {
    for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => realTurn(resolve));
    this.check();
  }

  async advance(ms: number): Promise<void> {
    const until = this.now + ms;
    await this.settled();
    for (let timer = this.#next(until); timer !== undefined; timer = this.#next(until)) {
      this.now = Math.max(this.now, timer.at);
      if (timer.everyMs === undefined) this.#timers.delete(timer);
      else timer.at = this.now + timer.everyMs;
      const { proc, run } = timer;
      if (proc === undefined) run();
      else this.as(proc, run);
      await this.settled();
    }
    this.now = until;
  }

  /** Advances until `holds` returns true; resolves to false if it did not within `ms`. */
  async until(holds: () => boolean, ms: number): Promise<boolean> {
    for (const end = this.now + ms; this.now < end && !holds(); ) await this.advance(10);
    return holds();
  }

  #add(run: () => void, ms: number, everyMs: number | undefined): Timer {
    const at = this.now + Math.max(0, ms);
    const timer = { at, order: this.#order++, everyMs, proc: this.#context.getStore(), run };
    this.#timers.add(timer);
    return timer;
  }

  #next(until: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.proc?.dead === true) this.#timers.delete(timer);
      else if (timer.proc?.paused !== true && timer.at <= until && (next === undefined || isBefore(timer, next))) {
        next = timer;
      }
    }
    return next;
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
