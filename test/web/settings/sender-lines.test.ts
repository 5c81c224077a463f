// Tests the lists of senders as people write them, and which names a refusal means.

import { namesIn, refusedNames } from '../../../web/src/settings/sender-lines.js';
import test from '../../support/test.js';

test('names are parted by lines, spaces and commas', (t) => {
  t.deepEqual(namesIn(' ann@example.test\r\n\nspam.test, b.test;c.test '), [
    'ann@example.test',
    'spam.test',
    'b.test',
    'c.test',
  ]);
  t.deepEqual(namesIn(' \n'), []);
});

test('the names that were refused are those that were written', (t) => {
  const texts = { allowed: 'a.test\nno@', blocked: 'b.test !' };
  const errors = { 'allowed[1]': ['must be …'], 'blocked[1]': ['must be …'], 'blocked[7]': [], blocked: [] };
  t.deepEqual(refusedNames({ errors }, texts), ['no@', '!']);
  for (const error of [undefined, new Error('x'), { errors: null }]) t.deepEqual(refusedNames(error, texts), []);
});
