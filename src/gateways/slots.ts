// Work that is done a few at a time: who comes when all slots are taken waits, and holders are served in turn (round robin),
// so that nobody waits for all the work of another. A holder is what it is of `Shares`.

export class Slots {
  #free: number;
  /** In the order of their turns. */
  readonly #waiting = new Map<string, ((leave: () => void) => void)[]>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with what gives the slot back; calling that again does nothing. */
  enter(holder: string): Promise<() => void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(holder);
      if (queue === undefined) this.#waiting.set(holder, [resolve]);
      else queue.push(resolve);
      this.#admit();
    });
  }

  #admit(): void {
    while (this.#free > 0) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      const [holder, queue] = first;
      this.#waiting.delete(holder);
      const admitted = queue.shift()!;
      if (queue.length > 0) this.#waiting.set(holder, queue);
      this.#free--;
      admitted(this.#leaveOnce());
    }
  }

  #leaveOnce(): () => void {
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#free++;
      this.#admit();
    };
  }
}

/** Steps that take long by themselves, no two of them in one turn of the event loop: others are served between them. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is the caller's turn, which lasts until the caller awaits something. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#last;
  }
}
