// The pass list of the greet delay: networks from which mail was accepted. Their clients have waited for a banner before, so their next
// connections get it at once. Most connections carry a few messages, and the wait would dominate them.
import type { LRUCache } from 'lru-cache';
import { lruCache } from '../../concurrency/lru-cache.js';
import { networkOf } from '../../net/tcp/ip-address.js';
import type { SmtpLimits } from './limits.js';

export class GreetDelayPassList {
  readonly #greetDelayMs: number;
  readonly #networks: LRUCache<string, true>;

  constructor({ greetDelayMs, passListMs, passListNetworks }: SmtpLimits) {
    this.#greetDelayMs = greetDelayMs;
    this.#networks = lruCache(passListNetworks, { ttl: passListMs });
  }

  /** ms before the banner. */
  delayOf(address: string): number {
    return this.#greetDelayMs === 0 || this.#networks.has(networkOf(address)) ? 0 : this.#greetDelayMs;
  }

  /** Called when a message from the address was accepted. */
  add(address: string): void {
    if (this.#greetDelayMs > 0) this.#networks.set(networkOf(address), true);
  }
}
