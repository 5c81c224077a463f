// The event loop serves others while texts are cut, of text too that becomes many words a character. In a file of its own: what was
// cut before counts.

import { pagesOf } from '../../../src/store/word-index/segment.js';
import { textsWith } from '../../support/field-words.js';
import test from '../../support/test.js';

test('a text of characters that are four words each is cut with a yield in between', async (t) => {
  let hasYielded = false;
  setImmediate(() => {
    hasYielded = true;
  });
  await pagesOf([textsWith({ subject: 'Zoë 💌', body: '\ufdfa'.repeat(20_000) })]);
  t.true(hasYielded);
});
