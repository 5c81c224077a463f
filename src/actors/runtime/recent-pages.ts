// Pages of event logs that were read a moment ago: when the clients of a node that has gone come to another one, those of an
// account do not all come in the same moment, and read the same pages. One memory for all accounts of a node, bounded, with
// a share an account.
import { type BudgetedCache, CacheBudget } from '../../bounds/cache-budget.js';
import type { Found, KeptResults } from './single-flight-reads.js';
import type { LogSegment } from './without-gaps.js';

const TTL_MS = 5_000;
/** Events are counted at about twice what they take: what streams make of a page is kept as long as the page. */
const NODE_OCTETS = 32 * 1024 * 1024;
const ACCOUNT_OCTETS = 4 * 1024 * 1024;
/** A page that is larger than this is not kept: a single event may name a hundred thousand emails. */
const LARGEST_PAGE = 1024 * 1024;
/** Rough memory of a page beside its events, of a value, and of a character. */
const PAGE_OCTETS = 400;
const VALUE_OCTETS = 16;
const CHARACTER_OCTETS = 2;

interface Page extends Found<LogSegment> {
  readonly octets: number;
  /** Of the monotonic clock. */
  readonly until: number;
}

export class RecentPages {
  readonly #budget = new CacheBudget(NODE_OCTETS);
  #followers = 0;

  /** For a follower of one account: what another follower has kept is not its own. */
  ofFollower(): KeptResults<LogSegment> {
    return new FollowerPages(`${++this.#followers}`, this.#budget);
  }
}

class FollowerPages implements KeptResults<LogSegment>, BudgetedCache {
  readonly name: string;
  octets = 0;
  readonly #budget: CacheBudget;
  /** By position, the oldest first. */
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

/** Rough memory of a value of JSON. Values that take more than `most` are not gone through to their end. */
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
