// What is drawn of the machines. That the page in docs/ is this text is the business of test/docs/pages.test.ts.

import { statechartPage } from '../../dev/statechart.js';
import test from '../support/test.js';

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
