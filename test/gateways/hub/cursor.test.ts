// Cursors: back to the same position, and of nobody else.
import test from 'ava';
import fc from 'fast-check';
import { cursorOf, positionOf } from '../../../src/gateways/hub/cursor.js';

test('a cursor leads back to its position, in its account alone', (t) => {
  const position = fc.record({ seq: fc.nat(), at: fc.nat({ max: 8.64e14 }) });
  fc.assert(
    fc.property(position, fc.uuid(), fc.uuid(), (position, mine, other) => {
      const cursor = cursorOf(position, mine);
      t.deepEqual(positionOf(cursor, mine), position);
      if (other !== mine) t.is(positionOf(cursor, other), null);
    }),
  );
});

test('a cursor that another version may have made is not understood, other text is none', (t) => {
  for (const text of ['0', '2.7-8-9', '1-2-3', `1-2-${'x'.repeat(8)}`, '9'.repeat(128)])
    t.is(positionOf(text, 'a'), null);
  for (const text of ['', ' ', '1 2', '{}', 'ä', '9'.repeat(129)]) t.is(positionOf(text, 'a'), undefined);
});
