// Tests cursors: each leads back to its position, and leads nowhere for another account.

import fc from 'fast-check';
import { cursorOf, positionOf, wholeChange } from '../../../src/gateways/events/cursor.js';
import test from '../../support/test.js';

test('a cursor leads back to its position, in its account alone', (t) => {
  const within = fc.record({ n: fc.nat({ max: 999_999_999 }), k: fc.nat({ max: 999_999_999 }) });
  const position = fc.record(
    { seq: fc.nat(), at: fc.nat({ max: 8.64e14 }), within },
    { requiredKeys: ['seq', 'at'], noNullPrototype: true },
  );
  fc.assert(
    fc.property(position, fc.uuid(), fc.uuid(), (position, mine, other) => {
      const cursor = cursorOf(position, mine);
      t.deepEqual(positionOf(cursor, mine), position);
      if (other !== mine) t.is(positionOf(cursor, other), null);
    }),
  );
});

test('a cursor that another version may have made is not understood, other text is none', (t) => {
  for (const text of ['0', '2.7-8-9', '1.2-3-x', '1-2-3', `1-2-${'x'.repeat(8)}`, '9'.repeat(128)])
    t.is(positionOf(text, 'a'), null);
  for (const text of ['', ' ', '1 2', '{}', 'ä', '9'.repeat(129)]) t.is(positionOf(text, 'a'), undefined);
});

test('a position in the midst of a change comes after the change before it', (t) => {
  t.deepEqual(wholeChange({ seq: 7, at: 1 }), { seq: 7, at: 1 });
  t.deepEqual(wholeChange({ seq: 7, at: 1, within: { n: 0, k: 0 } }), { seq: 6, at: 1 });
});
