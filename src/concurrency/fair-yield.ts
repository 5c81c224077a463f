// Cooperative yields for work that yields every few ms: one piece of such work runs per turn of the event loop, and holders take turns. So
// a holder with much work delays others by one piece, and between pieces the loop serves everything else.

export class FairYield {
  /** Keyed by holder, in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isDue = false;

  /** Yields. Resolves when the holder may continue until its next await. */
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
