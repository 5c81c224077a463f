// The order of words: a phrase that is in a field is always found in it, and one that is not seldom is.
import test from 'ava';
import fc from 'fast-check';
import { phraseOrder, wordOrder } from '../../src/store/postgres/word-order.js';

/** As the database looks for it. */
function isFound(order: Uint8Array, phrase: readonly string[]): boolean {
  return Buffer.from(order).includes(Buffer.from(phraseOrder(phrase)));
}

test('words that follow one another in a field are found', (t) => {
  const word = fc.oneof(fc.constantFrom('a', 'b', '漢', '🎉', 'x'.repeat(64)), fc.string({ maxLength: 5 }));
  fc.assert(
    fc.property(
      fc.array(fc.array(word, { maxLength: 40 }), { minLength: 1, maxLength: 5 }),
      fc.nat(40),
      fc.nat(4),
      (fields, at, more) => {
        const order = wordOrder(fields)!;
        for (const field of fields)
          if (at + 2 <= field.length) t.true(isFound(order, field.slice(at, at + 2 + more)), field.join(' '));
      },
    ),
    { numRuns: 500 },
  );
});

test('few of the other phrases are, none across the end of a field, and a long email has no order', (t) => {
  const words = Array.from({ length: 200 }, (_, i) => `word${i}`);
  const order = wordOrder([words, [], words])!;
  let found = 0;
  for (let i = 0; i < 1000; i++)
    if (isFound(order, [words[(i * 7) % 200]!, words[(i * 7 + 2 + (i % 150)) % 200]!])) found++;
  t.true(found < 50, `${found} of 1000`);
  t.false(isFound(wordOrder([['a'], ['b']])!, ['a', 'b']));
  t.is(wordOrder([Array.from({ length: 510 }, () => 'w'), []])?.length, 512);
  t.is(wordOrder([Array.from({ length: 511 }, () => 'w'), []]), undefined);
});
