// A limiter in which each holder's share depends on what is free (dynamic thresholds: Choudhury and Hahne, 1998): a holder may take while
// it has less than `factor` times what is free. A single holder gets factor / (1 + factor) of the total, n holders get equal parts, and
// something is always left for the next holder.
import { Holdings } from './holdings.js';

export interface DynamicSharesOptions {
  readonly total: number;
  /** 2 by default: a single holder gets two thirds. */
  readonly factor?: number;
}

export class DynamicShares extends Holdings {
  readonly total: number;
  readonly #factor: number;
  #gaveLast: string | undefined;

  constructor({ total, factor = 2 }: DynamicSharesOptions) {
    super();
    this.total = total;
    this.#factor = factor;
  }

  /** Negative when more was taken than was free. */
  get free(): number {
    return this.total - this.held;
  }

  /** How many units may be taken one after the other. */
  openings(holder: string): number {
    // Each unit that is taken adds one to the holder and removes one from the free units.
    const more = (this.#factor * this.free - this.heldBy(holder)) / (this.#factor + 1);
    return Math.max(0, Math.ceil(more));
  }

  /** A comparator: the holder of less comes first; of equal ones, the one that did not give back last. */
  compare(a: string, b: string): number {
    return this.heldBy(a) - this.heldBy(b) || Number(a === this.#gaveLast) - Number(b === this.#gaveLast);
  }

  override give(holder: string, amount = 1): void {
    super.give(holder, amount);
    this.#gaveLast = holder;
  }

  mayTake(holder: string, amount = 1): boolean {
    return amount <= this.openings(holder);
  }
}
