// Runs long steps one after the other and only for a part of the time: the event loop serves others between them.
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/** The pause after a step, as a multiple of the step's time. */
const PAUSE = 2;

export class PacedYield {
  #last: Promise<void> = Promise.resolve();

  /** Yields. Resolves when the caller may continue until its next await. */
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
