// Tells whether a delivery still belongs to this node. Other nodes take deliveries over when this node's entry in the store expires. While
// the entry cannot have expired, the mailbox need not be asked. A process that was paused notices this by the clock.
import type { Ownership } from '../runtime/ownership/ownership.js';

export interface DeliveryLeaseOptions {
  readonly ownership: Pick<Ownership, 'heartbeatAgeMs'>;
  readonly leaseTtlMs: number;
  /** Asks the mailbox whether the delivery is still under way. */
  readonly confirm: () => Promise<boolean>;
}

export class DeliveryLease {
  readonly #options: DeliveryLeaseOptions;
  /** A time of the monotonic clock. */
  #certainUntil: number;

  /** Must be created before the delivery is in the store. */
  constructor(options: DeliveryLeaseOptions) {
    this.#options = options;
    this.#certainUntil = this.#expiry();
  }

  async isHeld(): Promise<boolean> {
    if (performance.now() < this.#certainUntil) return true;
    const expiry = this.#expiry();
    if (!(await this.#options.confirm())) return false;
    this.#certainUntil = expiry;
    return true;
  }

  #expiry(): number {
    const { ownership, leaseTtlMs } = this.#options;
    return performance.now() - ownership.heartbeatAgeMs + leaseTtlMs;
  }
}
