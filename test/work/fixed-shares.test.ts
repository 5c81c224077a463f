// Tests the fixed limiter: no holder has more than its share, and all together have at most the total.

import fc from 'fast-check';
import { FixedShares } from '../../src/work/fixed-shares.js';
import test from '../support/test.js';

test('a holder gets its share, all together the total, and what is given back is there again', (t) => {
  const shares = new FixedShares({ total: 5, share: 3 });
  t.deepEqual(
    ['a', 'a', 'a', 'a', 'b', 'b', 'b'].map((holder) => shares.tryTake(holder)),
    [undefined, undefined, undefined, 'share', undefined, undefined, 'total'],
  );
  t.deepEqual([shares.exhausted('a'), shares.exhausted('b'), shares.exhausted('c', 0)], ['share', 'total', undefined]);
  shares.give('a', 2);
  t.is(shares.tryTake('b', 2), 'share');
  t.is(shares.tryTake('c', 2), undefined);
  t.deepEqual(
    ['a', 'b', 'c', 'd'].map((holder) => shares.heldBy(holder)),
    [1, 2, 2, 0],
  );
  t.is(shares.held, 5);
  t.throws(() => shares.give('a', 2), { instanceOf: RangeError });
  t.is(shares.held, 5);
});

test('whatever is taken and given back, the bounds hold', (t) => {
  const step = fc.record({ holder: fc.constantFrom('a', 'b', 'c'), amount: fc.integer({ min: -4, max: 4 }) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const shares = new FixedShares({ total: 10, share: 5 });
      const held = new Map<string, number>();
      for (const { holder, amount } of steps) {
        const before = held.get(holder) ?? 0;
        if (amount < 0 && before + amount < 0) continue;
        if (amount < 0) shares.give(holder, -amount);
        else if (shares.tryTake(holder, amount) !== undefined) continue;
        held.set(holder, before + amount);
      }
      const sum = [...held.values()].reduce((all, each) => all + each, 0);
      const isSame = [...held].every(([holder, amount]) => shares.heldBy(holder) === amount && amount <= 5);
      return isSame && shares.held === sum && sum <= 10;
    }),
  );
  t.pass();
});
