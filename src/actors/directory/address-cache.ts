// Caches the owner of an address for a short time: most deliveries of a burst go to few addresses. Concurrent look-ups of one
// address share one read. An address that is dropped during its look-up is not cached afterwards.
import { LRUCache } from 'lru-cache';
import type { AddressOwner } from '../../store/directory.js';

const MAX_ADDRESSES = 50_000;
const TTL_MS = 30_000;

export class AddressCache {
  readonly #owners = new LRUCache<string, AddressOwner>({ max: MAX_ADDRESSES, ttl: TTL_MS });
  readonly #pending = new Map<string, Promise<AddressOwner | undefined>>();

  /** Returns the cached owner, or the result of `find`; only owners are cached, never their absence. */
  owner(address: string, find: () => Promise<AddressOwner | undefined>): Promise<AddressOwner | undefined> {
    const known = this.#owners.get(address);
    if (known !== undefined) return Promise.resolve(known);
    const running = this.#pending.get(address);
    if (running !== undefined) return running;
    const search = find().then(
      (owner) => {
        if (this.#finish(address, search) && owner !== undefined) this.#owners.set(address, owner);
        return owner;
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
  #finish(address: string, search: Promise<AddressOwner | undefined>): boolean {
    if (this.#pending.get(address) !== search) return false;
    return this.#pending.delete(address);
  }

  drop(address: string): void {
    this.#pending.delete(address);
    this.#owners.delete(address);
  }

  dropAccount(accountId: string): void {
    this.#pending.clear();
    for (const [address, owner] of this.#owners) if (owner.accountId === accountId) this.#owners.delete(address);
  }

  clear(): void {
    this.#pending.clear();
    this.#owners.clear();
  }
}
