// Work that is done a few at a time: who comes when all slots are taken waits, and holders are served in turn (round robin),
// so that nobody waits for all the work of another. A holder is what it is of `Shares`.
import { setTimeout as delay } from 'node:timers/promises';

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

/** How many times as long as a step took no other is taken. */
const PAUSE = 2;

/** Steps that take long by themselves, one after the other and a part of the time only: the event loop serves others between them. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is the caller's turn, which lasts until the caller awaits something. */
  next(): Promise<void> {
    const turn = this.#last.then(nextTurn);
    this.#last = turn.then(async () => {
      const began = performance.now();
      await nextTurn();
      await delay(PAUSE * (performance.now() - began));
    });
    return turn;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
