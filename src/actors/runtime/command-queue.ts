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

  /** The oldest items, at most `max`. */
  take(max: number): T[] {
    if (this.#waiting.length <= max) {
      const all = this.#waiting;
      this.#waiting = [];
      return all;
    }
    return this.#waiting.splice(0, max);
  }
}
