// Tests the drawing of the machines. test/docs/pages.test.ts checks that the page in docs/ has this text.

import { statechartPage } from '../../../dev/docs/statechart.js';
import test from '../../support/test.js';

test('the statechart shows the transitions of the machines', (t) => {
  const page = statechartPage();
  for (const line of [
    '[*] --> Draft',
    'Draft --> Queued: enqueue',
    'Queued --> Sending: start',
    'Sent --> Failed: bounce',
    'Queued --> Draft: cancel [undone]',
  ]) {
    t.true(page.includes(line), line);
  }
  t.regex(page, /Sending --> Queued: end \/ makeTriedDue/);
});
