// The memory that the caches of a node may use together. Each cache also limits itself; when all caches exceed the budget, the least
// recently used cache is cleared.
import { LRUCache } from 'lru-cache';

/** A cache, for example of one account. */
export interface BudgetedCache {
  /** A new cache with the same name replaces the earlier one. */
  readonly name: string;
  readonly octets: number;
  clear(): void;
}

export class CacheBudget<Cache extends BudgetedCache = BudgetedCache> {
  /** Keyed by name. The size of a cache is that at its last use. */
  readonly #caches: LRUCache<string, Cache>;

  constructor(mostOctets: number) {
    this.#caches = new LRUCache({
      maxSize: mostOctets,
      sizeCalculation: ({ octets }) => octets,
      dispose: (cache, _name, reason) => {
        if (reason === 'evict') cache.clear();
      },
    });
  }

  /** The memory of all caches. */
  get octets(): number {
    return this.#caches.calculatedSize;
  }

  /** The number of caches that are not empty. */
  get size(): number {
    return this.#caches.size;
  }

  /** The cache with this name, unless it is empty. */
  cache(name: string): Cache | undefined {
    return this.#caches.peek(name);
  }

  /** Must be called when the cache is used and when it has grown. */
  use(cache: Cache): void {
    const { name, octets } = cache;
    // The size of a value that is set again would not be counted again.
    this.#caches.delete(name);
    // Empty caches are dropped, because their number is unbounded.
    if (octets === 0) return;
    if (octets > this.#caches.maxSize) cache.clear();
    else this.#caches.set(name, cache);
  }
}
