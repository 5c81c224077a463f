// An operator that joins values into batches: a batch begins with its first value and ends with the tick, or earlier when `flush$` emits.
// When the source ends, the current batch is emitted. It is written by hand because the same with `buffer`, `connect` and `exhaustMap`
// takes twice the time per tick.
import { Observable, type OperatorFunction } from 'rxjs';

/** `atEndOfTick` runs its argument after the input of the current tick is handled. */
export function batchedBy<T>(
  atEndOfTick: (run: () => void) => void,
  flush$: Observable<unknown>,
): OperatorFunction<T, readonly T[]> {
  return (source$) =>
    new Observable((subscriber) => {
      let batch: T[] = [];
      let isScheduled = false;
      const flush = () => {
        if (batch.length === 0) return;
        const values = batch;
        batch = [];
        subscriber.next(values);
      };
      const endTick = () => {
        isScheduled = false;
        flush();
      };
      subscriber.add(flush$.subscribe(flush));
      subscriber.add(
        source$.subscribe({
          next(value) {
            batch.push(value);
            if (!isScheduled) atEndOfTick(endTick);
            isScheduled = true;
          },
          error: (error) => subscriber.error(error),
          complete() {
            flush();
            subscriber.complete();
          },
        }),
      );
    });
}
