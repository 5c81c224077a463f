// Sets of positions at the borders of their words of 32.
import test from 'ava';
import fc from 'fast-check';
import { PositionSet } from '../../../../src/gateways/imap/search/position-set.js';

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

test('all messages have the flag, whatever their number', (t) => {
  for (const size of SIZES) {
    const found = PositionSet.withBit(new Uint16Array(size).fill(0xffff), 0x8000);
    t.deepEqual([...found.positions()], [...Array(size).keys()]);
  }
});
