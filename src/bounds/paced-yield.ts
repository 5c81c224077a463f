// Steps that take long by themselves, one after the other and a part of the time only: the event loop serves others between
// them.
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/** How many times as long as a step took no other is taken. */
const PAUSE = 2;

export class PacedYield {
  #last: Promise<void> = Promise.resolve();

  /** Gives way. Resolves when the caller may go on, until it awaits something. */
  yield(): Promise<void> {
    const turn = this.#last.then(() => nextTurn());
    this.#last = turn.then(async () => {
      const began = performance.now();
      await nextTurn();
      await delay(PAUSE * (performance.now() - began));
    });
    return turn;
  }
}
