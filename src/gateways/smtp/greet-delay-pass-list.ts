// The pass list of the greet delay: networks that mail was accepted from. Their clients have waited for a banner before, as mail servers do, so their next connections
// are not kept waiting: most connections carry a few messages, and the wait would be the longest part of them.
import { LRUCache } from 'lru-cache';
import { networkOf } from '../tcp/ip-address.js';
import type { SmtpLimits } from './limits.js';

export class GreetDelayPassList {
  readonly #greetDelayMs: number;
  readonly #networks: LRUCache<string, true>;

  constructor({ greetDelayMs, passListMs, passListNetworks }: SmtpLimits) {
    this.#greetDelayMs = greetDelayMs;
    this.#networks = new LRUCache({ max: passListNetworks, ttl: passListMs });
  }

  /** ms before the banner. */
  delayOf(address: string): number {
    return this.#greetDelayMs === 0 || this.#networks.has(networkOf(address)) ? 0 : this.#greetDelayMs;
  }

  /** A message from the address was accepted. */
  add(address: string): void {
    if (this.#greetDelayMs > 0) this.#networks.set(networkOf(address), true);
  }
}
