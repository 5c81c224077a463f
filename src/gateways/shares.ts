// A bound that many share: all holders together never have more than `total`, and one of them never more than `share`, so
// nobody takes what belongs to the others. A holder is an account id, or the network of an address (`networkOf`).
// What is counted (connections, octets, failures) and what a holder is told when nothing is left is the caller's.

export interface SharesOptions {
  readonly total: number;
  /** Of one holder. */
  readonly share: number;
}

/** Why nothing was taken: the holder has its share, or there is no more at all. */
export type Exhausted = 'share' | 'total';

export class Shares {
  readonly #options: SharesOptions;
  /** A holder of nothing is not in it, so the map is never larger than what is held. */
  readonly #byHolder = new Map<string, number>();
  #held = 0;

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** By all. */
  get held(): number {
    return this.#held;
  }

  heldBy(holder: string): number {
    return this.#byHolder.get(holder) ?? 0;
  }

  /** Undefined once the amount is taken; otherwise nothing was. */
  take(holder: string, amount = 1): Exhausted | undefined {
    const { total, share } = this.#options;
    const held = this.heldBy(holder);
    if (held + amount > share) return 'share';
    if (this.#held + amount > total) return 'total';
    if (amount === 0) return undefined;
    this.#byHolder.set(holder, held + amount);
    this.#held += amount;
    return undefined;
  }

  /** What was taken before. */
  give(holder: string, amount = 1): void {
    const held = this.heldBy(holder) - amount;
    if (held < 0) throw new RangeError(`${holder} gives back more than it took`);
    if (held === 0) this.#byHolder.delete(holder);
    else this.#byHolder.set(holder, held);
    this.#held -= amount;
  }
}
