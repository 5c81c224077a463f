// Compares the recent changes that are kept with a list of all.

import fc from 'fast-check';
import { RecentChanges } from '../../../src/actors/mailbox/recent-changes.js';
import test from '../../support/test.js';

const KEPT = 64;
const steps = fc.array(fc.record({ slot: fc.nat(100), by: fc.nat(2) }), { maxLength: 4 * KEPT, size: 'max' });

test('all slots that changed after a modseq are known, or it is known that they are not', (t) => {
  fc.assert(
    fc.property(fc.nat(10), steps, fc.nat(), (floor, changes, at) => {
      const recent = new RecentChanges(floor);
      let modseq = floor + 1;
      const all = changes.map(({ slot, by }) => {
        modseq += by;
        recent.add(slot, modseq);
        return { slot, modseq };
      });
      const since = at % (modseq + 2);
      const wanted = all.filter((each) => each.modseq > since).map(({ slot }) => slot);
      const found = recent.after(since);
      const isKept = since >= floor && wanted.length <= KEPT;
      t.is(found !== undefined, isKept && !all.slice(0, -KEPT).some((each) => each.modseq > since));
      if (found !== undefined) t.deepEqual([...found].sort(), [...wanted].sort());
    }),
  );
});
