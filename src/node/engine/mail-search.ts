// The search of a node: the store of words, and the jobs that maintain it: they index emails and merge segments.
import type { Logger } from 'pino';
import type { EmailTexts } from '../../actors/mailbox/search/email-texts.js';
import { startSearchIndexing } from '../../actors/mailbox/search/search-indexing.js';
import { type MergeMeter, startSearchMerging } from '../../actors/mailbox/search/search-merging.js';
import { withSearchSemaphore } from '../../actors/mailbox/search/search-semaphore.js';
import type { Sql } from '../../store/postgres/driver/client.js';
import { postgresSearch } from '../../store/postgres/search/search.js';
import { SEARCHES_AT_ONCE } from '../resources.js';

export interface MailSearchOptions {
  readonly sql: Sql;
  readonly texts: EmailTexts;
  readonly meter: MergeMeter | undefined;
  readonly log: Logger;
  /** Registers a job by its name; it stops with the node. */
  readonly job: (name: string, stop: () => Promise<void>) => void;
}

export type MailSearch = ReturnType<typeof startMailSearch>;

export function startMailSearch({ sql, texts, meter, log, job }: MailSearchOptions) {
  const merging = startSearchMerging({ store: postgresSearch(sql), log, ...(meter && { meter }) });
  job('merges of search', () => merging.stop());
  const store = withSearchSemaphore(merging.store, SEARCHES_AT_ONCE);
  const indexing = startSearchIndexing({ store, texts, log });
  job('search', () => indexing.stop());
  return { store, indexing, merging };
}
