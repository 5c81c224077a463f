// Turns of the event loop for work that gives way every few ms: one such piece of work goes on an iteration, and holders take
// turns, so that whoever has much work at a time delays others by one piece of it. Between two turns the loop serves all else.

export class FairTurns {
  /** By holder, in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isDue = false;

  /** Resolves when it is the holder's turn, which lasts until the caller awaits something. */
  next(holder: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(holder);
      if (queue === undefined) this.#waiting.set(holder, [resolve]);
      else queue.push(resolve);
      this.#serveSoon();
    });
  }

  #serveSoon(): void {
    if (this.#isDue || this.#waiting.size === 0) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#serve();
    });
  }

  #serve(): void {
    for (const [holder, queue] of this.#waiting) {
      this.#waiting.delete(holder);
      queue.shift()!();
      if (queue.length > 0) this.#waiting.set(holder, queue);
      break;
    }
    this.#serveSoon();
  }
}
