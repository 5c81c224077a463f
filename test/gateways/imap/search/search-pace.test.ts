// Tests the pace of long searches by a clock of the test: progress is told every ten seconds and no sooner (RFC 9585), and a
// search ends with its client.
import { mock } from 'node:test';
import { SearchPace } from '../../../../src/gateways/imap/search/search-pace.js';
import type { Output } from '../../../../src/gateways/sessions/output.js';
import { ConnectionEnd } from '../../../../src/net/tcp/connection-end.js';
import test from '../../../support/test.js';

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

test('a search that waits for others is told every ten seconds to have searched nothing', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const lines: string[] = [];
  const output: Output = { line: (text) => void lines.push(text), write() {}, ready: undefined, flush() {} };
  const pace = new SearchPace({ accountId: 'account', output, tag: 'a1', connection: { isLost: false } });
  let resolve = (_: number) => {};
  const waiting = pace.while(
    new Promise<number>((done) => {
      resolve = done;
    }),
    7,
  );
  mock.timers.tick(20_000);
  resolve(1);
  t.is(await waiting, 1);
  mock.timers.tick(60_000);
  t.deepEqual(lines, Array(2).fill('* OK [INPROGRESS ("a1" 0 7)] Searching'));
});
