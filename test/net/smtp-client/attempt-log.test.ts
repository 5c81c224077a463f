// Tests the entries that the timeline shows of one delivery.
import { pino } from 'pino';
import { AttemptLog } from '../../../src/net/smtp-client/attempt-log.js';
import test from '../../support/test.js';

test('no attempt is dated before the one that it follows, whatever their durations are rounded to', (t) => {
  const task = { accountId: 'a', outboundId: 'o', domain: 'spare.test' } as never;
  const log = new AttemptLog(task, pino({ enabled: false }), { attempted() {} } as never, () => 'id');
  const status = { kind: 'Deferred', statusCode: '4.4.1', text: 'refused' } as never;
  const tried = (host: string) => ({ host, address: null, tls: null });
  log.add(tried('mx0'), performance.now(), status, []);
  log.add(tried('mx1'), performance.now() - 2, status, []);
  const [first, second] = log.entries;
  t.true(second!.at >= first!.at);
});
