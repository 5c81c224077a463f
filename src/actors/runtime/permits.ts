// Permits of a semaphore as observables: the work of an observable begins with a permit, and releases it when it ends or is cancelled.
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { FairSemaphore } from '../../concurrency/fair-semaphore.js';
import type { Reservation } from '../../concurrency/keyed-limiter.js';

/**
 * Emits when the permit is acquired, and holds it until the subscriber unsubscribes or releases the emitted permit. If the subscriber
 * unsubscribes earlier, the permit is released when it arrives: an AbortSignal for each would cost more than the wait.
 */
export function permit$(semaphore: FairSemaphore, key: string): Observable<Reservation> {
  return new Observable((subscriber) => {
    let permit: Reservation | undefined;
    semaphore.acquire(key).then(
      (acquired) => {
        if (subscriber.closed) return acquired.release();
        permit = acquired;
        subscriber.next(acquired);
      },
      (error) => subscriber.error(error),
    );
    return () => permit?.release();
  });
}

/** Subscribes to the source when the permit is acquired; releases the permit when the source ends. */
export function withPermit<T>(granted$: Observable<unknown>): MonoTypeOperatorFunction<T> {
  return (source$) => permitted(granted$, () => source$);
}

/** Like `withPermit`, for work that uses the emitted permit. */
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
