// Runs the refreshes of work of one account one at a time: a refresh begins when it is requested, and the next one after a pause that grows with
// the duration of the refresh. So a mailbox that is busy or far away is asked less often, and each refresh covers all changes since the
// previous one.
import { concatMap, defer, type Observable, of, repeat, Subject, type Subscription, take, timer } from 'rxjs';

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
  readonly #asked$ = new Subject<void>();
  readonly #source: Subscription;
  #isAsked = false;
  #failures = 0;

  /** `work` resolves to false when it has failed, and never rejects. */
  constructor(work: () => Promise<boolean>, pacing: Pacing) {
    const refresh$ = defer(async () => {
      this.#isAsked = false;
      const began = performance.now();
      this.#failures = (await work()) ? 0 : this.#failures + 1;
      return this.#pauseAfter(performance.now() - began, pacing);
    });
    const asked$: Observable<unknown> = defer(() => (this.#isAsked ? of(undefined) : this.#asked$.pipe(take(1))));
    this.#source = asked$
      .pipe(
        concatMap(() => refresh$),
        concatMap((pauseMs) => timer(pauseMs)),
        repeat(),
      )
      .subscribe();
  }

  ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#asked$.next();
  }

  end(): void {
    this.#source.unsubscribe();
  }

  #pauseAfter(tookMs: number, { leastMs, factor, mostMs }: Pacing): number {
    if (this.#failures > 0) {
      return Math.min(RETRY_MS * 2 ** (this.#failures - 1), LONGEST_RETRY_MS) * (0.5 + Math.random() / 2);
    }
    return Math.min(Math.max(leastMs, tookMs * factor), mostMs);
  }
}
