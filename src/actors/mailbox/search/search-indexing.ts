// Makes emails searchable after their delivery: a delivery writes nothing for search, because the processor limits the intake of mail. In
// the background, accounts are indexed when their deliveries pause: each round has a bounded number of accounts and emails, and rests
// follow the rounds. A search waits until its account is indexed, without rests.
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Fault } from '../../../concurrency/fault.js';
import { lruCache } from '../../../concurrency/lru-cache.js';
import { atMost } from '../../../concurrency/time-bounds.js';
import type { SearchStore } from '../../../store/search.js';
import { ActorFault } from '../../runtime/errors.js';
import type { EmailTexts } from './email-texts.js';
import { makeSearchable } from './searchable-emails.js';

/** The emails of a background round, over all its accounts, if there are few accounts. */
const PAGE = 100;
/** The emails of an account that are indexed at a time while a search waits: nothing is read ahead at the end of a page. */
const AWAITED_PAGE = 500;
/** The most accounts of a background round. */
const ACCOUNTS_A_ROUND = 100;
/**
 * The least emails per account in a round with many accounts: enough to make a segment that is not merged with those of single emails.
 * Accounts with more emails are queued again behind the others.
 */
const FEWEST = 16;
/** The most accounts that are remembered as behind; a search indexes any account. */
const MAX_WAITING = 50_000;
/** The most accounts whose progress is remembered. */
const MAX_KNOWN = 10_000;
/** An account is indexed when its deliveries have paused for QUIET_MS, or when they have lasted for PATIENCE_MS. */
const QUIET_MS = 2_000;
const PATIENCE_MS = 20_000;
const POLL_MS = 250;
/** The rest after a round as a multiple of the round's time; REST_BEHIND while an account has waited longer than BEHIND_MS. */
const REST = 1;
const REST_BEHIND = 0.25;
const BEHIND_MS = 60_000;
/** The rounds at a time while an account has waited longer than BEHIND_MS: the database stores one while the node tokenizes the other. */
const ROUNDS_BEHIND = 2;
/** The longest time between retries of an account that could not be indexed; the first retry follows after QUIET_MS. */
const LONGEST_RETRY_MS = 300_000;
/** The longest time that a search waits. */
const SEARCH_WAIT_MS = 4_000;
/** The time after which a search retries an account that is locked. */
const LOCKED_MS = 250;

export interface SearchIndexing {
  /** Reports that emails up to this id are in the store and must become searchable. */
  note(accountId: string, newestId: string): void;
  /** Resolves when all emails up to this id are searchable. @throws ActorFault when it takes too long */
  reach(accountId: string, newestId: string): Promise<void>;
  stop(): Promise<void>;
}

export interface SearchIndexingOptions {
  readonly store: Pick<SearchStore, 'unindexed' | 'put'>;
  readonly texts: Pick<EmailTexts, 'searchable'>;
  readonly log: Logger;
  readonly quietMs?: number;
  /** The background work speeds up while an account has waited for longer. */
  readonly behindMs?: number;
  readonly searchWaitMs?: number;
}

/** Work on an account for which a search waits. */
interface Job {
  /** Emails up to this id were in the store before the last read began. */
  target: string;
  /** The time at which the last waiting search gives up. */
  until: number;
  /** Resolves when more emails are searchable, and rejects when the job fails; afterwards it is replaced. */
  progress: Deferred;
  readonly done: Promise<void>;
}

/** An account that is behind. */
interface Waiting {
  newestId: string;
  readonly since: number;
  /** The time of the last delivery. */
  last: number;
  /** The number of failed attempts. */
  failures: number;
  /** The earliest time of the next attempt. */
  notBefore: number;
}

class Deferred {
  resolve: () => void = () => {};
  reject: (error: unknown) => void = () => {};
  readonly promise = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    // A rejection without a waiting search must not be reported as unhandled.
    this.promise.catch(() => {});
  }
}

function newlyWaiting(newestId: string): Waiting {
  const now = performance.now();
  return { newestId, since: now, last: now, failures: 0, notBefore: 0 };
}

const isTemporary = (err: unknown): boolean => err instanceof Fault && err.temporary;

export function startSearchIndexing(options: SearchIndexingOptions): SearchIndexing {
  return new Indexing(options);
}

class Indexing implements SearchIndexing {
  readonly #store: Pick<SearchStore, 'unindexed' | 'put'>;
  readonly #texts: Pick<EmailTexts, 'searchable'>;
  readonly #log: Logger;
  readonly #quietMs: number;
  readonly #behindMs: number;
  readonly #searchWaitMs: number;
  readonly #waiting = new Map<string, Waiting>();
  readonly #jobs = new Map<string, Job>();
  readonly #known = lruCache<string, string>(MAX_KNOWN);
  readonly #stopping = new AbortController();
  readonly #signal = this.#stopping.signal;
  readonly #working: Promise<void>;

  constructor(options: SearchIndexingOptions) {
    const { store, texts, log } = options;
    this.#store = store;
    this.#texts = texts;
    this.#log = log;
    const { quietMs = QUIET_MS, behindMs = BEHIND_MS, searchWaitMs = SEARCH_WAIT_MS } = options;
    this.#quietMs = quietMs;
    this.#behindMs = behindMs;
    this.#searchWaitMs = searchWaitMs;
    // Each body that waits for the decoder adds a listener.
    setMaxListeners(0, this.#signal);
    this.#working = this.#inBackground();
  }

  note(accountId: string, newestId: string): void {
    if (this.#isReached(accountId, newestId)) return;
    const entry = this.#waiting.get(accountId);
    if (entry !== undefined) Object.assign(entry, { newestId, last: performance.now() });
    else if (this.#waiting.size < MAX_WAITING) this.#waiting.set(accountId, newlyWaiting(newestId));
  }

  async reach(accountId: string, newestId: string): Promise<void> {
    const until = performance.now() + this.#searchWaitMs;
    while (!this.#isReached(accountId, newestId)) {
      const left = until - performance.now();
      const job = this.#jobOf(accountId, newestId, until);
      job.done.catch(() => {});
      // Waits only for these emails: an account that always gets mail would never be completely indexed.
      if (left <= 0 || this.#signal.aborted || !(await atMost(job.progress.promise, left)))
        throw new ActorFault('overloaded', 'the emails of this account are still being made searchable');
    }
  }

  async stop(): Promise<void> {
    // The interrupted page is indexed after the next start.
    this.#stopping.abort();
    await Promise.allSettled([this.#working, ...[...this.#jobs.values()].map(({ done }) => done)]);
  }

  #isReached(accountId: string, id: string): boolean {
    return (this.#known.get(accountId) ?? '') >= id;
  }

  #learn(accountId: string, id: string): void {
    if (!this.#isReached(accountId, id)) this.#known.set(accountId, id);
  }

  async #run(accountId: string, job: Omit<Job, 'done'>): Promise<void> {
    const reached = (id: string): void => {
      this.#learn(accountId, id);
      job.progress.resolve();
      job.progress = new Deferred();
    };
    while (!this.#signal.aborted) {
      const { target } = job;
      const emails = await this.#store.unindexed([accountId], AWAITED_PAGE);
      const refused = await makeSearchable(
        { store: this.#store, texts: this.#texts },
        emails,
        this.#signal,
        (_, lastId) => reached(lastId),
      );
      if (refused.size > 0) {
        if (performance.now() > job.until) throw new ActorFault('overloaded', 'the account is locked');
        await pause(LOCKED_MS, undefined, { signal: this.#signal }).catch(() => {});
        continue;
      }
      // A page that is not full means that all emails up to `target` are done, even if the last one has been deleted.
      if (emails.length === AWAITED_PAGE) continue;
      reached(target);
      if (job.target === target) return;
    }
  }

  #jobOf(accountId: string, target: string, until: number): Job {
    const running = this.#jobs.get(accountId);
    if (running !== undefined) {
      if (target > running.target) running.target = target;
      running.until = Math.max(running.until, until);
      return running;
    }
    this.#waiting.delete(accountId);
    const started = { target, until, progress: new Deferred() };
    const done = this.#run(accountId, started).then(
      () => {
        this.#jobs.delete(accountId);
        started.progress.resolve();
      },
      (err: unknown) => {
        this.#jobs.delete(accountId);
        if (isTemporary(err) && this.#waiting.size < MAX_WAITING) this.#later(accountId, newlyWaiting(started.target));
        started.progress.reject(err);
        throw err;
      },
    );
    const job: Job = Object.assign(started, { done });
    this.#jobs.set(accountId, job);
    return job;
  }

  /** Removes and returns the next accounts, in the order in which they began to wait. */
  #takeDue(now: number): Map<string, Waiting> {
    const due = new Map<string, Waiting>();
    for (const [accountId, account] of this.#waiting) {
      if (due.size === ACCOUNTS_A_ROUND) break;
      if (now < account.notBefore) continue;
      if (now - account.last < this.#quietMs && now - account.since < PATIENCE_MS) continue;
      this.#waiting.delete(accountId);
      due.set(accountId, account);
    }
    return due;
  }

  /** Queues the account behind the others. */
  #again(accountId: string, account: Waiting): void {
    if (!this.#waiting.has(accountId) && !this.#jobs.has(accountId)) this.#waiting.set(accountId, account);
  }

  /** Queues the account with a growing delay, so that repeated failures cost little. */
  #later(accountId: string, account: Waiting): void {
    const retryMs = Math.min(this.#quietMs * 2 ** account.failures, LONGEST_RETRY_MS);
    this.#again(accountId, { ...account, failures: account.failures + 1, notBefore: performance.now() + retryMs });
  }

  async #round(due: ReadonlyMap<string, Waiting>): Promise<void> {
    const most = Math.max(FEWEST, Math.ceil(PAGE / due.size));
    const emails = await this.#store.unindexed([...due.keys()], most);
    const refused = await makeSearchable(
      { store: this.#store, texts: this.#texts },
      emails,
      this.#signal,
      (accountId, id) => this.#learn(accountId, id),
    );
    const counts = new Map<string, number>();
    for (const { accountId } of emails) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
    for (const [accountId, account] of due) {
      if (refused.has(accountId)) this.#later(accountId, account);
      else if ((counts.get(accountId) ?? 0) < most) this.#learn(accountId, account.newestId);
      else this.#again(accountId, { ...account, failures: 0 });
    }
  }

  /**
   * Indexes each account separately, so that a failing one does not block the others. After a temporary fault it is retried later; after
   * another fault, with its next search or delivery.
   */
  async #eachAlone(due: ReadonlyMap<string, Waiting>): Promise<void> {
    let isAway = false;
    for (const [accountId, account] of due) {
      if (this.#signal.aborted) return;
      if (isAway) {
        this.#again(accountId, account);
        continue;
      }
      try {
        await this.#round(new Map([[accountId, account]]));
      } catch (err) {
        if (this.#signal.aborted) return;
        this.#log.warn({ accountId, err }, 'emails are not searchable yet');
        isAway = isTemporary(err);
        if (isAway) this.#later(accountId, account);
      }
    }
  }

  /** Returns false when the accounts had to be indexed separately. */
  async #carriedOut(due: ReadonlyMap<string, Waiting>): Promise<boolean> {
    try {
      await this.#round(due);
      return true;
    } catch {
      await this.#eachAlone(due);
      return false;
    }
  }

  async #inBackground(): Promise<void> {
    const pollMs = Math.min(POLL_MS, Math.max(1, this.#quietMs));
    while (!this.#signal.aborted) {
      const started = performance.now();
      const first = this.#takeDue(started);
      const isBehind = [...first.values()].some(({ since }) => started - since > this.#behindMs);
      const rounds = [first];
      while (isBehind && rounds.length < ROUNDS_BEHIND) rounds.push(this.#takeDue(started));
      const outcomes = await Promise.all(rounds.filter(({ size }) => size > 0).map((round) => this.#carriedOut(round)));
      const rest = (performance.now() - started) * (isBehind ? REST_BEHIND : REST);
      const shortest = first.size > 0 && outcomes.every((isDone) => isDone) ? 0 : pollMs;
      await pause(Math.max(rest, shortest), undefined, { signal: this.#signal }).catch(() => {});
    }
  }
}
