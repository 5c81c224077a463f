// Permits of a semaphore as observables: work that is an observable begins with a permit and gives the permit back when it
// ends or is cancelled.
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { FairSemaphore, Release } from '../../bounds/fair-semaphore.js';

/**
 * Emits once the permit is acquired, and holds the permit until it is unsubscribed, or until the subscriber calls what was
 * emitted. Who unsubscribes before that gives the permit back when it comes: an AbortSignal for each would cost more than the
 * waiting.
 */
export function permit$(semaphore: FairSemaphore, holder: string): Observable<Release> {
  return new Observable((subscriber) => {
    let release: Release | undefined;
    semaphore.acquire(holder).then(
      (acquired) => {
        if (subscriber.closed) return acquired();
        release = acquired;
        subscriber.next(acquired);
      },
      (error) => subscriber.error(error),
    );
    return () => release?.();
  });
}

/** Subscribes to the source when the permit is there; the permit is unsubscribed when the source ends. */
export function withPermit<T>(granted$: Observable<unknown>): MonoTypeOperatorFunction<T> {
  return (source$) => permitted(granted$, () => source$);
}

/** The same for work that gets what the permit emits. */
export function permitted<P, T>(granted$: Observable<P>, work: (permit: P) => Observable<T>): Observable<T> {
  return new Observable((subscriber) => {
    let isGranted = false;
    subscriber.add(
      granted$.subscribe({
        next(permit) {
          if (isGranted) return;
          isGranted = true;
          subscriber.add(work(permit).subscribe(subscriber));
        },
        error: (error) => subscriber.error(error),
      }),
    );
  });
}
