// Pages of event logs that were read a moment ago: when the clients of a node that has gone come to another one, those of an
// account do not all come in the same moment, and read the same pages. One memory for all accounts of a node, bounded.
import { LRUCache } from 'lru-cache';
import type { KeptResults } from './shared-reads.js';
import type { LogSegment } from './without-gaps.js';

const TTL_MS = 5_000;
const MOST_PAGES = 8_192;
/** Events are counted at about twice what they take: what streams make of a page is kept as long as the page. */
const MOST_OCTETS = 32 * 1024 * 1024;
/** A page that is larger than this is not kept: a single event may name a hundred thousand emails. */
const LARGEST_PAGE = 1024 * 1024;
/** Rough memory of a page beside its events, of a value, and of a character. */
const PAGE_OCTETS = 200;
const VALUE_OCTETS = 16;
const CHARACTER_OCTETS = 2;

interface Page {
  readonly value: LogSegment;
  readonly began: number;
}

export class RecentPages {
  readonly #pages = new LRUCache<string, Page>({
    max: MOST_PAGES,
    maxSize: MOST_OCTETS,
    sizeCalculation: ({ value }) => PAGE_OCTETS + octetsOf(value.events, LARGEST_PAGE),
    maxEntrySize: LARGEST_PAGE,
    ttl: TTL_MS,
    perf: { now: () => performance.now() },
  });
  #followers = 0;

  /** For a follower of one account: what another follower has kept is not its own. */
  ofFollower(): KeptResults<LogSegment> {
    const follower = ++this.#followers;
    return {
      get: (position) => this.#pages.get(`${follower} ${position}`),
      keep: (position, page) => void this.#pages.set(`${follower} ${position}`, page),
    };
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
