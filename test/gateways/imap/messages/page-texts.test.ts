import fc from 'fast-check';
import { PageTexts } from '../../../../src/gateways/imap/messages/page-texts.js';
import test from '../../../support/test.js';

const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.nat(9_000).map((length) => 'long'.repeat(length / 4)),
);
const step = fc.record({ number: fc.nat(383), text, isRead: fc.boolean() });

test('each text is as it was set, and those that were not set are not there', (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const texts = new PageTexts();
      const expected = new Map<number, string>();
      let { octets } = texts;
      for (const { number, text, isRead } of steps) {
        t.is(texts.has(number), expected.has(number));
        if (isRead || expected.has(number)) {
          t.is(texts.get(number), expected.get(number));
          continue;
        }
        texts.set(number, text);
        expected.set(number, text);
        t.true(texts.octets >= octets + text.length);
        octets = texts.octets;
      }
      for (let number = 0; number < 400; number++) t.is(texts.get(number), expected.get(number));
    }),
  );
});

test('texts with characters beyond Latin-1 count twice', (t) => {
  const [narrow, wide] = [new PageTexts(), new PageTexts()];
  for (const texts of [narrow, wide]) for (let n = 0; n < 8; n++) texts.set(n, 'x'.repeat(1_000));
  narrow.set(8, 'é');
  wide.set(8, '€');
  t.true(wide.octets > narrow.octets + 7_000);
});
