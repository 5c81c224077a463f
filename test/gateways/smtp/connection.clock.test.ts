// Puts the machine's clock forward while connections are open: the time that a peer takes is measured without it.
// The test has its own file, because the whole process shares the clock.
import type { ExecutionContext } from 'ava';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import test from '../../support/test.js';
import { listen } from './listener.js';

function putClock(t: ExecutionContext, byMs: number): void {
  const { now } = Date;
  Date.now = () => now() + byMs;
  t.teardown(() => {
    Date.now = now;
  });
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

test('put forward by an hour, it ends neither an idle connection nor a message', async (t) => {
  const limits = { idleMs: MINUTE_MS, minRateGraceMs: MINUTE_MS, handshakeMs: 1000 };
  const { address, stored } = await listen(t, { limits });
  const idle = await SmtpClient.greeted(address);
  const busy = await SmtpClient.greeted(address);
  await busy.envelope('', 'alice@example.test');
  busy.write('Subject: x\r\n\r\n');
  // This listener sweeps as often and starts later: once it ends this connection, each listener has swept.
  const other = await listen(t, { limits: { idleMs: 1000 } });
  const ended = await SmtpClient.connect(other.address);
  putClock(t, HOUR_MS);
  t.is((await ended.rest()).at(-1)?.code, 421);
  t.is((await idle.command('NOOP')).code, 250);
  busy.write('hello\r\n.\r\n');
  t.is((await busy.reply()).code, 250);
  t.is(stored.length, 1);
});
