// The amounts of a shared resource by holder: connections, places, octets. `FixedShares` and `DynamicShares` decide how much a holder may
// take. A holder is an account id, a domain, or the network of an address (`networkOf`).

export class Holdings {
  /** Holders of nothing have no entry, so the map is never larger than what is held. */
  readonly #byHolder = new Map<string, number>();
  #held = 0;

  /** The amount of all holders. */
  get held(): number {
    return this.#held;
  }

  /** The holders that have something. */
  get holders(): readonly string[] {
    return [...this.#byHolder.keys()];
  }

  heldBy(holder: string): number {
    return this.#byHolder.get(holder) ?? 0;
  }

  /** Takes an amount, even if it exceeds the bound. */
  take(holder: string, amount = 1): void {
    this.#set(holder, this.heldBy(holder) + amount);
    this.#held += amount;
  }

  /** @throws RangeError when the holder has less; then nothing is given back. */
  give(holder: string, amount = 1): void {
    const left = this.heldBy(holder) - amount;
    if (left < 0) throw new RangeError(`${holder} gives back more than it took`);
    this.#set(holder, left);
    this.#held -= amount;
  }

  #set(holder: string, amount: number): void {
    if (amount === 0) this.#byHolder.delete(holder);
    else this.#byHolder.set(holder, amount);
  }
}
