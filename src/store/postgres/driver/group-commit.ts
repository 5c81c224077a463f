// Group commit, and the same for reads: items that arrive during a write share the next one, so the cost of a commit is spread
// without an added delay. Only one write runs at a time: two would halve the groups, which costs more than the overlap gains. A
// write that fails because of one item is repeated item by item, so that a bad or locked row fails alone.
import type { CommitMeter } from '../../commit-meter.js';
import { StoreFault } from '../../errors.js';
import { storeFault } from './client.js';

interface Waiting<T, R> {
  readonly item: T;
  readonly weight: number;
  resolve(result: R): void;
  reject(fault: StoreFault): void;
}

export interface GroupCommitOptions<T> {
  /** One write has at most this many items. */
  readonly maxItems: number;
  /** One write has at most this weight; a single item may exceed it. */
  readonly maxWeight: number;
  /** Items of at most this weight wait; more are refused with a temporary fault. */
  readonly maxWaiting: number;
  weigh(item: T): number;
  readonly meter?: CommitMeter | undefined;
}

export class GroupCommit<T, R> {
  readonly #write: (items: readonly T[]) => Promise<readonly R[]>;
  readonly #options: GroupCommitOptions<T>;
  #waiting: Waiting<T, R>[] = [];
  #weight = 0;
  /** Callers that submit an item when they are told that the next write gathers its items. */
  #gathered: (() => void)[] = [];
  #writing = false;
  #scheduled = false;

  /** `write` commits all items or none and returns one result per item, in order. */
  constructor(write: (items: readonly T[]) => Promise<readonly R[]>, options: GroupCommitOptions<T>) {
    this.#write = write;
    this.#options = options;
  }

  /** Resolves once the item is committed. @throws StoreFault */
  submit(item: T): Promise<R> {
    const weight = this.#options.weigh(item);
    if (this.#weight > 0 && this.#weight + weight > this.#options.maxWaiting) {
      return Promise.reject(new StoreFault('store-unavailable', 'too many writes are waiting', { temporary: true }));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, weight, resolve, reject });
      this.#weight += weight;
      this.#schedule();
    });
  }

  /**
   * Resolves when the next write gathers its items: an item that is submitted right then, without another wait, joins that write.
   * Callers for whom it has no room are told of a later one.
   */
  beforeWrite(): Promise<void> {
    return new Promise((resolve) => {
      this.#gathered.push(resolve);
      this.#schedule();
    });
  }

  // Everything that arrives in one turn of the event loop is gathered before the first write.
  #schedule(): void {
    if (this.#scheduled || this.#writing || this.#waiting.length + this.#gathered.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => this.#gather());
  }

  #gather(): void {
    const told = this.#gathered.splice(0, this.#options.maxItems);
    for (const resolve of told) resolve();
    if (told.length === 0) void this.#flush();
    // A tick that a microtask requests runs when no microtask is left: then the callers that were told have submitted their
    // items.
    else queueMicrotask(() => process.nextTick(() => this.#flush()));
  }

  async #flush(): Promise<void> {
    this.#scheduled = false;
    const group = this.#take();
    this.#writing = group.length > 0;
    try {
      if (this.#writing) await this.#commit(group);
    } finally {
      this.#writing = false;
      this.#schedule();
    }
  }

  async #commit(group: readonly Waiting<T, R>[]): Promise<void> {
    const began = performance.now();
    const { meter } = this.#options;
    try {
      const results = await this.#write(group.map((waiting) => waiting.item));
      meter?.written(group.length, performance.now() - began, true);
      group.forEach((waiting, i) => {
        waiting.resolve(results[i]!);
      });
    } catch (error) {
      meter?.written(group.length, performance.now() - began, false);
      const fault = storeFault(error);
      meter?.failed?.(fault);
      const shared = fault.temporary && fault.code !== 'store-locked';
      if (group.length === 1 || shared) {
        for (const waiting of group) waiting.reject(fault);
        return;
      }
      for (const waiting of group) await this.#commit([waiting]);
    }
  }

  #take(): Waiting<T, R>[] {
    let weight = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      if (count > 0 && (count >= this.#options.maxItems || weight + waiting.weight > this.#options.maxWeight)) break;
      weight += waiting.weight;
      count++;
    }
    this.#weight -= weight;
    return this.#waiting.splice(0, count);
  }
}
