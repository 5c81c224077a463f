// Tests that reports about the subdomains of one owner share its part of the workers, and that the look waits for none.
import pino from 'pino';
import type { Timing } from '../../../../src/concurrency/work-queue.js';
import { startReportSending } from '../../../../src/message-checks/feedback/own/report-sending.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';

test('another owner has the next turn before further subdomains of one, and the look goes on while all workers are busy', async (t) => {
  // Timers run at once.
  let time = 0;
  const timing: Timing = {
    now: () => {
      time += 1_000;
      return time;
    },
    after(_, run) {
      const timer = setTimeout(run, 1);
      return () => clearTimeout(timer);
    },
  };
  const due = ['a.owner.test', 'b.owner.test', 'c.owner.test'];
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  let looks = 0;
  const sending = startReportSending(
    {
      about: 'TLS',
      async due(_, limit) {
        looks++;
        return due.slice(0, limit).map((domain) => ({ domain, day: '2026-11-28' }));
      },
      async send({ domain }, signal) {
        begun.push(domain);
        await new Promise<void>((end) => {
          ends.push(end);
          signal.addEventListener('abort', () => end());
        });
        due.splice(due.indexOf(domain), 1);
      },
    },
    { isChosen: () => true, now: () => Date.parse('2026-11-29T12:00:00Z'), log: pino({ level: 'silent' }), timing },
  );
  t.teardown(() => sending.stop());
  await until(() => begun.length === 2);
  const seen = looks;
  due.push('peer.test');
  await until(() => looks > seen + 2);
  t.deepEqual(begun, ['a.owner.test', 'b.owner.test']);
  ends.shift()!();
  await until(() => begun.length === 3);
  t.is(begun[2], 'peer.test');
});
