// The smart hosts of a node that refuse its credentials. They are not logged in to again for a while: repeated wrong logins lock accounts.
// Health shows how many there are.
import { Backoff } from '../../concurrency/backoff.js';
import { lruCache } from '../../concurrency/lru-cache.js';
import type { DeliveryStatus } from '../../mail-format/reports/delivery-status.js';
import type { SmtpClientMeter } from './meter.js';

const REMEMBERED = 1_000;
const FIRST_MS = 30_000;
const LONGEST_MS = 15 * 60_000;

interface Known {
  /** Equal for equal URLs. */
  readonly id: string;
  /** The domain whose setting it is; '' for that of all. */
  readonly from: string;
}

export class RelayLogins {
  readonly #meter: Pick<SmtpClientMeter, 'relayLogin'>;
  readonly #backoff = new Backoff<DeliveryStatus>({ firstMs: FIRST_MS, longestMs: LONGEST_MS, most: REMEMBERED });
  /** The ids of smart hosts whose last login was refused, by where their setting is from. */
  readonly #refused = lruCache<string, string>(REMEMBERED);

  constructor(meter: Pick<SmtpClientMeter, 'relayLogin'>) {
    this.#meter = meter;
  }

  /** The number of settings whose smart hosts refuse the credentials. */
  get refusing(): number {
    return this.#refused.size;
  }

  /** Forgets the refusal of a setting that has changed: `id` is that of its smart host now, undefined when it names none. */
  setting(from: string, id: string | undefined): void {
    if (this.#refused.has(from) && this.#refused.get(from) !== id) this.#refused.delete(from);
  }

  /** Why the smart host is not connected to now; undefined when it may be. */
  backsOff({ id }: Known): DeliveryStatus | undefined {
    return this.#backoff.of(id)?.reason;
  }

  accepted({ id, from }: Known): void {
    this.#meter.relayLogin('accepted');
    this.#backoff.succeeded(id);
    this.#refused.delete(from);
  }

  refused({ id, from }: Known, why: DeliveryStatus): void {
    this.#meter.relayLogin('refused');
    this.#backoff.failed(id, why);
    this.#refused.set(from, id);
  }
}
