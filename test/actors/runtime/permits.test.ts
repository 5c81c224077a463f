// Tests observables that hold a permit of a semaphore while they run.

import { Observable, of, Subject } from 'rxjs';
import { permit$, permitted, withPermit } from '../../../src/actors/runtime/permits.js';
import { FairSemaphore } from '../../../src/concurrency/fair-semaphore.js';
import type { Reservation } from '../../../src/concurrency/keyed-limiter.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';

test('work begins with a permit and gives the permit back when it ends', async (t) => {
  const semaphore = new FairSemaphore({ total: 1 });
  const [first$, seen]: [Subject<number>, number[]] = [new Subject(), []];
  first$.pipe(withPermit(permit$(semaphore, 'a'))).subscribe((value) => seen.push(value));
  of(2)
    .pipe(withPermit(permit$(semaphore, 'b')))
    .subscribe((value) => seen.push(value));
  await turn();
  t.true(first$.observed);
  t.deepEqual(seen, []);
  first$.next(1);
  first$.complete();
  await turn();
  t.deepEqual(seen, [1, 2]);
});

test('work that fails gives its permit back, and the error goes on', async (t) => {
  const semaphore = new FairSemaphore({ total: 1 });
  const failing$ = new Observable((subscriber) => subscriber.error(new Error('down')));
  let failure: unknown;
  failing$.pipe(withPermit(permit$(semaphore, 'a'))).subscribe({ error: (error) => (failure = error) });
  await turn();
  t.is((failure as Error).message, 'down');
  (await semaphore.acquire('b')).release();
});

test('whoever unsubscribes gives back the permit, also one that comes afterwards', async (t) => {
  const semaphore = new FairSemaphore({ total: 1 });
  const held = permit$(semaphore, 'a').subscribe();
  await turn();
  permit$(semaphore, 'b')
    .subscribe(() => t.fail('has left'))
    .unsubscribe();
  const granted: string[] = [];
  permit$(semaphore, 'c').subscribe(() => granted.push('c'));
  await turn();
  t.deepEqual(granted, []);
  held.unsubscribe();
  await turn();
  t.deepEqual(granted, ['c']);
  permit$(semaphore, 'd').subscribe().unsubscribe();
  await turn();
});

test('work may give its permit back before it ends', async (t) => {
  const semaphore = new FairSemaphore({ total: 1 });
  const work$ = new Subject<number>();
  let held: Reservation | undefined;
  const working = permitted(permit$(semaphore, 'a'), (permit) => {
    held = permit;
    return work$;
  }).subscribe();
  await turn();
  const next = semaphore.acquire('b');
  held!.release();
  (await next).release();
  t.true(work$.observed);
  working.unsubscribe();
  (await semaphore.acquire('c')).release();
});
