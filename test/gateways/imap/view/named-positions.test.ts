// Tests sets of sequence numbers and UIDs against the definition in RFC 9051 §9.

import fc from 'fast-check';
import { Refused } from '../../../../src/gateways/imap/completion.js';
import { LAST, type SequenceRange } from '../../../../src/gateways/imap/grammar/sequence-set.js';
import { positionsOf } from '../../../../src/gateways/imap/view/named-positions.js';
import test from '../../../support/test.js';

const UIDS = Uint32Array.of(2, 3, 5, 8, 13, 99);
const COUNT = 5;
const positions = (set: readonly SequenceRange[], isUid: boolean, count = COUNT) => [
  ...positionsOf(UIDS, count, set, isUid, []),
];

test('sequence numbers, ranges in either order, and the last message', (t) => {
  t.deepEqual(positions([[2, 2]], false), [1]);
  t.deepEqual(positions([[4, 2]], false), [1, 2, 3]);
  t.deepEqual(positions([[LAST, 4], [1, 1]], false), [0, 3, 4]); // biome-ignore format: one line
  t.deepEqual(positions([[LAST, LAST]], false), [4]);
});

test('a sequence number beyond the mailbox is refused, and any in an empty one', (t) => {
  for (const range of [
    [6, 6],
    [1, 6],
    [6, LAST],
    [LAST, 7],
  ] as const) {
    const { completion } = t.throws(() => positions([range], false), { instanceOf: Refused })!;
    t.is(completion.status, 'BAD');
  }
  t.throws(() => positions([[1, LAST]], false, 0), { instanceOf: Refused });
  t.throws(() => positions([[LAST, LAST]], false, 0), { instanceOf: Refused });
});

test('UIDs that are not there are passed over, and a range beyond the last UID ends with the last message', (t) => {
  t.deepEqual(positions([[1, 4]], true), [0, 1]);
  t.deepEqual(positions([[4, 4]], true), []);
  t.deepEqual(positions([[50, LAST]], true), [4]);
  t.deepEqual(positions([[LAST, 50]], true), [4]);
  t.deepEqual(positions([[50, 60]], true), []);
  t.deepEqual(positions([[1, LAST]], true, 0), []);
});

test('the saved result names what is still there', (t) => {
  t.deepEqual([...positionsOf(UIDS, COUNT, '$', false, [3, 4, 13, 99])], [1, 4]);
});

test('sets of absurd length cost no more than their ranges and the messages', (t) => {
  const huge = Array.from({ length: 100_000 }, (): SequenceRange => [4_294_967_295, 1]);
  t.deepEqual(positions(huge, true), [0, 1, 2, 3, 4]);
  const all = Array.from({ length: 100_000 }, (): SequenceRange => [1, LAST]);
  t.deepEqual(positions(all, false), [0, 1, 2, 3, 4]);
});

test('any set of UIDs names each message in one of its ranges once, in order', (t) => {
  const number = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(LAST));
  const uids = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 20 });
  fc.assert(
    fc.property(fc.array(fc.tuple(number, number), { minLength: 1 }), uids, (set, unsorted) => {
      const sorted = Uint32Array.from(unsorted).sort();
      const last = sorted.at(-1) ?? 0;
      const named = (uid: number) =>
        set.some((range) => {
          const [a, b] = range.map((end) => (end === LAST ? last : end)) as [number, number];
          return Math.min(a, b) <= uid && uid <= Math.max(a, b);
        });
      const expected = [...sorted].flatMap((uid, position) => (named(uid) ? [position] : []));
      t.deepEqual([...positionsOf(sorted, sorted.length, set, true, [])], expected);
    }),
  );
});
