// Tests the two policies: what one key may use of the total, in whatever portions, and what is left for the next key.
import fc from 'fast-check';
import { dynamicShare, fixedShare, type SharePolicy } from '../../src/concurrency/share-policies.js';
import test from '../support/test.js';

/** Counts what a key gets, one after the other, until it is refused. */
function most(policy: SharePolicy, own: number, all: number): number {
  let count = 0;
  while (policy.exhausted(own + count, all + count, 1) === undefined) count++;
  return count;
}

const amounts = fc
  .record({ total: fc.integer({ min: 1, max: 40 }), all: fc.nat(45), own: fc.nat(45), amount: fc.nat(45) })
  .filter(({ all, own }) => own <= all);
const factors = fc.constantFrom(1 / 16, 0.5, 1, 2, 4);
const policyOf = fc.oneof(
  fc.nat(40).map((share) => (total: number) => fixedShare({ total, share })),
  factors.map((factor) => (total: number) => dynamicShare({ total, factor })),
  fc.tuple(factors, fc.nat(40)).map(
    ([factor, share]) =>
      (total: number) =>
        dynamicShare({ total, factor, share }),
  ),
);

test('a fixed share is the same for each key, within the total', (t) => {
  const policy = fixedShare({ total: 5, share: 3 });
  t.deepEqual(
    [policy.exhausted(2, 2, 1), policy.exhausted(3, 3, 1), policy.exhausted(2, 5, 1), policy.exhausted(0, 5, 0)],
    [undefined, 'share', 'total', undefined],
  );
  t.is(policy.exhausted(3, 5, 1), 'share', 'the key has its share, though nothing is left at all');
});

test('the options of a fixed share may change', (t) => {
  const options = { total: 5, share: 3 };
  const policy = fixedShare(options);
  options.total = 9;
  options.share = 7;
  t.is(policy.total, 9);
  t.is(most(policy, 0, 0), 7);
});

test('with a dynamic share a single key gets its part by the factor, and each next one its part of the rest', (t) => {
  const shares = (factor: number) => {
    const policy = dynamicShare({ total: 900, factor });
    let all = 0;
    return ['a', 'b', 'c'].map(() => {
      const own = most(policy, 0, all);
      all += own;
      return own;
    });
  };
  t.deepEqual(shares(1), [450, 225, 113]);
  t.deepEqual(shares(2), [600, 200, 67]);
  t.is(most(dynamicShare({ total: 900, factor: 2, share: 10 }), 0, 0), 10);
});

test('under each policy an amount is granted when each unit of it is, one after the other, and never beyond the total', (t) => {
  fc.assert(
    fc.property(policyOf, amounts, (of, { total, all, own, amount }) => {
      const policy = of(total);
      const exhausted = policy.exhausted(own, all, amount);
      t.is(policy.total, total);
      if (amount > 0) t.is(exhausted === undefined, amount <= most(policy, own, all));
      if (exhausted === undefined && amount > 0) t.true(all + amount <= total);
      if (exhausted === 'total') t.true(all + amount > total);
    }),
  );
});

test('a dynamic share leaves something for the next key, whatever the others have taken', (t) => {
  const takers = fc.array(fc.nat(4), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 40 }), factors, takers, (total, factor, keys) => {
      const policy = dynamicShare({ total, factor });
      const own = new Map<number, number>();
      let all = 0;
      for (const key of keys) {
        const before = own.get(key) ?? 0;
        const isNew = before === 0 && all < total;
        const exhausted = policy.exhausted(before, all, 1);
        if (isNew) t.is(exhausted, undefined, 'a key without anything is served while something is left');
        if (exhausted !== undefined) continue;
        own.set(key, before + 1);
        all++;
      }
      t.true(most(policy, 0, 0) < total || factor >= total, 'a single key never gets everything');
    }),
  );
});
