// Tests the words of search: folding, the terms of a query, and arbitrary text.

import fc from 'fast-check';
import { fold, hasTerm, searchTerms, wordsOf } from '../../../src/mail-format/words/search-text.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

test('accents, case and forms of letters are one', (t) => {
  for (const [a, b] of [
    ['Grüße', 'GRUSSE'],
    ['Ångström', 'angstrom'],
    ['ﬁne', 'fine'],
    ['İSTANBUL', 'istanbul'],
    ['ıstanbul', 'istanbul'],
    ['Øystein Æble Łódź', 'oystein aeble lodz'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['οδος', 'οδοσ'],
    ['１２３', '123'],
  ] as const)
    t.deepEqual(wordsOf(a), wordsOf(b), a);
});

test('words are runs of letters and digits; scripts without spaces give characters', (t) => {
  t.deepEqual(wordsOf("Ann <ann.b@example.org> it's 1.5e3 foo_bar"), [
    ...['ann', 'ann', 'b', 'example', 'org', 'it', 's', '1', '5e3', 'foo', 'bar'],
  ]);
  t.deepEqual(wordsOf('東京abcタワー🎉'), ['東', '京', 'abc', 'タ', 'ワ', 'ー', '🎉']);
  t.deepEqual(wordsOf('--- ### \0 \ud800'), []);
  t.is(wordsOf('x'.repeat(5000))[0]!.length, 64);
  t.is(wordsOf('a b c d', 2).length, 2);
});

test('queries are words, quoted phrases, and nothing else', (t) => {
  t.deepEqual(searchTerms('foo "bar baz" qux-x'), [
    { words: ['foo'], prefix: true },
    { words: ['bar', 'baz'], prefix: false },
    { words: ['qux', 'x'], prefix: true },
  ]);
  t.deepEqual(searchTerms('a & !b | (c:*) <-> \\'), [
    { words: ['a'], prefix: true },
    { words: ['b'], prefix: true },
    { words: ['c'], prefix: true },
  ]);
  t.deepEqual(searchTerms('"not closed'), [{ words: ['not', 'closed'], prefix: false }]);
  t.deepEqual(searchTerms('“typo graphic”'), [{ words: ['typo', 'graphic'], prefix: false }]);
  t.deepEqual(searchTerms(' "" - " " '), []);
});

test('a term is in a text whose words stand as it says, the last one of a prefix from its beginning', (t) => {
  const text = wordsOf('Dr. Zoë Müller, Köln');
  const has = (query: string) => searchTerms(query).every((term) => hasTerm(text, term));
  t.deepEqual(
    ['zoe', 'mul', '"zoe muller"', 'zoe@mul', 'dr koln', ''].map(has),
    Array.from({ length: 6 }, () => true),
  );
  t.deepEqual(
    ['oe', '"mul"', '"muller zoe"', 'zoe@kol', 'koln@x'].map(has),
    Array.from({ length: 5 }, () => false),
  );
});

test('folding twice is folding once, words are words again, and a word is found by its start', (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.string()), (text) => {
      t.is(fold(fold(text)), fold(text));
      const words = wordsOf(text);
      for (const word of words) t.deepEqual(wordsOf(word), [word]);
      t.deepEqual(wordsOf(words.join(' ')), words);
      t.deepEqual(
        searchTerms(text).flatMap((term) => term.words),
        searchTerms(words.join(' ')).flatMap((term) => term.words),
      );
    }),
    { numRuns: runs(3000) },
  );
});
