// A bound with a fixed share for each holder: all holders together never have more than `total`, one of them never more
// than `share`. The caller decides what to do when nothing is left.
import { Holdings } from './holdings.js';

export interface SharesOptions {
  readonly total: number;
  /** Of one holder. */
  readonly share: number;
}

/** Why nothing was taken: the holder has its share, or there is no more at all. */
export type Exhausted = 'share' | 'total';

export class FixedShares {
  readonly #options: SharesOptions;
  readonly #holdings = new Holdings();

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** By all. */
  get held(): number {
    return this.#holdings.held;
  }

  heldBy(holder: string): number {
    return this.#holdings.heldBy(holder);
  }

  /** Why so much may not be taken; undefined when it may. */
  exhausted(holder: string, amount = 1): Exhausted | undefined {
    const { total, share } = this.#options;
    if (this.heldBy(holder) + amount > share) return 'share';
    return this.held + amount > total ? 'total' : undefined;
  }

  /** Undefined once the amount is taken; otherwise nothing was. */
  tryTake(holder: string, amount = 1): Exhausted | undefined {
    const exhausted = this.exhausted(holder, amount);
    if (exhausted === undefined) this.#holdings.take(holder, amount);
    return exhausted;
  }

  /** What was taken before. @throws RangeError when it was less */
  give(holder: string, amount = 1): void {
    this.#holdings.give(holder, amount);
  }
}
