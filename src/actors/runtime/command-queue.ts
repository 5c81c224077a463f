// The bounded queue before an actor: commands wait here while a commit is under way and leave in groups.

export class CommandQueue<T> {
  readonly #limit: number;
  #waiting: T[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** False when the queue is full: the command is refused, not dropped. */
  offer(item: T): boolean {
    if (this.#waiting.length >= this.#limit) return false;
    this.#waiting.push(item);
    return true;
  }

  /** The oldest items, at most `max`, and no more than weigh `mostWeight` together; the first of them whatever it weighs. */
  take(max: number, mostWeight = Number.POSITIVE_INFINITY, weigh: (item: T) => number = () => 1): T[] {
    let count = 0;
    for (let weight = 0; count < Math.min(max, this.#waiting.length); count++) {
      weight += weigh(this.#waiting[count]!);
      if (count > 0 && weight > mostWeight) break;
    }
    if (count < this.#waiting.length) return this.#waiting.splice(0, count);
    const all = this.#waiting;
    // A new list takes no room until something is put into it: most actors never have anything in it again.
    this.#waiting = [];
    return all;
  }
}
