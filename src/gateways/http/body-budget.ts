// The memory for bodies of requests, from their first octet until the request is answered. Octets that have arrived
// count, not those announced. A holder may have as much as is left for all others: alone half of the memory, beside n
// others an equal part. A request without room gets 503.
import { DynamicShares } from '../../bounds/dynamic-shares.js';

/** The first octets of every body need no room: requests of the usual size are served however large others are. */
const FREE_OCTETS = 64 * 1024;

export class BodyBudget {
  readonly #octets: DynamicShares;

  /** Octets of all bodies together. */
  constructor(total: number) {
    this.#octets = new DynamicShares({ total, factor: 1 });
  }

  /** For one body. `holder`: an account id, or an address before there is one. */
  enter(holder: string): BodyShare {
    return new BodyShare(this.#octets, holder);
  }
}

/** What one body has of the room. */
export class BodyShare {
  readonly #octets: DynamicShares;
  readonly #holder: string;
  #received = 0;
  #taken = 0;

  constructor(octets: DynamicShares, holder: string) {
    this.#octets = octets;
    this.#holder = holder;
  }

  /** So many octets more have come; false when there is no room for them. */
  add(octets: number): boolean {
    this.#received += octets;
    const more = Math.max(0, this.#received - FREE_OCTETS) - this.#taken;
    if (!this.#octets.mayTake(this.#holder, more)) return false;
    this.#octets.take(this.#holder, more);
    this.#taken += more;
    return true;
  }

  /** Gives all of it back; may be called again. */
  leave(): void {
    this.#octets.give(this.#holder, this.#taken);
    this.#taken = 0;
  }
}
