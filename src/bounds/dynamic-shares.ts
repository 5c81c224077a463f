// A bound whose share for each holder follows what is free (dynamic thresholds: Choudhury and Hahne, 1998): a holder may take
// as long as it has less than `factor` times what is free. One alone gets factor / (1 + factor) of all, n together equal
// parts, and something is always left for whoever comes next.
import { Holdings } from './holdings.js';

export interface DynamicSharesOptions {
  readonly total: number;
  /** 2 when absent: one alone gets two thirds. */
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

  /** Below 0 when more was taken than was free. */
  get free(): number {
    return this.total - this.held;
  }

  /** How much may be taken, one after the other. */
  openings(holder: string): number {
    // Each that is taken makes one more of the holder and leaves one less.
    const more = (this.#factor * this.free - this.heldBy(holder)) / (this.#factor + 1);
    return Math.max(0, Math.ceil(more));
  }

  /** As of a sort: the holder of less comes first, of equals the one that did not give back last. */
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
