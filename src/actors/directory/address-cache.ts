// Caches for a short time what addresses lead to: most deliveries of a burst go to few addresses. Concurrent look-ups of one
// address share one read. An address that is dropped during its look-up is not cached afterwards.
import { lruCache } from '../../concurrency/lru-cache.js';
import { isCatchAll } from '../../mail-format/alias-expansion.js';
import type { AddressRoute } from '../../store/directory.js';

const MAX_ADDRESSES = 50_000;
const TTL_MS = 30_000;

export class AddressCache {
  readonly #routes = lruCache<string, AddressRoute>(MAX_ADDRESSES, { ttl: TTL_MS });
  readonly #pending = new Map<string, Promise<AddressRoute | undefined>>();

  /** Returns the cached route, or the result of `find`; only routes are cached, never their absence. */
  route(address: string, find: () => Promise<AddressRoute | undefined>): Promise<AddressRoute | undefined> {
    const known = this.#routes.get(address);
    if (known !== undefined) return Promise.resolve(known);
    const running = this.#pending.get(address);
    if (running !== undefined) return running;
    const search = find().then(
      (route) => {
        if (this.#finish(address, search) && route !== undefined) this.#routes.set(address, route);
        return route;
      },
      (error: unknown) => {
        this.#finish(address, search);
        throw error;
      },
    );
    this.#pending.set(address, search);
    return search;
  }

  /** Returns false when the address was dropped meanwhile. */
  #finish(address: string, search: Promise<AddressRoute | undefined>): boolean {
    if (this.#pending.get(address) !== search) return false;
    return this.#pending.delete(address);
  }

  /** `*@domain` drops all addresses of the domain. */
  drop(address: string): void {
    if (isCatchAll(address)) this.#dropDomain(address.slice(1));
    this.#pending.delete(address);
    this.#routes.delete(address);
  }

  dropAccount(accountId: string): void {
    this.#pending.clear();
    for (const [address, route] of this.#routes)
      if ('accountId' in route && route.accountId === accountId) this.#routes.delete(address);
  }

  #dropDomain(suffix: string): void {
    this.#pending.clear();
    for (const address of this.#routes.keys()) if (address.endsWith(suffix)) this.#routes.delete(address);
  }

  clear(): void {
    this.#pending.clear();
    this.#routes.clear();
  }
}
