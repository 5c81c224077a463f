// Tests batches of a tick; the test decides when the tick ends.

import { Subject } from 'rxjs';
import { batchedBy } from '../../../src/gateways/hub/batched-by.js';
import test from '../../support/test.js';

function setUp() {
  const values$ = new Subject<number>();
  const flush$ = new Subject<void>();
  let awaited = 0;
  let runs: (() => void)[] = [];
  const atEndOfTick = (run: () => void) => {
    awaited++;
    runs.push(run);
  };
  const tick = () => {
    const due = runs;
    runs = [];
    for (const run of due) run();
  };
  const batches: (readonly number[])[] = [];
  let isComplete = false;
  const subscription = values$
    .pipe(batchedBy(atEndOfTick, flush$))
    .subscribe({ next: (batch) => batches.push(batch), complete: () => (isComplete = true) });
  const awaits = () => awaited;
  return { values$, tick, flush$, awaits, batches, subscription, isComplete: () => isComplete };
}

test('values until the tick are one batch, and one tick is awaited for a batch', (t) => {
  const { values$, tick, awaits, batches } = setUp();
  t.is(awaits(), 0);
  for (const value of [1, 2, 3]) values$.next(value);
  t.deepEqual([awaits(), batches], [1, []]);
  tick();
  t.deepEqual(batches, [[1, 2, 3]]);
  tick();
  t.deepEqual([awaits(), batches.length], [1, 1], 'no tick is awaited and no batch emitted without a value');
  values$.next(4);
  tick();
  t.deepEqual(batches, [[1, 2, 3], [4]]);
});

test('a flush ends the batch before the tick; what comes afterwards waits for the tick', (t) => {
  const { values$, tick, flush$, batches } = setUp();
  flush$.next();
  values$.next(1);
  flush$.next();
  t.deepEqual(batches, [[1]]);
  values$.next(2);
  tick();
  t.deepEqual(batches, [[1], [2]]);
});

test('the end of the source emits what was collected; whoever unsubscribes gets no batch', (t) => {
  const { values$, batches, isComplete } = setUp();
  values$.next(1);
  values$.complete();
  t.deepEqual([batches, isComplete()], [[[1]], true]);
  const other = setUp();
  other.values$.next(1);
  other.subscription.unsubscribe();
  other.tick();
  t.deepEqual(other.batches, []);
  t.false(other.values$.observed || other.flush$.observed);
});
