// Room for large bodies from when they are asked for until their request is answered: bounds what all of them together, and
// those of one account, may take of memory. Who finds none is told to come again; bodies of the usual size need none.

export class BodyRoom {
  readonly #total: number;
  readonly #each: number;
  readonly #held = new Map<string, number>();
  #taken = 0;

  /** Octets of all bodies together, and of those of one holder. */
  constructor(total: number, each: number) {
    this.#total = total;
    this.#each = each;
  }

  /** What gives the room back, once; undefined when there is not so much left. */
  take(holder: string, octets: number): (() => void) | undefined {
    const held = this.#held.get(holder) ?? 0;
    if (this.#taken + octets > this.#total || held + octets > this.#each) return undefined;
    this.#taken += octets;
    this.#held.set(holder, held + octets);
    return () => {
      this.#taken -= octets;
      const left = this.#held.get(holder)! - octets;
      if (left > 0) this.#held.set(holder, left);
      else this.#held.delete(holder);
    };
  }
}
