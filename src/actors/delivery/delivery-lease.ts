// Whether a delivery is still this node's. Others take it over when they see the node's entry in the store run out; for as
// long as it cannot have, nobody needs to be asked. A process that was paused finds out by the clock.
import type { Ownership } from '../runtime/ownership.js';

export interface DeliveryLeaseOptions {
  readonly ownership: Pick<Ownership, 'heartbeatAgeMs'>;
  readonly leaseTtlMs: number;
  /** Asks the mailbox: whether the delivery is under way still. */
  readonly confirm: () => Promise<boolean>;
}

export class DeliveryLease {
  readonly #options: DeliveryLeaseOptions;
  /** By the monotonic clock. */
  #certainUntil: number;

  /** To be made before the delivery is begun. */
  constructor(options: DeliveryLeaseOptions) {
    this.#options = options;
    this.#certainUntil = this.#horizon();
  }

  async holds(): Promise<boolean> {
    if (performance.now() < this.#certainUntil) return true;
    const horizon = this.#horizon();
    if (!(await this.#options.confirm())) return false;
    this.#certainUntil = horizon;
    return true;
  }

  #horizon(): number {
    const { ownership, leaseTtlMs } = this.#options;
    return performance.now() - ownership.heartbeatAgeMs + leaseTtlMs;
  }
}
