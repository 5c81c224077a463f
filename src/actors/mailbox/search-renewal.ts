// Indexes emails again whose words an earlier version of the program has written: in the background, one account of this
// node at a time and with rests between the pages. Until then those emails are found by what was indexed of them before.
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { SearchStore } from '../../store/search.js';
import type { EmailTexts } from './email-texts.js';
import { makeSearchable } from './searchable-emails.js';

const PAGE = 100;
const ACCOUNTS = 100;
const FIRST_POLL_MS = 5_000;
/** Nodes of an earlier version may write more of it during a rolling upgrade. */
const POLL_MS = 10 * 60_000;
/** Rest after a page, in times of what it took. */
const REST = 3;
const NO_ID = '00000000-0000-0000-0000-000000000000';

export interface SearchRenewal {
  /** Pages of emails that were indexed again since the start, some of them in part. */
  readonly pages: number;
  stop(): Promise<void>;
}

export interface SearchRenewalOptions {
  readonly store: Pick<SearchStore, 'outdated' | 'outdatedAccounts' | 'put'>;
  readonly texts: Pick<EmailTexts, 'searchable'>;
  /** Whether the account's mailbox is this node's. */
  owns(accountId: string): boolean;
  readonly log: Logger;
  readonly firstPollMs?: number;
  readonly pollMs?: number;
}

export function startSearchRenewal(options: SearchRenewalOptions): SearchRenewal {
  const { store, texts, owns, log, firstPollMs = FIRST_POLL_MS, pollMs = POLL_MS } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  // Each body that waits for the decoder listens.
  setMaxListeners(0, signal);
  let pages = 0;

  async function renew(accountId: string): Promise<number> {
    let count = 0;
    while (!signal.aborted && owns(accountId)) {
      const started = performance.now();
      const emails = await store.outdated(accountId, PAGE);
      if (emails.length === 0) break;
      let refused: ReadonlySet<string>;
      try {
        refused = await makeSearchable({ store, texts }, emails, signal);
      } finally {
        // A part of the page may be stored, and it may not be known whether it is.
        pages++;
      }
      // An account that is being deleted. One that stays comes again with the next poll.
      if (refused.size > 0) break;
      count += emails.length;
      await pause((performance.now() - started) * REST, undefined, { signal });
    }
    return count;
  }

  /** An account that cannot be indexed now keeps no other waiting. */
  async function renewed(accountId: string): Promise<number> {
    try {
      return await renew(accountId);
    } catch (err) {
      if (!signal.aborted) log.warn({ accountId, err }, 'emails could not be indexed for search again');
      return 0;
    }
  }

  async function poll(): Promise<void> {
    let count = 0;
    for (let after = NO_ID; ; ) {
      const accounts = await store.outdatedAccounts(after, ACCOUNTS);
      for (const accountId of accounts) if (!signal.aborted && owns(accountId)) count += await renewed(accountId);
      if (accounts.length < ACCOUNTS || signal.aborted) break;
      after = accounts.at(-1)!;
    }
    if (count > 0) log.info({ emails: count }, 'emails of an earlier version were indexed for search again');
  }

  async function run(): Promise<void> {
    for (let waitMs = firstPollMs; !signal.aborted; waitMs = pollMs) {
      try {
        await pause(waitMs, undefined, { signal });
        await poll();
      } catch (err) {
        if (!signal.aborted) log.warn({ err }, 'emails of an earlier version could not be looked for');
      }
    }
  }
  const running = run();

  return {
    get pages() {
      return pages;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
