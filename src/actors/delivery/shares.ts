// Places that many share: whoever has some may take more up to twice the places that are free. One alone gets two thirds of
// all, and whoever comes with a first claim finds a place before the next claim of somebody who has many.

const TIMES_THE_FREE = 2;

export class Shares {
  readonly limit: number;
  #taken = 0;
  readonly #each = new Map<string, number>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Below 0 when places were taken that were not free. */
  get free(): number {
    return this.limit - this.#taken;
  }

  /** Those who have places. */
  get keys(): readonly string[] {
    return [...this.#each.keys()];
  }

  of(key: string): number {
    return this.#each.get(key) ?? 0;
  }

  mayTake(key: string): boolean {
    return this.of(key) < TIMES_THE_FREE * this.free;
  }

  /** How many places may be taken one after the other. */
  openings(key: string): number {
    // Each of them makes one more of the key and leaves one place less.
    const more = (TIMES_THE_FREE * this.free - this.of(key)) / (TIMES_THE_FREE + 1);
    return Math.max(0, Math.ceil(more));
  }

  /** With or without a free place. */
  take(key: string): void {
    this.#taken++;
    this.#each.set(key, this.of(key) + 1);
  }

  give(key: string): void {
    const left = this.of(key) - 1;
    if (left < 0) return;
    this.#taken--;
    if (left === 0) this.#each.delete(key);
    else this.#each.set(key, left);
  }
}
