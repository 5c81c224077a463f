// Keeps searched segments in memory while there is room: small ones completely, large ones only with their ids. Segments never
// change. A segment that does not fit next to others of its account is not kept, because every search reads all of them in the
// same order.
import { type BudgetedCache, CacheBudget } from '../../../concurrency/cache-budget.js';
import type { IndexPage } from '../../word-index/index-page.js';

const NODE_OCTETS = 32 * 1024 * 1024;
const ACCOUNT_OCTETS = NODE_OCTETS / 2;
/** Estimated overhead of an entry. */
const ENTRY_OCTETS = 256;

export interface CachedSegment {
  readonly id: number;
  readonly ids: Uint8Array;
  /** The only page of a small segment. */
  readonly page?: IndexPage;
  readonly hasPositions: boolean;
}

class AccountSegments implements BudgetedCache {
  readonly name: string;
  readonly segments = new Map<number, CachedSegment>();
  octets = 0;

  constructor(accountId: string) {
    this.name = accountId;
  }

  keep(segment: CachedSegment): void {
    this.drop(segment.id);
    const octets = octetsOf(segment);
    if (this.octets + octets > ACCOUNT_OCTETS) return;
    this.segments.set(segment.id, segment);
    this.octets += octets;
  }

  drop(id: number): void {
    const segment = this.segments.get(id);
    if (segment === undefined) return;
    this.segments.delete(id);
    this.octets -= octetsOf(segment);
  }

  clear(): void {
    this.segments.clear();
    this.octets = 0;
  }
}

export class SegmentCache {
  readonly #budget = new CacheBudget<AccountSegments>(NODE_OCTETS);

  of(accountId: string): ReadonlyMap<number, CachedSegment> {
    const account = this.#budget.cache(accountId);
    if (account === undefined) return new Map();
    this.#budget.use(account);
    return new Map(account.segments);
  }

  keep(accountId: string, segment: CachedSegment): void {
    const account = this.#budget.cache(accountId) ?? new AccountSegments(accountId);
    account.keep(segment);
    this.#budget.use(account);
  }

  /** Drops the other segments of the account, which no longer exist. */
  retain(accountId: string, ids: ReadonlySet<number>): void {
    const account = this.#budget.cache(accountId);
    if (account === undefined) return;
    for (const id of account.segments.keys()) if (!ids.has(id)) account.drop(id);
    this.#budget.use(account);
  }
}

function octetsOf({ ids, page }: CachedSegment): number {
  return ENTRY_OCTETS + ids.length + (page === undefined ? 0 : page.words.length + page.positions.length);
}
