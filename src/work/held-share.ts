// The part of fixed shares that one piece of work has: it grows and shrinks with the work, and is given back as a whole.
import type { FixedShares } from './fixed-shares.js';

export class HeldShare {
  readonly #shares: FixedShares;
  readonly #holder: string;
  #amount = 0;

  constructor(shares: FixedShares, holder: string) {
    this.#shares = shares;
    this.#holder = holder;
  }

  /** Changes the amount; false changes nothing. A smaller amount is always granted. */
  resize(amount: number): boolean {
    const more = amount - this.#amount;
    if (more > 0 && this.#shares.tryTake(this.#holder, more) !== undefined) return false;
    if (more < 0) this.#shares.give(this.#holder, -more);
    this.#amount = amount;
    return true;
  }

  /** Gives everything back; may be called again. */
  give(): void {
    this.resize(0);
  }
}
