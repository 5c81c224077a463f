// A limiter with a fixed share for each holder: all holders together never have more than `total`, and one holder never more than `share`.
// The caller decides what to do when nothing is left.
import { Holdings } from './holdings.js';

export interface SharesOptions {
  readonly total: number;
  /** The limit of one holder. */
  readonly share: number;
}

/** The reason why nothing was taken: the holder has used up its share, or nothing is left at all. */
export type Exhausted = 'share' | 'total';

export class FixedShares {
  readonly #options: SharesOptions;
  readonly #holdings = new Holdings();

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** The amount of all holders. */
  get held(): number {
    return this.#holdings.held;
  }

  heldBy(holder: string): number {
    return this.#holdings.heldBy(holder);
  }

  /** The reason why this amount may not be taken; undefined when it may. */
  exhausted(holder: string, amount = 1): Exhausted | undefined {
    const { total, share } = this.#options;
    if (this.heldBy(holder) + amount > share) return 'share';
    return this.held + amount > total ? 'total' : undefined;
  }

  /** Takes the amount, or returns the reason why nothing was taken. */
  tryTake(holder: string, amount = 1): Exhausted | undefined {
    const exhausted = this.exhausted(holder, amount);
    if (exhausted === undefined) this.#holdings.take(holder, amount);
    return exhausted;
  }

  /** Gives back an amount. @throws RangeError when the holder has less */
  give(holder: string, amount = 1): void {
    this.#holdings.give(holder, amount);
  }
}
