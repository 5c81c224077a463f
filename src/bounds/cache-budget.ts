// The memory of a node for what caches keep only because it may be wanted again: each cache bounds what it keeps itself, and when
// all of them have more than the room, the cache that was used least recently gives up all of its own.

/** Keeps something in memory, for an account or the like. */
export interface BudgetedCache {
  /** A cache that is made anew takes the place of the one before it. */
  readonly name: string;
  readonly octets: number;
  clear(): void;
}

export class CacheBudget<Cache extends BudgetedCache = BudgetedCache> {
  readonly #mostOctets: number;
  /** By name, the least recently used first; `octets`: when the cache was used last. */
  readonly #caches = new Map<string, { readonly cache: Cache; readonly octets: number }>();
  #octets = 0;

  constructor(mostOctets: number) {
    this.#mostOctets = mostOctets;
  }

  /** Of all caches. */
  get octets(): number {
    return this.#octets;
  }

  /** How many caches keep something. */
  get size(): number {
    return this.#caches.size;
  }

  /** The one that keeps something under this name. */
  cache(name: string): Cache | undefined {
    return this.#caches.get(name)?.cache;
  }

  /** To be called when the cache is used and when it has more than before. */
  use(cache: Cache): void {
    this.#forget(cache.name);
    // Whoever keeps nothing is not remembered either: there is no end of empty ones.
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
