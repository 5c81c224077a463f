// Tests format=flowed (RFC 3676): paragraphs return as they were before they were wrapped.

import fc from 'fast-check';
import { unwrapped } from '../../../src/mail-format/decode/flowed.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

test('soft line breaks, with and without DelSp', (t) => {
  t.is(unwrapped('one \ntwo\nthree', false), 'one two\nthree');
  t.is(unwrapped('one \ntwo\nthree', true), 'onetwo\nthree');
  t.is(unwrapped('日本 \n語\n', true), '日本語\n');
  t.is(unwrapped('a \n\nb', false), 'a \nb', 'an empty line is content of the paragraph that is open');
  t.is(unwrapped('', false), '');
  t.is(unwrapped('a\n\n', false), 'a\n\n');
});

test('space-stuffed lines lose their first space', (t) => {
  t.is(unwrapped(' From here\n  two\n >not quoted', false), 'From here\n two\n>not quoted');
});

test('quoted lines are joined without their marks, and never with another depth', (t) => {
  t.is(unwrapped('> one \n> two\n>> three \n> four \nfive', false), '> one two\n>> three \n> four \nfive');
  t.is(unwrapped('>\n> a', false), '>\n> a');
});

test('a signature ends the text before it and is no soft line break', (t) => {
  t.is(unwrapped('bye \n-- \nAnn', false), 'bye \n-- \nAnn');
  t.is(unwrapped('> -- \n> Ann', true), '> -- \n> Ann');
});

/** Wraps as RFC 3676 §4.2 asks of the generating program: each word on its own line with its marks. */
function wrap(depth: number, words: readonly string[], delSp: boolean): string {
  const marks = depth === 0 ? '' : `${'>'.repeat(depth)} `;
  const stuffed = (line: string) => (depth === 0 && /^[ >]|^From /.test(line) ? ` ${line}` : line);
  const soft = delSp ? '  ' : ' ';
  return words.map((word, i) => marks + stuffed(word) + (i < words.length - 1 ? soft : '')).join('\n');
}

test('any wrapped paragraphs come back', (t) => {
  const word = fc.stringMatching(/^[a-z>日💌-]{1,12}$/u).filter((text) => text !== '--');
  const paragraph = fc.record({
    depth: fc.nat(3),
    words: fc.array(word, { minLength: 1, maxLength: 8 }),
  });
  fc.assert(
    fc.property(fc.array(paragraph, { minLength: 1, maxLength: 6 }), fc.boolean(), (paragraphs, delSp) => {
      const written = paragraphs.map(({ depth, words }) => wrap(depth, words, delSp)).join('\n');
      const plain = paragraphs.map(({ depth, words }) => wrap(depth, [words.join(' ')], delSp).replace(/^ /, ''));
      t.is(unwrapped(written, delSp), plain.join('\n'));
    }),
    { numRuns: runs(500) },
  );
});

test('many lines of one paragraph', (t) => {
  t.is(unwrapped('a \n'.repeat(200_000), false).length, 400_000);
});
