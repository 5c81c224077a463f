// Compares sets of the emails of a segment with sets of numbers.

import fc from 'fast-check';
import { DocumentBitmap } from '../../../src/store/word-index/document-bitmap.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

test('a set has the docIds that were added, ascending, and an intersection those of both', (t) => {
  const sized = fc.integer({ min: 1, max: 200 }).chain((size) => {
    const docIds = fc.array(fc.nat(size - 1));
    return fc.tuple(fc.constant(size), docIds, docIds);
  });
  fc.assert(
    fc.property(sized, ([size, some, others]) => {
      const setOf = (docIds: readonly number[]) => {
        const set = new DocumentBitmap(size);
        for (const docId of docIds) set.add(docId);
        return set;
      };
      const sorted = (docIds: Iterable<number>) => [...new Set(docIds)].sort((a, b) => a - b);
      const set = setOf(some);
      t.deepEqual([...set.docIds()], sorted(some));
      for (let docId = 0; docId < size; docId++) t.is(set.has(docId), some.includes(docId));
      const all = DocumentBitmap.all(size);
      t.deepEqual([...all.docIds()], [...Array(size).keys()]);
      all.intersect(set);
      t.deepEqual([...all.docIds()], sorted(some));
      set.intersect(setOf(others));
      t.deepEqual([...set.docIds()], sorted(some.filter((docId) => others.includes(docId))));
      t.is(set.isEmpty, set.docIds().length === 0);
    }),
    { numRuns: runs(300) },
  );
});
