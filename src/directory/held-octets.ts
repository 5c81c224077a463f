// How many octets the held mailboxes of each domain have, and of all domains together: read from the store now and then, with
// what this node has accepted since. So the bounds are exact for one node, and for several within what they accept between
// two reads.

/** Of one domain. */
const MAX_OF_DOMAIN = 256 * 1024 * 1024;
const MAX_OF_ALL = 1024 * 1024 * 1024;
const READ_MS = 10_000;

export class HeldOctets {
  readonly #read: () => Promise<ReadonlyMap<string, number>>;
  readonly #now: () => number;
  #domains = new Map<string, number>();
  #all = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /** `read`: octets by domain. `now`: ms of a clock that does not jump. */
  constructor(read: () => Promise<ReadonlyMap<string, number>>, now: () => number) {
    this.#read = read;
    this.#now = now;
  }

  /** Whether the bounds are not reached yet. Rejects with what the reading throws. */
  async hasRoom(domain: string): Promise<boolean> {
    if (this.#now() - this.#readAt >= READ_MS) {
      this.#reading ??= this.#refresh().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#all < MAX_OF_ALL && (this.#domains.get(domain) ?? 0) < MAX_OF_DOMAIN;
  }

  /** A message was accepted for a held mailbox of the domain. */
  add(domain: string, octets: number): void {
    this.#domains.set(domain, (this.#domains.get(domain) ?? 0) + octets);
    this.#all += octets;
  }

  async #refresh(): Promise<void> {
    const began = this.#now();
    const before = this.#all;
    const domains = new Map(await this.#read());
    // What was accepted meanwhile may be in the sums or not: a domain is told of it at the next read, all together now.
    const meanwhile = this.#all - before;
    this.#domains = domains;
    this.#all = meanwhile;
    for (const octets of domains.values()) this.#all += octets;
    this.#readAt = began;
  }
}
