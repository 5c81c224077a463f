// Merges segments of the search index in the background: two merges at a time, accounts in turn, and a rest after each. The use of the
// store tells which merges are due; this is not stored: what is forgotten at a stop, or because too many accounts wait, becomes due again
// later.
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Fault } from '../../errors/fault.js';
import type { MergeOutcome, SearchStore } from '../../store/search.js';

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

export function startSearchMerging(options: SearchMergingOptions): SearchMerging {
  const { store, log, meter = NO_MERGE_METER, retryMs = RETRY_MS } = options;
  /** Accounts in the order of their turns, with the number of live emails if some were removed. */
  const waiting = new Map<string, number | undefined>();
  const merged = new Set<string>();
  const stopping = new AbortController();
  const { signal } = stopping;
  const idle = new Set<() => void>();

  function wake(): void {
    for (const begin of idle) begin();
    idle.clear();
  }

  function note(accountId: string, live?: number): void {
    const isKnown = waiting.has(accountId);
    if (!isKnown && waiting.size >= MAX_WAITING) return;
    waiting.set(accountId, live ?? waiting.get(accountId));
    wake();
  }

  /** The account whose turn it is; undefined when all that wait are being merged. */
  function next(): string | undefined {
    for (const accountId of waiting.keys()) if (!merged.has(accountId)) return accountId;
    return undefined;
  }

  /**
   * Returns how long to rest. After a temporary fault, the account is queued again; after another fault, a merge must be asked for again.
   */
  async function merge(accountId: string): Promise<number> {
    const live = waiting.get(accountId);
    waiting.delete(accountId);
    merged.add(accountId);
    const started = performance.now();
    try {
      const outcome = await store.merge(accountId, { ...(live !== undefined && { live }), signal });
      const ms = performance.now() - started;
      if (outcome.segments > 0) meter.merged(outcome, ms);
      if (outcome.mayBeMore) note(accountId, live);
      return Math.min(LONGEST_REST_MS, ms * (waiting.size > BEHIND ? REST_BEHIND : REST));
    } catch (err) {
      if (signal.aborted) return 0;
      meter.failed(performance.now() - started);
      log.warn({ accountId, err }, 'the search index is not merged yet');
      if (err instanceof Fault && err.temporary) note(accountId, live);
      return retryMs;
    } finally {
      merged.delete(accountId);
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const accountId = next();
      if (accountId === undefined) await new Promise<void>((resolve) => idle.add(resolve));
      else await pause(await merge(accountId), undefined, { signal }).catch(() => {});
    }
  }
  const running = Promise.all(Array.from({ length: AT_ONCE }, run));

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
      return waiting.size;
    },
    async stop() {
      stopping.abort();
      wake();
      await running;
    },
  };
}
