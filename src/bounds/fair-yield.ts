// Cooperative yields for work that gives way every few ms: one such piece of work goes on per turn of the event loop, and holders
// go on in turn, so that a holder with much work delays others by one piece of it. In between the loop serves all else.

export class FairYield {
  /** By holder, in the order in which they go on. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isDue = false;

  /** Gives way. Resolves when the holder may go on, until the caller awaits something. */
  yield(holder: string): Promise<void> {
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
