// Counts what is used of a resource (connections, slots, octets), by key: an account id, a domain, the network of an address (`networkOf`).
// `KeyedLimiter` bounds it.

export class UsageByKey {
  /** Keys that use nothing have no entry, so the map is never larger than what is used. */
  readonly #byKey = new Map<string, number>();
  #used = 0;

  /** The usage of all keys. */
  get used(): number {
    return this.#used;
  }

  /** The keys that use something. */
  get keys(): readonly string[] {
    return [...this.#byKey.keys()];
  }

  usedBy(key: string): number {
    return this.#byKey.get(key) ?? 0;
  }

  /** `amount`: negative for what is given back. */
  add(key: string, amount: number): void {
    const used = this.usedBy(key) + amount;
    if (used === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, used);
    this.#used += amount;
  }
}
