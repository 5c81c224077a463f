// Whether a delivery still belongs to this node. Other nodes take deliveries over when the entry of this node in the store runs
// out. As long as the entry cannot have run out, the mailbox need not be asked. A process that was paused learns it by the clock.
import type { Ownership } from '../runtime/ownership.js';

export interface DeliveryLeaseOptions {
  readonly ownership: Pick<Ownership, 'heartbeatAgeMs'>;
  readonly leaseTtlMs: number;
  /** Asks the mailbox whether the delivery is still under way. */
  readonly confirm: () => Promise<boolean>;
}

export class DeliveryLease {
  readonly #options: DeliveryLeaseOptions;
  /** By the monotonic clock. */
  #certainUntil: number;

  /** To be made before the delivery is in the store. */
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
