// The operator that joins values into batches: a batch begins with its first value and ends with the tick after, or when
// `flush$` emits before. What was collected when the source ends is emitted.
import { buffer, connect, exhaustMap, filter, merge, type Observable, type OperatorFunction } from 'rxjs';

/** `tick$` is subscribed to when a batch begins, and emits at the end of the tick. */
export function batchedBy<T>(tick$: Observable<unknown>, flush$: Observable<unknown>): OperatorFunction<T, T[]> {
  return connect((values$) => {
    const ticks$ = values$.pipe(exhaustMap(() => tick$));
    return values$.pipe(
      buffer(merge(ticks$, flush$)),
      filter((batch) => batch.length > 0),
    );
  });
}
