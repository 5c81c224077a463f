// Generates and prints what several commands share.
import fc from 'fast-check';
import { LAST, type SequenceRange, type SequenceSet } from '../../../../src/gateways/imap/grammar/sequence-set.js';

const numbers = fc.oneof(fc.integer({ min: 1, max: 0xffff_ffff }), fc.constant(LAST));
const ranges: fc.Arbitrary<SequenceRange> = fc.oneof(
  fc.tuple(numbers, numbers),
  numbers.map((number): SequenceRange => [number, number]),
);

export const sets: fc.Arbitrary<SequenceSet> = fc.oneof(
  { weight: 9, arbitrary: fc.array(ranges, { minLength: 1, maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constant('$' as const) },
);

export const flags = fc.constantFrom('\\Seen', '\\Deleted', '$Junk', 'x', '\\Custom', 'NIL', '[a');

const printedNumber = (number: number): string => (number === LAST ? '*' : `${number}`);

export function printedSet(set: SequenceSet): string {
  if (set === '$') return '$';
  return set
    .map(([first, last]) => (first === last ? printedNumber(first) : `${printedNumber(first)}:${printedNumber(last)}`))
    .join(',');
}
