// Makes emails searchable, after the fact: a delivery stores nothing for search, since taking mail in is bound by the
// processor. Accounts are caught up with in the background once their deliveries pause, few at a time and with rests
// between the pages; whoever searches waits until the account is caught up, without the rests.
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { atMost } from '../../bounds/time-bounds.js';
import { wordsOf } from '../../mail/search-text.js';
import type { EmailWords, SearchStore, UnindexedEmail } from '../../store/search.js';
import { ActorFault } from '../runtime/errors.js';
import type { EmailTexts } from './email-texts.js';

const PAGE = 100;
/** Bodies read and decoded at a time. */
const TEXTS_AT_ONCE = 8;
/** Words of a body that are found. */
const BODY_WORDS = 60_000;
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
  hurried: boolean;
  readonly done: Promise<void>;
}

/** What is found of these emails. */
export async function emailWords(
  texts: Pick<EmailTexts, 'searchable'>,
  accountId: string,
  emails: readonly UnindexedEmail[],
  signal: AbortSignal,
): Promise<readonly EmailWords[]> {
  const words = async ({ id, blob, subject, fromAddress, fromName }: UnindexedEmail): Promise<EmailWords> => {
    const { recipients, attachments, body } = await texts.searchable(accountId, blob, signal);
    return {
      id,
      subject: wordsOf(subject),
      sender: wordsOf(`${fromName} ${fromAddress}`),
      recipients: wordsOf(recipients),
      attachments: wordsOf(attachments),
      body: wordsOf(body, BODY_WORDS),
    };
  };
  const all: EmailWords[] = [];
  for (let i = 0; i < emails.length; i += TEXTS_AT_ONCE)
    all.push(...(await Promise.all(emails.slice(i, i + TEXTS_AT_ONCE).map(words))));
  return all;
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

  async function pageOf(accountId: string): Promise<number> {
    const emails = await store.unindexed(accountId, PAGE);
    await store.put(accountId, await emailWords(texts, accountId, emails, stopping.signal));
    if (emails.length > 0) learn(accountId, emails.at(-1)!.id);
    return emails.length;
  }

  async function run(accountId: string, job: Pick<Job, 'target' | 'hurried'>): Promise<void> {
    while (!stopping.signal.aborted) {
      const { target } = job;
      const started = performance.now();
      const count = await pageOf(accountId);
      // Nothing is left of what was there when the look began, should the last of it be gone again.
      if (count < PAGE) {
        learn(accountId, target);
        if (job.target === target) return;
      }
      for (
        let rest = (performance.now() - started) * REST;
        rest > 0 && !job.hurried && !stopping.signal.aborted;
        rest -= POLL_MS
      )
        await pause(Math.min(rest, POLL_MS));
    }
  }

  function work(accountId: string, target: string, hurried: boolean): Promise<void> {
    const running = jobs.get(accountId);
    if (running !== undefined) {
      if (target > running.target) running.target = target;
      running.hurried ||= hurried;
      return running.done;
    }
    waiting.delete(accountId);
    const shape = { target, hurried };
    const done = run(accountId, shape).finally(() => jobs.delete(accountId));
    jobs.set(accountId, Object.assign(shape, { done }));
    return done;
  }

  function poll(): void {
    const now = performance.now();
    for (const [accountId, { newestId, since, last }] of waiting) {
      if (background >= ACCOUNTS_AT_ONCE) return;
      if (now - last < quietMs && now - since < PATIENCE_MS) continue;
      waiting.delete(accountId);
      background++;
      work(accountId, newestId, false)
        .catch((err: unknown) => {
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
        const job = work(accountId, newestId, true);
        job.catch(() => {});
        if (left <= 0 || stopping.signal.aborted || !(await atMost(job, left)))
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
