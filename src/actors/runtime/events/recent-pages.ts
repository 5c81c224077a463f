// A cache of recently read pages of event logs: when a node is gone, its clients come to another one, and those of one account read the
// same pages at slightly different times. One bounded memory for all accounts of a node, with a share per account.
import { LRUCache } from 'lru-cache';
import { type BudgetedCache, CacheBudget } from '../../../concurrency/cache-budget.js';
import type { Found, KeptResults } from '../single-flight-reads.js';
import type { LogSegment } from './without-gaps.js';

const TTL_MS = 5_000;
/** Events count about twice their memory, because streams keep data derived from a page as long as the page. */
const NODE_OCTETS = 32 * 1024 * 1024;
const ACCOUNT_OCTETS = 4 * 1024 * 1024;
/** A larger page is not cached: a single event may name a hundred thousand emails. */
const LARGEST_PAGE = 1024 * 1024;
/** Approximate memory of a page apart from its events, of a value, and of a character. */
const PAGE_OCTETS = 400;
const VALUE_OCTETS = 16;
const CHARACTER_OCTETS = 2;

export class RecentPages {
  readonly #budget = new CacheBudget(NODE_OCTETS);
  #followers = 0;

  /** Returns the pages for a follower of one account; followers do not share pages. */
  ofFollower(): KeptResults<LogSegment> {
    return new FollowerPages(`${++this.#followers}`, this.#budget);
  }
}

class FollowerPages implements KeptResults<LogSegment>, BudgetedCache {
  readonly name: string;
  readonly #budget: CacheBudget;
  /** Keyed by position. Most followers read no pages, so they have no cache. */
  #pages: LRUCache<number, Found<LogSegment>> | undefined;

  constructor(name: string, budget: CacheBudget) {
    this.name = name;
    this.#budget = budget;
  }

  get octets(): number {
    return this.#pages?.calculatedSize ?? 0;
  }

  get(position: number): Found<LogSegment> | undefined {
    return this.#pages?.get(position);
  }

  keep(position: number, found: Found<LogSegment>): void {
    this.#pages ??= new LRUCache({
      maxSize: ACCOUNT_OCTETS,
      maxEntrySize: LARGEST_PAGE,
      ttl: TTL_MS,
      ttlResolution: 0,
    });
    this.#pages.purgeStale();
    this.#pages.set(position, found, { size: PAGE_OCTETS + octetsOf(found.value.events, LARGEST_PAGE) });
    this.#budget.use(this);
  }

  clear(): void {
    this.#pages?.clear();
  }
}

/** Approximate memory of a JSON value. The count stops when it exceeds `most`. */
function octetsOf(value: unknown, most: number): number {
  if (typeof value === 'string') return VALUE_OCTETS + value.length * CHARACTER_OCTETS;
  let octets = VALUE_OCTETS;
  if (typeof value !== 'object' || value === null) return octets;
  for (const name in value) {
    octets += octetsOf((value as Readonly<Record<string, unknown>>)[name], most - octets);
    if (octets > most) break;
  }
  return octets;
}
