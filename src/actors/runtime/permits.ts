// Permits of a semaphore as observables: work that is an observable begins with a permit and gives the permit back when it
// ends or is cancelled.
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { FairSemaphore, Release } from '../../bounds/fair-semaphore.js';

/**
 * Emits once the permit is acquired, and holds the permit until it is unsubscribed. Who unsubscribes before that gives the
 * permit back when it comes: an AbortSignal for each would cost more than the waiting.
 */
export function permit$(semaphore: FairSemaphore, holder: string): Observable<void> {
  return new Observable((subscriber) => {
    let release: Release | undefined;
    semaphore.acquire(holder).then(
      (acquired) => {
        if (subscriber.closed) return acquired();
        release = acquired;
        subscriber.next();
      },
      (error) => subscriber.error(error),
    );
    return () => release?.();
  });
}

/** Subscribes to the source when the permit is there; the permit is unsubscribed when the source ends. */
export function withPermit<T>(granted$: Observable<void>): MonoTypeOperatorFunction<T> {
  return (source$) =>
    new Observable((subscriber) => {
      let isGranted = false;
      subscriber.add(
        granted$.subscribe({
          next() {
            if (isGranted) return;
            isGranted = true;
            subscriber.add(source$.subscribe(subscriber));
          },
          error: (error) => subscriber.error(error),
        }),
      );
    });
}
