// The pace of long searches: progress is told every ten seconds of a search and no sooner (RFC 9585), by a clock of the test; a
// search ends with its client.
import test from 'ava';
import type { Output } from '../../../../src/gateways/imap/output.js';
import { SearchPace } from '../../../../src/gateways/imap/search/search-pace.js';
import { ConnectionEnd } from '../../../../src/gateways/tcp/connection-end.js';

test('progress is told every ten seconds, with the tag of the command; a client that is gone ends the search', async (t) => {
  const lines: string[] = [];
  let flushes = 0;
  const output: Output = {
    line: (text) => void lines.push(text),
    write() {},
    ready: undefined,
    flush: () => void flushes++,
  };
  let now = 1000;
  const connection = { isLost: false };
  const pace = new SearchPace({ accountId: 'account', output, tag: 'a1', connection }, () => now);
  t.false(pace.isDue);
  now += 5;
  t.true(pace.isDue);
  await pace.rest(1, 100);
  t.false(pace.isDue);
  now += 9_994;
  await pace.rest(50, 100);
  t.deepEqual(lines, []);
  now += 1;
  await pace.rest(51, 100);
  await pace.rest(52, 100);
  t.deepEqual(lines, ['* OK [INPROGRESS ("a1" 51 100)] Searching']);
  t.is(flushes, 1);
  now += 10_000;
  await pace.rest(99, 100);
  t.is(lines.length, 2);
  connection.isLost = true;
  await t.throwsAsync(pace.rest(100, 100), { instanceOf: ConnectionEnd });
});
