// Batches of a tick, with a tick in the test's hand.
import test from 'ava';
import { Observable, Subject } from 'rxjs';
import { batchedBy } from '../../../src/gateways/hub/batched-by.js';

function setUp() {
  const values$ = new Subject<number>();
  const [ticks$, flush$] = [new Subject<void>(), new Subject<void>()];
  let awaited = 0;
  const tick$ = new Observable<void>((subscriber) => {
    awaited++;
    return ticks$.subscribe(() => {
      subscriber.next();
      subscriber.complete();
    });
  });
  const batches: number[][] = [];
  let isComplete = false;
  const subscription = values$
    .pipe(batchedBy(tick$, flush$))
    .subscribe({ next: (batch) => batches.push(batch), complete: () => (isComplete = true) });
  const awaits = () => awaited;
  return { values$, ticks$, flush$, awaits, batches, subscription, isComplete: () => isComplete };
}

test('values until the tick are one batch, and one tick is awaited for a batch', (t) => {
  const { values$, ticks$, awaits, batches } = setUp();
  t.is(awaits(), 0);
  for (const value of [1, 2, 3]) values$.next(value);
  t.deepEqual([awaits(), batches], [1, []]);
  ticks$.next();
  t.deepEqual(batches, [[1, 2, 3]]);
  ticks$.next();
  t.deepEqual([awaits(), batches.length], [1, 1], 'no tick is awaited and no batch emitted without a value');
  values$.next(4);
  ticks$.next();
  t.deepEqual(batches, [[1, 2, 3], [4]]);
});

test('a flush ends the batch before the tick; what comes afterwards waits for the tick', (t) => {
  const { values$, ticks$, flush$, batches } = setUp();
  flush$.next();
  values$.next(1);
  flush$.next();
  t.deepEqual(batches, [[1]]);
  values$.next(2);
  ticks$.next();
  t.deepEqual(batches, [[1], [2]]);
});

test('the end of the source emits what was collected; whoever unsubscribes awaits no tick', (t) => {
  const { values$, batches, isComplete } = setUp();
  values$.next(1);
  values$.complete();
  t.deepEqual([batches, isComplete()], [[[1]], true]);
  const other = setUp();
  other.values$.next(1);
  other.subscription.unsubscribe();
  t.false(other.ticks$.observed);
  t.false(other.values$.observed);
});
