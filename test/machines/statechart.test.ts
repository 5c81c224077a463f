// The page of the statechart says what the machines are.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { STATECHART_PAGE, statechartPage } from '../../dev/statechart.js';

test('docs/outbound-statechart.md is what the machines give (npm run docs writes it)', (t) => {
  const page = statechartPage();
  t.is(readFileSync(STATECHART_PAGE, 'utf8'), page);
  for (const line of ['[*] --> Draft', 'Draft --> Queued: enqueue', 'Queued --> Sending: start', 'Sent --> [*]']) {
    t.true(page.includes(line), line);
  }
  t.regex(page, /Sending --> Queued: end \/ makeTriedDue/);
});
