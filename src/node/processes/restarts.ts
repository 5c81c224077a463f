// When a process that has ended is started again: at once after a life of some length, after a pause that grows while its lives are
// short, and never again when short lives do not end.

/** A shorter life, counted from the moment when the process was ready, is a failed start. */
const SHORT_LIFE_MS = 3_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** Some 20 s of pauses. */
const FAILED_STARTS = 9;

export interface Life {
  /** Since it was ready; undefined when it never was. */
  readonly readyMs: number | undefined;
  /** What ended it passes by itself, such as a database that is away. */
  readonly isTemporary: boolean;
}

/** Of one process. */
export class Restarts {
  #short = 0;
  #counted = 0;

  /** Failed starts in a row that count. */
  get failed(): number {
    return this.#counted;
  }

  /** The pause before the next start in ms; undefined: there is to be none. */
  ended({ readyMs, isTemporary }: Life): number | undefined {
    if (readyMs !== undefined && readyMs >= SHORT_LIFE_MS) {
      this.#short = 0;
      this.#counted = 0;
      return 0;
    }
    this.#short++;
    if (!isTemporary) this.#counted++;
    if (this.#counted >= FAILED_STARTS) return undefined;
    return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#short - 1));
  }
}
