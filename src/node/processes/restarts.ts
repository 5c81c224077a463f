// Decides when a process that has ended restarts: at once after a long life, after a growing pause while its lives are short, and never
// again when short lives continue.

/** A life that is shorter, counted from the moment at which the process was ready, is a failed start. */
const SHORT_LIFE_MS = 3_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** About 20 s of pauses. */
const FAILED_STARTS = 9;

export interface Life {
  /** The time since the process was ready; undefined when it never was. */
  readonly readyMs: number | undefined;
  /** The cause of the end passes by itself, such as an unavailable database. */
  readonly isTemporary: boolean;
}

/** The restarts of one process. */
export class Restarts {
  #short = 0;
  #counted = 0;

  /** The number of consecutive failed starts that count. */
  get failed(): number {
    return this.#counted;
  }

  /** The pause, in ms, before the next start; undefined: the process must not start again. */
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
