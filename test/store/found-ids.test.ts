// Compares the ids that a search has found in several segments with a set of their texts.

import fc from 'fast-check';
import { uuidOctets, uuidText } from '../../src/mail/ids.js';
import { ResultSet } from '../../src/store/postgres/result-set.js';
import { runs } from '../support/amounts.js';
import test from '../support/test.js';

const id = fc.nat(60).map((n) => `00000000-0000-7000-8000-${String(n * 7).padStart(12, '0')}`);
const other = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((octets) => uuidText(octets));
const segment = fc.array(fc.oneof({ weight: 9, arbitrary: id }, other), { maxLength: 40 });
const isFound = (ids: readonly string[]) => fc.array(fc.boolean(), { minLength: ids.length, maxLength: ids.length });
const part = (segments: fc.Arbitrary<string[]>) =>
  segments.chain((ids) => fc.tuple(fc.constant(ids), isFound(ids), fc.nat(5)));

/** Ids of segments in the order of their time, which is the usual case. */
const inOrder = fc.uniqueArray(id, { maxLength: 60 }).chain((ids) =>
  fc.array(fc.nat(ids.length), { maxLength: 4 }).map((cuts) => {
    const sorted = ids.toSorted();
    const ends = [...cuts.toSorted((a, b) => a - b), ids.length];
    return ends.map((end, i) => sorted.slice(ends[i - 1] ?? 0, end));
  }),
);

async function found(segments: readonly (readonly [string[], boolean[], number])[], after?: string): Promise<string[]> {
  const ids = new ResultSet(after);
  for (const [texts, areFound, start] of segments) {
    const packed = Buffer.concat([Buffer.alloc(start), ...texts.map(uuidOctets)]).subarray(start);
    await ids.add(packed, Uint32Array.from([...texts.keys()].filter((i) => areFound[i]!)));
  }
  const packed = await ids.packed();
  return Array.from({ length: packed.length / 16 }, (_, i) => uuidText(packed.subarray(i * 16, i * 16 + 16)));
}

test('ids of segments are found once each, whatever order they have', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(part(segment), { maxLength: 5 }),
      fc.option(id, { nil: undefined }),
      async (parts, after) => {
        const expected = parts.flatMap(([ids, areFound]) => ids.filter((_, i) => areFound[i]));
        const later = expected.filter((each) => after === undefined || each > after);
        t.deepEqual((await found(parts, after)).toSorted(), [...new Set(later)].toSorted());
      },
    ),
    { numRuns: runs(300) },
  );
});

test('ids of segments that follow one another come in their order, in whatever order the segments are', async (t) => {
  await fc.assert(
    fc.asyncProperty(inOrder, fc.boolean(), async (segments, isReversed) => {
      const parts = segments.map((ids) => [ids, ids.map(() => true), 0] as const);
      const ids = await found((isReversed ? parts.toReversed() : parts) as never);
      t.deepEqual(ids, segments.flat());
    }),
    { numRuns: runs(200) },
  );
});
