// Tests the keyed limiter and its reservations under both policies: bounds hold in whatever order reservations are made, resized and
// released, and what is released is free once.
import fc from 'fast-check';
import { KeyedLimiter, type Reservation } from '../../src/concurrency/keyed-limiter.js';
import { dynamicShare, fixedShare } from '../../src/concurrency/share-policies.js';
import { runs } from '../support/amounts.js';
import test from '../support/test.js';

const fixed = fc
  .record({ total: fc.integer({ min: 1, max: 30 }), share: fc.integer({ min: 1, max: 20 }) })
  .map((options) => ({ ...options, policy: fixedShare(options) }));
const dynamic = fc
  .record({ total: fc.integer({ min: 1, max: 30 }), factor: fc.constantFrom(0.5, 1, 2, 4) })
  .map((options) => ({ ...options, share: options.total, policy: dynamicShare(options) }));

const step = fc.record({
  kind: fc.constantFrom('reserve', 'reserve', 'resize', 'release'),
  key: fc.constantFrom('a', 'b', 'c'),
  amount: fc.nat(8),
  which: fc.nat(),
});

test('bounds hold, a refusal changes nothing, and everything released is free again', (t) => {
  fc.assert(
    fc.property(fc.oneof(fixed, dynamic), fc.array(step, { maxLength: 60 }), ({ policy, total, share }, steps) => {
      let freed = 0;
      const limiter = new KeyedLimiter(policy, () => freed++);
      /** Reservations that were made, with the amount that each has; 0 after the release. */
      const made = new Map<Reservation, number>();
      const sum = (key?: string) =>
        [...made].reduce((all, [r, amount]) => all + (key === undefined || r.key === key ? amount : 0), 0);
      for (const { kind, key, amount, which } of steps) {
        const one = [...made.keys()][which % Math.max(1, made.size)];
        const freedBefore = freed;
        if (kind === 'reserve') {
          const exhausted = limiter.exhausted(key, amount);
          const reservation = limiter.reserve(key, amount);
          t.is(reservation === undefined, exhausted !== undefined);
          if (reservation !== undefined) made.set(reservation, amount);
        } else if (one !== undefined && kind === 'resize') {
          const before = made.get(one)!;
          const isGranted = amount <= before || limiter.exhausted(one.key, amount - before) === undefined;
          const wasResized = one.resize(amount);
          if (wasResized) made.set(one, amount);
          if (before > 0) t.is(wasResized, isGranted);
          t.is(freed - freedBefore, wasResized && amount < before ? 1 : 0);
        } else if (one !== undefined) {
          one.release();
          one.release();
          made.set(one, 0);
          t.false(one.resize(1), 'a released reservation stays released');
          t.true(freed - freedBefore <= 1);
        }
        for (const [reservation, amount] of made) t.is(reservation.amount, amount);
        t.is(limiter.used, sum());
        t.is(limiter.free, total - sum());
        t.true(sum() <= total);
        for (const each of ['a', 'b', 'c']) {
          t.is(limiter.usedBy(each), sum(each));
          t.true(sum(each) <= share);
          t.is(limiter.keys.includes(each), sum(each) > 0);
        }
      }
      for (const reservation of made.keys()) reservation.release();
      t.deepEqual([limiter.used, limiter.keys], [0, []]);
    }),
    { numRuns: runs(200) },
  );
});

test('work that cannot be refused leaves less than nothing, until it is released', (t) => {
  const limiter = new KeyedLimiter(dynamicShare({ total: 2, factor: 2 }));
  const all = ['a', 'b', 'b'].map((key) => limiter.charge(key));
  t.is(limiter.free, -1);
  t.is(limiter.exhausted('c'), 'total');
  t.deepEqual(limiter.keys, ['a', 'b']);
  for (const one of all.slice(1)) one.release();
  t.deepEqual(limiter.keys, ['a']);
  t.is(limiter.exhausted('c'), undefined);
});

test('the key that uses less comes first, of equal ones the one that did not release last', (t) => {
  const limiter = new KeyedLimiter(dynamicShare({ total: 9, factor: 2 }));
  const [a1, , b1, b2, b3] = ['a', 'a', 'b', 'b', 'b', 'c'].map((key) => limiter.charge(key));
  const order = () => ['a', 'b', 'c'].sort((a, b) => limiter.compare(a, b)).join('');
  t.is(order(), 'cab');
  a1!.release();
  t.is(order(), 'cab');
  for (const one of [b1, b2]) one!.release();
  t.is(order(), 'acb');
  b3!.release();
  t.is(order(), 'bac');
});
