// Makes emails searchable, after the fact: a delivery stores nothing for search, since taking mail in is bound by the
// processor. Accounts are caught up with in the background once their deliveries pause, few at a time and with rests
// between the pages; whoever searches waits until the account is caught up, without the rests.
import type { Logger } from 'pino';
import { atMost } from '../../bounds/time-bounds.js';
import type { SearchStore } from '../../store/search.js';
import { ActorFault } from '../runtime/errors.js';
import type { EmailTexts } from './email-texts.js';
import { makeSearchable } from './searchable-emails.js';

const PAGE = 100;
/** Accounts in the background at a time. */
const ACCOUNTS_AT_ONCE = 2;
/** Accounts remembered as behind; a search catches up with any. */
const MAX_WAITING = 50_000;
/** Accounts of which it is remembered how far they are. */
const MAX_KNOWN = 10_000;
/** Deliveries pause for this long before they are looked at, or they have been going on for that long. */
const QUIET_MS = 2_000;
const PATIENCE_MS = 20_000;
const POLL_MS = 250;
/** Rest after a page, in times of what it took. */
const REST = 3;
/** Longest that a search waits. */
const SEARCH_WAIT_MS = 4_000;

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
  readonly searchWaitMs?: number;
}

/** Work on one account. */
interface Job {
  /** Emails up to here were in the store before its last look began. */
  target: string;
  /** Resolves when somebody waits for the job: then it takes no more rests. */
  readonly hurry: Deferred;
  isHurried: boolean;
  /** Resolves when more emails are searchable, and rejects when the job fails; then comes the next one. */
  progress: Deferred;
  readonly done: Promise<void>;
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

export function startSearchIndexing(options: SearchIndexingOptions): SearchIndexing {
  const { store, texts, log, quietMs = QUIET_MS, searchWaitMs = SEARCH_WAIT_MS } = options;
  const waiting = new Map<string, { newestId: string; readonly since: number; last: number }>();
  const jobs = new Map<string, Job>();
  const known = new Map<string, string>();
  let background = 0;
  const stopping = new AbortController();

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
    while (!stopping.signal.aborted) {
      const { target } = job;
      const started = performance.now();
      const emails = await store.unindexed(accountId, PAGE);
      await makeSearchable({ store, texts }, accountId, emails, stopping.signal, reached);
      // Nothing is left of what was there when the look began, should the last of it be gone again.
      if (emails.length < PAGE) {
        reached(target);
        if (job.target === target) return;
      }
      const rest = (performance.now() - started) * REST;
      for (let left = rest; left > 0 && !job.isHurried && !stopping.signal.aborted; left -= POLL_MS)
        await atMost(job.hurry.promise, Math.min(left, POLL_MS));
    }
  }

  function jobOf(accountId: string, target: string): Job {
    const running = jobs.get(accountId);
    if (running !== undefined) {
      if (target > running.target) running.target = target;
      return running;
    }
    waiting.delete(accountId);
    const started = { target, hurry: new Deferred(), isHurried: false, progress: new Deferred() };
    const done = run(accountId, started)
      .then(
        () => started.progress.resolve(),
        (err: unknown) => {
          started.progress.reject(err);
          throw err;
        },
      )
      .finally(() => jobs.delete(accountId));
    const job: Job = Object.assign(started, { done });
    jobs.set(accountId, job);
    return job;
  }

  function poll(): void {
    const now = performance.now();
    for (const [accountId, { newestId, since, last }] of waiting) {
      if (background >= ACCOUNTS_AT_ONCE) return;
      if (now - last < quietMs && now - since < PATIENCE_MS) continue;
      waiting.delete(accountId);
      background++;
      jobOf(accountId, newestId)
        .done.catch((err: unknown) => {
          if (!stopping.signal.aborted) log.warn({ accountId, err }, 'emails are not searchable yet');
        })
        .finally(() => background--);
    }
  }
  const timer = setInterval(poll, Math.min(POLL_MS, Math.max(1, quietMs)));

  return {
    note(accountId, newestId) {
      if (isReached(accountId, newestId)) return;
      const last = performance.now();
      const entry = waiting.get(accountId);
      if (entry !== undefined) Object.assign(entry, { newestId, last });
      else if (waiting.size < MAX_WAITING) waiting.set(accountId, { newestId, since: last, last });
    },

    async reach(accountId, newestId) {
      const until = performance.now() + searchWaitMs;
      while (!isReached(accountId, newestId)) {
        const left = until - performance.now();
        const job = jobOf(accountId, newestId);
        job.done.catch(() => {});
        job.isHurried = true;
        job.hurry.resolve();
        // Until these emails are searchable: an account that gets mail all the time is never done with.
        if (left <= 0 || stopping.signal.aborted || !(await atMost(job.progress.promise, left)))
          throw new ActorFault('overloaded', 'the emails of this account are still being made searchable');
      }
    },

    async stop() {
      // The page under way is indexed after the next start.
      stopping.abort();
      clearInterval(timer);
      await Promise.allSettled([...jobs.values()].map(({ done }) => done));
    },
  };
}
