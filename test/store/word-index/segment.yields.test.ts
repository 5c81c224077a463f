// Tests that tokenizing yields to the event loop, also for text in which a character becomes many words. The test has its own file,
// because earlier tokenizing would count.

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
