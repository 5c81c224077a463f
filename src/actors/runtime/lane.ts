// A lane: work passes through it a few at a time, first come first served. What nobody waits for at the moment goes
// through one, so that ten thousand at once do not stand before the database in the way of everybody else.

export class Lane {
  #free: number;
  /** A set, because taking the first out of a long array moves all the others. */
  readonly #waiting = new Set<() => void>();

  constructor(width: number) {
    this.#free = width;
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((enter) => this.#waiting.add(enter));
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free++;
      else {
        this.#waiting.delete(next);
        next();
      }
    }
  }
}
