// Pages of event logs that were read a moment ago: when the clients of a node that has gone come to another one, those of an
// account do not all come in the same moment, and read the same pages. One memory for all accounts of a node, bounded.
import { LRUCache } from 'lru-cache';
import type { KeptResults } from './shared-reads.js';
import type { LogSegment } from './without-gaps.js';

const TTL_MS = 5_000;
const MOST_PAGES = 8_192;
const MOST_EVENTS = 32_768;

interface Page {
  readonly value: LogSegment;
  readonly began: number;
}

export class RecentPages {
  readonly #pages = new LRUCache<string, Page>({
    max: MOST_PAGES,
    maxSize: MOST_EVENTS,
    sizeCalculation: ({ value }) => 1 + value.events.length,
    // A page that is larger than this is not kept.
    maxEntrySize: MOST_EVENTS / 64,
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
