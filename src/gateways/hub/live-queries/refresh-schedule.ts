// Runs the refreshes of work of one account one at a time: a refresh begins when it is requested, and the next one after a pause that grows with
// the duration of the refresh. So a mailbox that is busy or far away is asked less often, and each refresh covers all changes since the
// previous one.
import { WorkQueue } from '../../../concurrency/work-queue.js';

export interface Pacing {
  /** The shortest pause between the end of a refresh and the next one. ms */
  readonly leastMs: number;
  /** The pause is the duration of the refresh times this factor. */
  readonly factor: number;
  /** The longest pause. ms */
  readonly mostMs: number;
}

/** The pause after a failed refresh; it doubles with each further failure up to the longest. ms */
const RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;

export class RefreshSchedule {
  readonly #queue: WorkQueue;
  readonly #work: () => Promise<boolean>;
  readonly #pacing: Pacing;
  #failures = 0;
  /** The end of the pause, by performance.now(). */
  #notBefore = 0;

  /** `work` resolves to false when it has failed, and never rejects. */
  constructor(work: () => Promise<boolean>, pacing: Pacing) {
    this.#work = work;
    this.#pacing = pacing;
    this.#queue = new WorkQueue({
      work: () => this.#refresh(),
      failed(_, error) {
        throw error;
      },
      most: 1,
      backoff: { firstMs: RETRY_MS, longestMs: LONGEST_RETRY_MS },
    });
  }

  ask(): void {
    this.#queue.add('refresh');
  }

  end(): void {
    void this.#queue.stop();
  }

  /** Returns the rest of the pause, if it is not over. */
  async #refresh(): Promise<number | undefined> {
    const began = performance.now();
    if (began < this.#notBefore) return this.#notBefore - began;
    this.#failures = (await this.#work()) ? 0 : this.#failures + 1;
    const now = performance.now();
    this.#notBefore = now + this.#pauseAfter(now - began, this.#pacing);
    return undefined;
  }

  #pauseAfter(tookMs: number, { leastMs, factor, mostMs }: Pacing): number {
    if (this.#failures > 0) {
      return Math.min(RETRY_MS * 2 ** (this.#failures - 1), LONGEST_RETRY_MS) * (0.5 + Math.random() / 2);
    }
    return Math.min(Math.max(leastMs, tookMs * factor), mostMs);
  }
}
