// Tests the dynamic limiter: a holder gets what the threshold allows, in whatever portions, and the next holder always gets something.

import fc from 'fast-check';
import { DynamicShares } from '../../src/work/dynamic-shares.js';
import test from '../support/test.js';

test('one alone gets its part by the factor, and each that comes next gets its part of the rest', (t) => {
  const had = (factor: number) => {
    const shares = new DynamicShares({ total: 900, factor });
    return ['a', 'b', 'c'].map((holder) => {
      const openings = shares.openings(holder);
      shares.take(holder, openings);
      return openings;
    });
  };
  t.deepEqual(had(1), [450, 225, 113]);
  t.deepEqual(had(2), [600, 200, 67]);
});

test('what was taken beyond the bound leaves less than nothing, until it is given back', (t) => {
  const shares = new DynamicShares({ total: 2, factor: 2 });
  for (const holder of ['a', 'b', 'b']) shares.take(holder);
  t.is(shares.free, -1);
  t.is(shares.openings('c'), 0);
  t.false(shares.mayTake('c'));
  t.deepEqual(shares.holders, ['a', 'b']);
  shares.give('b', 2);
  t.deepEqual(shares.holders, ['a']);
  t.true(shares.mayTake('c'));
  t.throws(() => shares.give('b'), { instanceOf: RangeError });
  t.is(shares.held, 1);
});

test('who holds less comes first, of equals the one that did not give back last', (t) => {
  const shares = new DynamicShares({ total: 9, factor: 2 });
  for (const holder of ['a', 'a', 'b', 'b', 'b', 'c']) shares.take(holder);
  const order = () => ['a', 'b', 'c'].sort((a, b) => shares.compare(a, b)).join('');
  t.is(order(), 'cab');
  shares.give('a');
  t.is(order(), 'cab');
  shares.give('b', 2);
  t.is(order(), 'acb');
  shares.give('b');
  t.is(order(), 'bac');
});

test('an amount may be taken when each of it may, one after the other; never more than the total; a newcomer finds some', (t) => {
  const step = fc.record({ holder: fc.constantFrom('a', 'b', 'c'), amount: fc.integer({ min: -6, max: 6 }) });
  const factor = fc.constantFrom(0.5, 1, 2, 4);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), factor, fc.array(step), (total, factor, steps) => {
      const shares = new DynamicShares({ total, factor });
      for (const { holder, amount } of steps) {
        const held = shares.heldBy(holder);
        if (amount < 0) shares.give(holder, Math.min(held, -amount));
        else {
          const mayTake = shares.mayTake(holder, amount);
          t.is(mayTake, amount <= oneByOne(shares, holder, factor));
          if (mayTake) shares.take(holder, amount);
        }
        t.true(shares.held <= total);
        t.is(shares.mayTake('newcomer'), shares.free > 0);
      }
    }),
  );
});

/** Counts one by one what the threshold allows. */
function oneByOne(shares: DynamicShares, holder: string, factor: number): number {
  let count = 0;
  for (; shares.heldBy(holder) < factor * shares.free; count++) shares.take(holder);
  shares.give(holder, count);
  return count;
}
