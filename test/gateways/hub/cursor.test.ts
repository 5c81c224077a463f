// Cursors: back to the same place, and of nobody else.
import test from 'ava';
import fc from 'fast-check';
import { cursorOf, placeOf } from '../../../src/gateways/hub/cursor.js';

test('a cursor leads back to its place, in its account alone', (t) => {
  const place = fc.record({ seq: fc.nat(), at: fc.nat({ max: 8.64e14 }) });
  fc.assert(
    fc.property(place, fc.uuid(), fc.uuid(), (place, mine, other) => {
      const cursor = cursorOf(place, mine);
      t.deepEqual(placeOf(cursor, mine), place);
      if (other !== mine) t.is(placeOf(cursor, other), null);
    }),
  );
});

test('a cursor that another version may have made is not understood, other text is none', (t) => {
  for (const text of ['0', '2.7-8-9', '1-2-3', `1-2-${'x'.repeat(8)}`, '9'.repeat(128)]) t.is(placeOf(text, 'a'), null);
  for (const text of ['', ' ', '1 2', '{}', 'ä', '9'.repeat(129)]) t.is(placeOf(text, 'a'), undefined);
});
