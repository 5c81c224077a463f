// Merges segments of the search index in the background: two merges at a time, accounts in turn, and a rest after each. The use of the
// store tells which merges are due; this is not stored: what is forgotten at a stop, or because too many accounts wait, becomes due again
// later.
import type { Logger } from 'pino';
import { Fault } from '../../../concurrency/fault.js';
import { type WorkAttempt, WorkQueue } from '../../../concurrency/work-queue.js';
import type { MergeOutcome, SearchStore } from '../../../store/search.js';

/** The most accounts that wait for their turn. */
const MAX_WAITING = 10_000;
/** If a search reads more segments than this, it asks for a merge. */
const MANY_SEGMENTS = 64;
/** The rest after a merge as a multiple of its time; REST_BEHIND while more than BEHIND accounts wait. */
const REST = 1;
const REST_BEHIND = 0.25;
const LONGEST_REST_MS = 5_000;
/** The merges at a time, each of a different account: a large one does not block small ones. */
const AT_ONCE = 2;
const BEHIND = 100;
/** The pause after a merge that failed. */
const RETRY_MS = 5_000;

export interface MergeMeter {
  merged(outcome: MergeOutcome, ms: number): void;
  failed(ms: number): void;
}

const NO_MERGE_METER: MergeMeter = { merged() {}, failed() {} };

export interface SearchMerging {
  /** The store to use: it detects when merges are due. */
  readonly store: SearchStore;
  /** Reports that emails of the account were removed: when they are many compared with the `live` ones, a merge removes their words. */
  removed(accountId: string, live: number): void;
  /** The number of accounts that wait for a merge. */
  readonly waiting: number;
  stop(): Promise<void>;
}

export interface SearchMergingOptions {
  readonly store: SearchStore;
  readonly log: Pick<Logger, 'warn'>;
  readonly meter?: MergeMeter;
  readonly retryMs?: number;
}

/**
 * Each put of an account adds a segment, and sixteen segments of similar size become one: on average, every sixteenth put asks for a merge.
 * Ids end in random digits, so no counter is needed that nodes would have to share or could lose.
 */
const asksForMerge = (lastId: string): boolean => lastId.endsWith('0');

const isTemporary = (err: unknown): boolean => err instanceof Fault && err.temporary;

export function startSearchMerging(options: SearchMergingOptions): SearchMerging {
  const { store, log, meter = NO_MERGE_METER, retryMs = RETRY_MS } = options;
  /** The number of live emails, for accounts from which some were removed. */
  const liveEmails = new Map<string, number>();

  function note(accountId: string, live?: number): void {
    if (queue.add(accountId) && live !== undefined) liveEmails.set(accountId, live);
  }

  /** Returns 0, so that the account is merged again, when there may be more to merge. */
  async function merge(accountId: string, { signal }: WorkAttempt): Promise<number | undefined> {
    const live = liveEmails.get(accountId);
    liveEmails.delete(accountId);
    const started = performance.now();
    try {
      const outcome = await store.merge(accountId, { ...(live !== undefined && { live }), signal });
      if (outcome.segments > 0) meter.merged(outcome, performance.now() - started);
      if (!outcome.mayBeMore) return undefined;
    } catch (err) {
      if (!signal.aborted) meter.failed(performance.now() - started);
      if (isTemporary(err)) remember(accountId, live);
      throw err;
    }
    remember(accountId, live);
    return 0;
  }

  /** Keeps the number for the next merge, unless a newer one has arrived. */
  function remember(accountId: string, live: number | undefined): void {
    if (live !== undefined && !liveEmails.has(accountId)) liveEmails.set(accountId, live);
  }

  const queue = new WorkQueue({
    work: merge,
    failed: (accountId, err) => log.warn({ accountId, err }, 'the search index is not merged yet'),
    isTemporary,
    workers: AT_ONCE,
    most: MAX_WAITING,
    backoff: { firstMs: retryMs },
    restMs(tookMs, hasFailed) {
      if (hasFailed) return retryMs;
      return Math.min(LONGEST_REST_MS, tookMs * (queue.waiting > BEHIND ? REST_BEHIND : REST));
    },
  });

  return {
    store: {
      ...store,
      async put(emails) {
        const refused = await store.put(emails);
        for (const [accountId, lastId] of new Map(emails.map(({ accountId, id }) => [accountId, id])))
          if (asksForMerge(lastId) && !refused.includes(accountId)) note(accountId);
        return refused;
      },
      async matches(accountId, ...question) {
        const found = await store.matches(accountId, ...question);
        if (found.segments > MANY_SEGMENTS) note(accountId);
        return found;
      },
    },
    removed: note,
    get waiting() {
      return queue.waiting;
    },
    stop: () => queue.stop(),
  };
}
