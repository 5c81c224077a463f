// The memory that the caches of a node may use together. Each cache also limits itself; when all caches exceed the budget, the least
// recently used cache is cleared.

/** A cache, for example of one account. */
export interface BudgetedCache {
  /** A new cache with the same name replaces the earlier one. */
  readonly name: string;
  readonly octets: number;
  clear(): void;
}

export class CacheBudget<Cache extends BudgetedCache = BudgetedCache> {
  readonly #mostOctets: number;
  /** Keyed by name, least recently used first; `octets`: the cache's size at its last use. */
  readonly #caches = new Map<string, { readonly cache: Cache; readonly octets: number }>();
  #octets = 0;

  constructor(mostOctets: number) {
    this.#mostOctets = mostOctets;
  }

  /** The memory of all caches. */
  get octets(): number {
    return this.#octets;
  }

  /** The number of caches that are not empty. */
  get size(): number {
    return this.#caches.size;
  }

  /** The cache with this name, unless it is empty. */
  cache(name: string): Cache | undefined {
    return this.#caches.get(name)?.cache;
  }

  /** Must be called when the cache is used and when it has grown. */
  use(cache: Cache): void {
    this.#forget(cache.name);
    // Empty caches are dropped, because their number is unbounded.
    if (cache.octets === 0) return;
    this.#caches.set(cache.name, { cache, octets: cache.octets });
    this.#octets += cache.octets;
    for (const [name, { cache: oldest }] of this.#caches) {
      if (this.#octets <= this.#mostOctets || oldest === cache) break;
      this.#forget(name);
      oldest.clear();
    }
  }

  #forget(name: string): void {
    this.#octets -= this.#caches.get(name)?.octets ?? 0;
    this.#caches.delete(name);
  }
}
