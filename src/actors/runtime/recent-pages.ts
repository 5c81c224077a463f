// A cache of recently read pages of event logs: when a node is gone, its clients come to another one, and those of one account read the
// same pages at slightly different times. One bounded memory for all accounts of a node, with a share per account.
import { type BudgetedCache, CacheBudget } from '../../bounds/cache-budget.js';
import type { Found, KeptResults } from './single-flight-reads.js';
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

interface Page extends Found<LogSegment> {
  readonly octets: number;
  /** A time of the monotonic clock. */
  readonly until: number;
}

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
  octets = 0;
  readonly #budget: CacheBudget;
  /** Keyed by position, oldest first. */
  readonly #pages = new Map<number, Page>();

  constructor(name: string, budget: CacheBudget) {
    this.name = name;
    this.#budget = budget;
  }

  get(position: number): Found<LogSegment> | undefined {
    const page = this.#pages.get(position);
    return page !== undefined && page.until > performance.now() ? page : undefined;
  }

  keep(position: number, { value, began }: Found<LogSegment>): void {
    this.#drop(position);
    const octets = PAGE_OCTETS + octetsOf(value.events, LARGEST_PAGE);
    const now = performance.now();
    if (octets <= LARGEST_PAGE) {
      this.#pages.set(position, { value, began, octets, until: now + TTL_MS });
      this.octets += octets;
    }
    for (const [oldest, { until }] of this.#pages) {
      if (this.octets <= ACCOUNT_OCTETS && until > now) break;
      this.#drop(oldest);
    }
    this.#budget.use(this);
  }

  clear(): void {
    this.#pages.clear();
    this.octets = 0;
  }

  #drop(position: number): void {
    this.octets -= this.#pages.get(position)?.octets ?? 0;
    this.#pages.delete(position);
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
