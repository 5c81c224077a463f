// Makes emails searchable, after the fact: a delivery stores nothing for search, since taking mail in is bound by the
// processor. Accounts are caught up with in the background once their deliveries pause, in rounds of a bounded number of
// accounts and emails with rests between them; whoever searches waits until the account is caught up, without the rests.
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { atMost } from '../../bounds/time-bounds.js';
import { Fault } from '../../errors/fault.js';
import type { SearchStore } from '../../store/search.js';
import { ActorFault } from '../runtime/errors.js';
import type { EmailTexts } from './email-texts.js';
import { makeSearchable } from './searchable-emails.js';

/** Emails of a round in the background, of all its accounts together when they are few. */
const PAGE = 100;
/** Emails of an account at a time that a search waits for: nothing is read ahead at the end of a page. */
const AWAITED_PAGE = 500;
/** Accounts of a round in the background. */
const ACCOUNTS_A_ROUND = 100;
/**
 * Emails of each of many accounts in a round: they make a segment that is not merged with those of single emails. Accounts
 * that have more come again behind the others.
 */
const FEWEST = 16;
/** Accounts remembered as behind; a search catches up with any. */
const MAX_WAITING = 50_000;
/** Accounts of which it is remembered how far they are. */
const MAX_KNOWN = 10_000;
/** Deliveries pause for this long before they are looked at, or they have been going on for that long. */
const QUIET_MS = 2_000;
const PATIENCE_MS = 20_000;
const POLL_MS = 250;
/** Rest after a round, in times of what it took, and the same once an account has waited for so long. */
const REST = 1;
const REST_BEHIND = 0.25;
const BEHIND_MS = 60_000;
/** Rounds at a time once an account has waited for so long: the database works on one while the node cuts words of the other. */
const ROUNDS_BEHIND = 2;
/** An account that could not be indexed is tried again: first after the time for which deliveries pause, at last after this. */
const LONGEST_RETRY_MS = 300_000;
/** Longest that a search waits. */
const SEARCH_WAIT_MS = 4_000;
/** Until a search tries again with an account that is locked. */
const LOCKED_MS = 250;

export interface SearchIndexing {
  /** Emails up to this id are in the store: they will become searchable. */
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
  /** An account that has waited for longer makes the background work faster. */
  readonly behindMs?: number;
  readonly searchWaitMs?: number;
}

/** Work on an account that a search waits for. */
interface Job {
  /** Emails up to here were in the store before its last look began. */
  target: string;
  /** When the last search gives up that waits for it. */
  until: number;
  /** Resolves when more emails are searchable, and rejects when the job fails; then comes the next one. */
  progress: Deferred;
  readonly done: Promise<void>;
}

/** An account that is behind. */
interface Waiting {
  newestId: string;
  readonly since: number;
  /** Of the last delivery. */
  last: number;
  /** Attempts that failed. */
  failures: number;
  /** Not tried before. */
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
    // Nobody may be waiting.
    this.promise.catch(() => {});
  }
}

function newlyWaiting(newestId: string): Waiting {
  const now = performance.now();
  return { newestId, since: now, last: now, failures: 0, notBefore: 0 };
}

const isTemporary = (err: unknown): boolean => err instanceof Fault && err.temporary;

export function startSearchIndexing(options: SearchIndexingOptions): SearchIndexing {
  const { store, texts, log } = options;
  const { quietMs = QUIET_MS, behindMs = BEHIND_MS, searchWaitMs = SEARCH_WAIT_MS } = options;
  const waiting = new Map<string, Waiting>();
  const jobs = new Map<string, Job>();
  const known = new Map<string, string>();
  const stopping = new AbortController();
  const { signal } = stopping;
  // Each body that waits for the decoder listens.
  setMaxListeners(0, signal);

  const isReached = (accountId: string, id: string): boolean => (known.get(accountId) ?? '') >= id;

  function learn(accountId: string, id: string): void {
    if (isReached(accountId, id)) return;
    known.delete(accountId);
    known.set(accountId, id);
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
  }

  async function run(accountId: string, job: Omit<Job, 'done'>): Promise<void> {
    const reached = (id: string): void => {
      learn(accountId, id);
      job.progress.resolve();
      job.progress = new Deferred();
    };
    while (!signal.aborted) {
      const { target } = job;
      const emails = await store.unindexed([accountId], AWAITED_PAGE);
      const refused = await makeSearchable({ store, texts }, emails, signal, (_, lastId) => reached(lastId));
      if (refused.size > 0) {
        if (performance.now() > job.until) throw new ActorFault('overloaded', 'the account is locked');
        await pause(LOCKED_MS, undefined, { signal }).catch(() => {});
        continue;
      }
      // Nothing is left of what was there when the look began, should the last of it be gone again.
      if (emails.length === AWAITED_PAGE) continue;
      reached(target);
      if (job.target === target) return;
    }
  }

  function jobOf(accountId: string, target: string, until: number): Job {
    const running = jobs.get(accountId);
    if (running !== undefined) {
      if (target > running.target) running.target = target;
      running.until = Math.max(running.until, until);
      return running;
    }
    waiting.delete(accountId);
    const started = { target, until, progress: new Deferred() };
    const done = run(accountId, started).then(
      () => {
        jobs.delete(accountId);
        started.progress.resolve();
      },
      (err: unknown) => {
        jobs.delete(accountId);
        if (isTemporary(err) && waiting.size < MAX_WAITING) later(accountId, newlyWaiting(started.target));
        started.progress.reject(err);
        throw err;
      },
    );
    const job: Job = Object.assign(started, { done });
    jobs.set(accountId, job);
    return job;
  }

  /** The next accounts in the order in which they began to wait. */
  function takeDue(now: number): Map<string, Waiting> {
    const due = new Map<string, Waiting>();
    for (const [accountId, account] of waiting) {
      if (due.size === ACCOUNTS_A_ROUND) break;
      if (now < account.notBefore) continue;
      if (now - account.last < quietMs && now - account.since < PATIENCE_MS) continue;
      waiting.delete(accountId);
      due.set(accountId, account);
    }
    return due;
  }

  /** Behind the others. */
  function again(accountId: string, account: Waiting): void {
    if (!waiting.has(accountId) && !jobs.has(accountId)) waiting.set(accountId, account);
  }

  /** An account that fails again and again costs little, and is not forgotten. */
  function later(accountId: string, account: Waiting): void {
    const retryMs = Math.min(quietMs * 2 ** account.failures, LONGEST_RETRY_MS);
    again(accountId, { ...account, failures: account.failures + 1, notBefore: performance.now() + retryMs });
  }

  async function round(due: ReadonlyMap<string, Waiting>): Promise<void> {
    const most = Math.max(FEWEST, Math.ceil(PAGE / due.size));
    const emails = await store.unindexed([...due.keys()], most);
    const refused = await makeSearchable({ store, texts }, emails, signal, learn);
    const counts = new Map<string, number>();
    for (const { accountId } of emails) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
    for (const [accountId, account] of due) {
      if (refused.has(accountId)) later(accountId, account);
      else if ((counts.get(accountId) ?? 0) < most) learn(accountId, account.newestId);
      else again(accountId, { ...account, failures: 0 });
    }
  }

  /**
   * An account that cannot be indexed keeps no other waiting: after a temporary fault it comes again later, after another
   * one with its next search or delivery.
   */
  async function eachAlone(due: ReadonlyMap<string, Waiting>): Promise<void> {
    let isAway = false;
    for (const [accountId, account] of due) {
      if (signal.aborted) return;
      if (isAway) {
        again(accountId, account);
        continue;
      }
      try {
        await round(new Map([[accountId, account]]));
      } catch (err) {
        if (signal.aborted) return;
        log.warn({ accountId, err }, 'emails are not searchable yet');
        isAway = isTemporary(err);
        if (isAway) later(accountId, account);
      }
    }
  }

  /** False when the accounts had to be tried each by itself. */
  async function carriedOut(due: ReadonlyMap<string, Waiting>): Promise<boolean> {
    try {
      await round(due);
      return true;
    } catch {
      await eachAlone(due);
      return false;
    }
  }

  async function inBackground(): Promise<void> {
    const pollMs = Math.min(POLL_MS, Math.max(1, quietMs));
    while (!signal.aborted) {
      const started = performance.now();
      const first = takeDue(started);
      const isBehind = [...first.values()].some(({ since }) => started - since > behindMs);
      const rounds = [first];
      while (isBehind && rounds.length < ROUNDS_BEHIND) rounds.push(takeDue(started));
      const outcomes = await Promise.all(rounds.filter(({ size }) => size > 0).map(carriedOut));
      const rest = (performance.now() - started) * (isBehind ? REST_BEHIND : REST);
      const shortest = first.size > 0 && outcomes.every((isDone) => isDone) ? 0 : pollMs;
      await pause(Math.max(rest, shortest), undefined, { signal }).catch(() => {});
    }
  }
  const working = inBackground();

  return {
    note(accountId, newestId) {
      if (isReached(accountId, newestId)) return;
      const entry = waiting.get(accountId);
      if (entry !== undefined) Object.assign(entry, { newestId, last: performance.now() });
      else if (waiting.size < MAX_WAITING) waiting.set(accountId, newlyWaiting(newestId));
    },

    async reach(accountId, newestId) {
      const until = performance.now() + searchWaitMs;
      while (!isReached(accountId, newestId)) {
        const left = until - performance.now();
        const job = jobOf(accountId, newestId, until);
        job.done.catch(() => {});
        // Until these emails are searchable: an account that gets mail all the time is never done with.
        if (left <= 0 || signal.aborted || !(await atMost(job.progress.promise, left)))
          throw new ActorFault('overloaded', 'the emails of this account are still being made searchable');
      }
    },

    async stop() {
      // The page under way is indexed after the next start.
      stopping.abort();
      await Promise.allSettled([working, ...[...jobs.values()].map(({ done }) => done)]);
    },
  };
}
