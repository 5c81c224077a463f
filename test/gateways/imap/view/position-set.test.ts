// Tests sets of positions at the borders of their words of 32 bits.

import fc from 'fast-check';
import { PositionSet } from '../../../../src/gateways/imap/view/position-set.js';
import test from '../../../support/test.js';

const SIZES = [0, 1, 31, 32, 33, 63, 64, 65, 100];

test('a bit of flags is found at the positions that have it, for any number of messages', (t) => {
  const flags = fc.constantFrom(...SIZES).chain((size) => fc.uint16Array({ minLength: size, maxLength: size }));
  fc.assert(
    fc.property(flags, fc.nat(15), (numbers, shift) => {
      const bit = 1 << shift;
      const positions = [...numbers.keys()].filter((i) => (numbers[i]! & bit) !== 0);
      const found = PositionSet.withBit(numbers, bit);
      t.deepEqual([...found.positions()], positions);
      t.is(found.count, positions.length);
      const all = new PositionSet(numbers.length);
      all.addRange(0, numbers.length);
      t.is(all.minus(found).count, numbers.length - positions.length);
      t.deepEqual([...all.and(found).positions()], positions);
    }),
  );
});

test('sets are joined and divided as sets of numbers are, whether they are whole, empty or neither', (t) => {
  const set = (size: number) =>
    fc.oneof(
      fc.constantFrom('whole' as const, 'none' as const),
      fc.uniqueArray(fc.nat(Math.max(0, size - 1)), { maxLength: size }),
    );
  const pairs = fc
    .constantFrom(...SIZES)
    .chain((size) => fc.tuple(fc.constant(size), set(size), set(size), fc.nat(size)));
  fc.assert(
    fc.property(pairs, fc.boolean(), ([size, first, second, cut], isCounted) => {
      const all = [...Array(size).keys()];
      const made = (numbers: readonly number[] | 'whole' | 'none') => {
        const positions = numbers === 'whole' ? all : numbers === 'none' ? [] : numbers;
        const positionSet = numbers === 'whole' ? PositionSet.whole(size) : PositionSet.of(size, positions);
        // A set that knows its count takes other paths.
        if (isCounted) t.is(positionSet.count, positions.length);
        return { positions: new Set(positions), positionSet };
      };
      const [a, b] = [made(first), made(second)];
      const expect = (found: PositionSet, has: (position: number) => boolean, below = size) => {
        t.deepEqual([...found.positions()], all.slice(0, below).filter(has));
        t.is(found.size, below);
      };
      expect(a.positionSet.and(b.positionSet), (n) => a.positions.has(n) && b.positions.has(n));
      expect(a.positionSet.or(b.positionSet), (n) => a.positions.has(n) || b.positions.has(n));
      expect(a.positionSet.minus(b.positionSet), (n) => a.positions.has(n) && !b.positions.has(n));
      expect(a.positionSet.below(cut), (n) => a.positions.has(n), cut);
      expect(a.positionSet, (n) => a.positions.has(n));
      expect(b.positionSet, (n) => b.positions.has(n));
    }),
  );
});

test('all messages have the flag, whatever their number', (t) => {
  for (const size of SIZES) {
    const found = PositionSet.withBit(new Uint16Array(size).fill(0xffff), 0x8000);
    t.deepEqual([...found.positions()], [...Array(size).keys()]);
  }
});
