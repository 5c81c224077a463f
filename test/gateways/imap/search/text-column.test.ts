// Tests joined texts: each is found as if it were searched alone, though a match may span the border of two of them.

import fc from 'fast-check';
import { TextColumn } from '../../../../src/gateways/imap/search/text-column.js';
import test from '../../../support/test.js';

const letters = fc.string({ unit: fc.constantFrom('A', 'B', ' ', 'é', 'ж'), maxLength: 4 });
const field = letters.map((text) => `\n${text}`);

function found(texts: readonly string[], sought: string): number[] {
  const column = new TextColumn();
  for (const [i, text] of texts.entries()) column.add(i + 1, text);
  const work = column.matching(sought);
  for (;;) {
    const step = work.next();
    if (step.done === true) return [...step.value];
  }
}

test('a text is found in every message that has it, and in no other', (t) => {
  const texts = fc.array(
    fc.array(field, { maxLength: 2 }).map((fields) => fields.join('')),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(
      texts,
      letters.map((text) => text || '\n'),
      (all, sought) => {
        t.deepEqual(
          found(all, sought),
          all.flatMap((text, i) => (text.includes(sought) ? [i + 1] : [])),
        );
      },
    ),
  );
});

test('many long texts are in several strings, with a yield after each', (t) => {
  const column = new TextColumn();
  for (let uid = 1; uid <= 1000; uid++) column.add(uid, `\n${'x'.repeat(100)} ${uid % 7}`);
  const work = column.matching('X 3'.toLowerCase());
  let yields = 0;
  let step = work.next();
  for (; step.done !== true; step = work.next()) yields++;
  t.deepEqual(
    [...step.value],
    Array.from({ length: 1000 }, (_, i) => i + 1).filter((uid) => uid % 7 === 3),
  );
  t.true(yields > 5);
  t.true(column.octets > 100_000 && column.octets < 120_000);
});
