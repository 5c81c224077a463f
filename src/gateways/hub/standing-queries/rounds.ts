// The rounds of work of one account, one at a time: a round begins when it is asked for, and the next one after a pause that
// grows with the time that the round took. So a mailbox that is busy or far away is asked less often, and each round covers
// everything that has happened since the one before.
import { concatMap, defer, type Observable, of, repeat, Subject, type Subscription, take, timer } from 'rxjs';

export interface Pacing {
  /** Between the end of a round and the next one. ms */
  readonly leastMs: number;
  /** The pause is so many times as long as the round, */
  readonly factor: number;
  /** and no longer than this. ms */
  readonly mostMs: number;
}

/** After a round that failed, doubled with each further one up to the longest. ms */
const RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;

export class Rounds {
  readonly #asked$ = new Subject<void>();
  readonly #source: Subscription;
  #isAsked = false;
  #failures = 0;

  /** `work` resolves with false when it has failed, and never rejects. */
  constructor(work: () => Promise<boolean>, pacing: Pacing) {
    const round$ = defer(async () => {
      this.#isAsked = false;
      const began = performance.now();
      this.#failures = (await work()) ? 0 : this.#failures + 1;
      return this.#pauseAfter(performance.now() - began, pacing);
    });
    const asked$: Observable<unknown> = defer(() => (this.#isAsked ? of(undefined) : this.#asked$.pipe(take(1))));
    this.#source = asked$
      .pipe(
        concatMap(() => round$),
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
