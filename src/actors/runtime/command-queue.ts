// The bounded queue of an actor: commands wait here during a commit and leave in groups.

export class CommandQueue<T> {
  readonly #limit: number;
  #waiting: T[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Returns false when the queue is full: the caller must refuse the command. */
  offer(item: T): boolean {
    if (this.#waiting.length >= this.#limit) return false;
    this.#waiting.push(item);
    return true;
  }

  /** Removes the oldest items: at most `max` of them and `mostWeight` together, but at least one. */
  take(max: number, mostWeight = Number.POSITIVE_INFINITY, weigh: (item: T) => number = () => 1): T[] {
    let count = 0;
    for (let weight = 0; count < Math.min(max, this.#waiting.length); count++) {
      weight += weigh(this.#waiting[count]!);
      if (count > 0 && weight > mostWeight) break;
    }
    if (count < this.#waiting.length) return this.#waiting.splice(0, count);
    const all = this.#waiting;
    // A new list uses no memory until the first push: most actors never get a command again.
    this.#waiting = [];
    return all;
  }
}
