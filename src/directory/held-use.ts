// What the held mailboxes of each domain take, and those of all domains together: read from the store now and then, with
// what this node has added since. So the bounds are exact for one node, and for several within what they add between
// two reads.
import type { HeldUse } from '../store/directory.js';

/** Octets of one domain. */
const MAX_OF_DOMAIN = 256 * 1024 * 1024;
const MAX_OF_ALL = 1024 * 1024 * 1024;
const READ_MS = 10_000;
const NOTHING: HeldUse = { addresses: 0, octets: 0 };

export class KnownHeldUse {
  readonly #read: () => Promise<ReadonlyMap<string, HeldUse>>;
  readonly #now: () => number;
  #domains = new Map<string, HeldUse>();
  /** Octets. */
  #all = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /** `read`: by domain. `now`: ms of a clock that does not jump. */
  constructor(read: () => Promise<ReadonlyMap<string, HeldUse>>, now: () => number) {
    this.#read = read;
    this.#now = now;
  }

  /** Whether the bounds of octets are not reached yet. Rejects with what the reading throws. */
  async hasRoom(domain: string): Promise<boolean> {
    const { octets } = await this.of(domain);
    return this.#all < MAX_OF_ALL && octets < MAX_OF_DOMAIN;
  }

  /** Rejects with what the reading throws. */
  async of(domain: string): Promise<HeldUse> {
    if (this.#now() - this.#readAt >= READ_MS) {
      this.#reading ??= this.#refresh().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#domains.get(domain) ?? NOTHING;
  }

  /** A message was accepted for held mailboxes of the domain, or addresses are held. */
  add(domain: string, { addresses, octets }: HeldUse): void {
    const known = this.#domains.get(domain) ?? NOTHING;
    this.#domains.set(domain, { addresses: known.addresses + addresses, octets: known.octets + octets });
    this.#all += octets;
  }

  async #refresh(): Promise<void> {
    const began = this.#now();
    const before = this.#all;
    const domains = new Map(await this.#read());
    // What was added meanwhile may be in the sums or not: that of a domain is added at the next read, octets of all together now.
    const meanwhile = this.#all - before;
    this.#domains = domains;
    this.#all = meanwhile;
    for (const { octets } of domains.values()) this.#all += octets;
    this.#readAt = began;
  }
}
