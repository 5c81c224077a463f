// Tests limits of POP3: in time, and in what a client may send. What all protocols have in common is in test/scenarios/protocols and
// test/gateways/sessions.
import test from '../../support/test.js';
import { ALICE, startPop3 } from './gateway.js';

test('silence ends a session, which deletes nothing', async (t) => {
  // A busy machine sends its next command within this time.
  const gateway = await startPop3(t, { limits: { idleMs: 5_000 } });
  await gateway.deliver(ALICE, 'A: b\r\n\r\n');
  const client = await gateway.open();
  await client.command('DELE 1');
  t.is(await client.rest(), '-ERR The connection was idle for too long\r\n');
  t.is(gateway.mailboxes.account(ALICE).emails.size, 1);
});

test('refused commands in a row end the connection; one that is good begins again', async (t) => {
  const gateway = await startPop3(t, { limits: { errors: 3 } });
  const client = await gateway.open();
  for (const line of ['X', 'X', 'NOOP', 'X', 'X']) await client.command(line);
  client.write('X\r\nNOOP\r\n');
  t.is(await client.rest(), '-ERR Unknown command\r\n');
});

test('a line is bounded', async (t) => {
  const gateway = await startPop3(t, { limits: { lineOctets: 100 } });
  const client = await gateway.open();
  t.is(await client.command(`X${'x'.repeat(99)}`), '-ERR Unknown command');
  client.write('x'.repeat(500));
  t.is(await client.rest(), '-ERR The line is too long\r\n');
});
