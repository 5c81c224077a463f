// Sets of the emails of a segment, beside sets of numbers.
import test from 'ava';
import fc from 'fast-check';
import { OrdinalSet } from '../../../src/store/word-index/ordinal-set.js';
import { runs } from '../../support/amounts.js';

test('a set has the ordinals that were added, ascending, and an intersection those of both', (t) => {
  const sized = fc.integer({ min: 1, max: 200 }).chain((size) => {
    const ordinals = fc.array(fc.nat(size - 1));
    return fc.tuple(fc.constant(size), ordinals, ordinals);
  });
  fc.assert(
    fc.property(sized, ([size, some, others]) => {
      const setOf = (ordinals: readonly number[]) => {
        const set = new OrdinalSet(size);
        for (const ordinal of ordinals) set.add(ordinal);
        return set;
      };
      const sorted = (ordinals: Iterable<number>) => [...new Set(ordinals)].sort((a, b) => a - b);
      const set = setOf(some);
      t.deepEqual([...set.ordinals()], sorted(some));
      for (let ordinal = 0; ordinal < size; ordinal++) t.is(set.has(ordinal), some.includes(ordinal));
      const all = OrdinalSet.all(size);
      t.deepEqual([...all.ordinals()], [...Array(size).keys()]);
      all.intersect(set);
      t.deepEqual([...all.ordinals()], sorted(some));
      set.intersect(setOf(others));
      t.deepEqual([...set.ordinals()], sorted(some.filter((ordinal) => others.includes(ordinal))));
      t.is(set.isEmpty, set.ordinals().length === 0);
    }),
    { numRuns: runs(300) },
  );
});
