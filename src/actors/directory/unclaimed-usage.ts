// How much the unclaimed mailboxes of each domain and of all domains use: read from the store periodically, plus what this node
// has added since. The bounds are exact for one node; several nodes may exceed them by what they add between two reads.
import type { UnclaimedUsage } from '../../store/directory.js';

/** Octets per domain. */
const MAX_OF_DOMAIN = 256 * 1024 * 1024;
const MAX_OF_ALL = 1024 * 1024 * 1024;
const READ_MS = 10_000;
const NOTHING: UnclaimedUsage = { addresses: 0, octets: 0 };

export class UnclaimedUsageEstimate {
  readonly #read: () => Promise<ReadonlyMap<string, UnclaimedUsage>>;
  readonly #now: () => number;
  #domains = new Map<string, UnclaimedUsage>();
  /** Octets. */
  #all = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /** `read`: returns the use by domain. `now`: ms of a clock that does not jump. */
  constructor(read: () => Promise<ReadonlyMap<string, UnclaimedUsage>>, now: () => number) {
    this.#read = read;
    this.#now = now;
  }

  /** Whether the domain and all domains are below their bounds of octets. Rejects with the error of `read`. */
  async hasRoom(domain: string): Promise<boolean> {
    const { octets } = await this.of(domain);
    return this.#all < MAX_OF_ALL && octets < MAX_OF_DOMAIN;
  }

  /** Rejects with the error of `read`. */
  async of(domain: string): Promise<UnclaimedUsage> {
    if (this.#now() - this.#readAt >= READ_MS) {
      this.#reading ??= this.#refresh().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#domains.get(domain) ?? NOTHING;
  }

  /** Counts a message that was accepted for unclaimed mailboxes of the domain, or new addresses. */
  add(domain: string, { addresses, octets }: UnclaimedUsage): void {
    const known = this.#domains.get(domain) ?? NOTHING;
    this.#domains.set(domain, { addresses: known.addresses + addresses, octets: known.octets + octets });
    this.#all += octets;
  }

  async #refresh(): Promise<void> {
    const began = this.#now();
    const before = this.#all;
    const domains = new Map(await this.#read());
    // The sums that were read may or may not contain what was added meanwhile. The total counts it again now; a domain gets it
    // with the next read.
    const meanwhile = this.#all - before;
    this.#domains = domains;
    this.#all = meanwhile;
    for (const { octets } of domains.values()) this.#all += octets;
    this.#readAt = began;
  }
}
