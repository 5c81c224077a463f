// The memory budget for request bodies, used from the first octet until the request is answered. Octets that have arrived count, not
// announced ones. A holder may use as much as is left for all others: half of the memory when alone, an equal part among several. A request
// that finds no room gets 503.
import { DynamicShares } from '../../../work/dynamic-shares.js';

/** The first octets of every body are not counted, so requests of the usual size are served however large others are. */
const FREE_OCTETS = 64 * 1024;

export class BodyBudget {
  readonly #octets: DynamicShares;

  /** `total`: octets of all bodies together. */
  constructor(total: number) {
    this.#octets = new DynamicShares({ total, factor: 1 });
  }

  /** Opens the share of one body. `holder`: an account id, or the client's address before the account is known. */
  enter(holder: string): BodyShare {
    return new BodyShare(this.#octets, holder);
  }
}

/** The part of the budget that one body uses. */
export class BodyShare {
  readonly #octets: DynamicShares;
  readonly #holder: string;
  #received = 0;
  #taken = 0;

  constructor(octets: DynamicShares, holder: string) {
    this.#octets = octets;
    this.#holder = holder;
  }

  /** Counts `octets` that have arrived; false when there is no room for them. */
  add(octets: number): boolean {
    this.#received += octets;
    const more = Math.max(0, this.#received - FREE_OCTETS) - this.#taken;
    if (!this.#octets.mayTake(this.#holder, more)) return false;
    this.#octets.take(this.#holder, more);
    this.#taken += more;
    return true;
  }

  /** Returns everything to the budget; may be called again. */
  leave(): void {
    this.#octets.give(this.#holder, this.#taken);
    this.#taken = 0;
  }
}
