// Writes deferred flags to their emails (decision 0046) in the background, once the account's commits of deferred writes pause: one account
// at a time, in small slices with pauses, so that new mail has priority. Deferred writes that newer ones cover are dropped
// as soon as there are many. Deferred writes that are left when a node ends are written by the node that loads the mailbox next, or by
// housekeeping.
import { setTimeout as pause } from 'node:timers/promises';
import { WorkQueue } from '../concurrency/work-queue.js';

export interface DeferredFlagRows {
  /** Drops deferred writes that newer ones cover; returns how many the account has left. */
  dropCovered(accountId: string): Promise<number>;
  /** Writes flags to at most `most` emails; returns whether there were deferred writes before. */
  write(accountId: string, most: number): Promise<boolean>;
  /** Accounts whose deferred writes have not been written for `ageMs`. */
  behind(ageMs: number, limit: number): Promise<readonly string[]>;
}

export interface FlagFlushing {
  /**
   * Resolves when the account may have another deferred write; their number is bounded, because loading or listing the mailbox reads
   * them all. At the bound, covered deferred writes are dropped and the oldest others are written first.
   */
  makeRoom(accountId: string): Promise<void>;
  /** Whether an account of this node may have deferred writes. */
  mayHave(accountId: string): boolean;
  /** Notes that the account has one more deferred write, or some that another node left. */
  note(accountId: string): void;
  /** Writes deferred writes that other nodes left; returns the number of accounts. */
  sweep(): Promise<number>;
  /** Stops after the slice that is being written. */
  stop(): Promise<void>;
}

export interface FlagFlushingOptions {
  readonly rows: DeferredFlagRows;
  /** Reports a slice that could not be written; it will be tried again. */
  failed(accountId: string, error: unknown): void;
  readonly quietMs?: number;
  readonly retryMs?: number;
}

/** Emails of a slice; the account's commits wait for one slice. */
const SLICE = 500;
/** More emails than any deferred write has: a command covers at most about 10,000. */
const WHOLE = 10_000;
/** Pause after a slice, as a multiple of the time that the slice took. */
const REST = 2;
/** Flags are written when commits of deferred writes have paused for QUIET_MS, or have gone on for PATIENCE_MS. */
const QUIET_MS = 300;
const PATIENCE_MS = 30_000;
/** Deferred writes per account; beyond them, commits write the emails themselves. */
const MOST_DEFERRED = 24;
/** Covered deferred writes are dropped at once when there are this many more than after the last drop, or MOST_DEFERRED. */
const MANY_DEFERRED = 8;
const RETRY_MS = 5_000;
/** Deferred writes of this age belong to a node that has ended. */
const LEFT_MS = 60_000;
const ACCOUNTS_A_SWEEP = 100;

interface Waiting {
  count: number;
  /** How many were left after covered deferred writes were last dropped. */
  left: number;
  dropping: Promise<void> | undefined;
  /** ms of the monotonic clock. */
  since: number;
  last: number;
}

const isCrowded = ({ count, left }: Waiting) => count > left && count >= Math.min(left + MANY_DEFERRED, MOST_DEFERRED);

export function startFlagFlushing(options: FlagFlushingOptions): FlagFlushing {
  return new Flusher(options);
}

class Flusher implements FlagFlushing {
  readonly #rows: DeferredFlagRows;
  readonly #failed: (accountId: string, error: unknown) => void;
  readonly #quietMs: number;
  readonly #waiting = new Map<string, Waiting>();
  /** Resolves when covered deferred writes of all waiting accounts have been dropped. */
  #dropped: Promise<void> = Promise.resolve();
  #isStopped = false;
  readonly #queue: WorkQueue;

  constructor(options: FlagFlushingOptions) {
    const { rows, failed, quietMs = QUIET_MS, retryMs = RETRY_MS } = options;
    this.#rows = rows;
    this.#failed = failed;
    this.#quietMs = quietMs;
    this.#queue = new WorkQueue({
      work: (accountId) => this.#flush(accountId),
      failed: (accountId, error) => this.#failed(accountId, error),
      most: Number.POSITIVE_INFINITY,
      backoff: { firstMs: retryMs },
      restMs: (_, hasFailed) => (hasFailed ? retryMs : 0),
    });
  }

  async makeRoom(accountId: string): Promise<void> {
    const account = this.#waiting.get(accountId);
    if (account === undefined || account.count < MOST_DEFERRED) return;
    await this.#drop(accountId, account);
    while (account.count >= MOST_DEFERRED && (await this.#rows.write(accountId, WHOLE))) account.count--;
  }

  mayHave(accountId: string): boolean {
    return this.#waiting.has(accountId);
  }

  note(accountId: string): void {
    const last = performance.now();
    const account = this.#waiting.get(accountId);
    if (account === undefined)
      this.#waiting.set(accountId, { count: 1, left: 0, dropping: undefined, since: last, last });
    else {
      account.count++;
      account.last = last;
      this.#dropMany(accountId, account);
    }
    this.#queue.addAfter(accountId, this.#quietMs);
  }

  async sweep(): Promise<number> {
    let count = 0;
    for (const accountId of await this.#rows.behind(LEFT_MS, ACCOUNTS_A_SWEEP)) {
      try {
        if (await this.#writeAll(accountId, () => true)) count++;
      } catch (error) {
        // One failing account must not stop the others.
        this.#failed(accountId, error);
      }
    }
    return count;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#queue.stop();
    await this.#dropped;
  }

  async #writeAll(accountId: string, goesOn: () => boolean): Promise<boolean> {
    while (!this.#isStopped && goesOn()) {
      const began = performance.now();
      if (!(await this.#rows.write(accountId, SLICE))) return true;
      await pause((performance.now() - began) * REST);
    }
    return false;
  }

  /** Negative or 0 when the account is due. */
  #dueInMs({ since, last }: Waiting): number {
    return Math.min(last + this.#quietMs, since + PATIENCE_MS) - performance.now();
  }

  async #dropCovered(accountId: string, account: Waiting): Promise<void> {
    if (this.#isStopped) return;
    const { count } = account;
    try {
      account.left = await this.#rows.dropCovered(accountId);
    } catch (error) {
      // Try again only when there are many more.
      account.left = account.count;
      throw error;
    }
    account.count += account.left - count;
  }

  /** Drops covered deferred writes of one account at a time, in order. */
  #drop(accountId: string, account: Waiting): Promise<void> {
    if (account.dropping !== undefined) return account.dropping;
    const dropping = this.#dropped
      .then(() => this.#dropCovered(accountId, account))
      .finally(() => {
        account.dropping = undefined;
        this.#dropMany(accountId, account);
      });
    account.dropping = dropping;
    this.#dropped = dropping.catch(() => {});
    return dropping;
  }

  #dropMany(accountId: string, account: Waiting): void {
    if (this.#isStopped || account.dropping !== undefined || !isCrowded(account)) return;
    this.#drop(accountId, account).catch((error: unknown) => {
      if (!this.#isStopped) this.#failed(accountId, error);
    });
  }

  /** Returns the time after which the account is due again. */
  async #flush(accountId: string): Promise<number | undefined> {
    const account = this.#waiting.get(accountId);
    if (account === undefined) return undefined;
    if (this.#dueInMs(account) > 0) return this.#dueInMs(account);
    await this.#drop(accountId, account);
    if (this.#dueInMs(account) > 0) return this.#dueInMs(account);
    const { last } = account;
    const isDone = await this.#writeAll(accountId, () => account.last === last || this.#dueInMs(account) <= 0);
    // A commit may have added a deferred write after the last check.
    if (isDone && account.last !== last) account.since = performance.now();
    else if (isDone) this.#waiting.delete(accountId);
    return this.#waiting.has(accountId) ? this.#dueInMs(account) : undefined;
  }
}
