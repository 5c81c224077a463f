// Stopping: idle peers are told, a message on its way is still taken, what will not end is ended.
import test from 'ava';
import { SmtpClient } from '../../support/smtp-client.js';
import { listen } from './listener.js';

test('idle peers get 421, a message in DATA finishes, nobody new comes in', async (t) => {
  const { address, listener, stored } = await listen(t);
  const idle = await SmtpClient.greeted(address);
  const busy = await SmtpClient.greeted(address);
  await busy.envelope('', 'alice@example.test');
  busy.write('Subject: x\r\n\r\n');
  const stopped = listener.stop(10_000);
  t.deepEqual(
    (await idle.rest()).map((r) => `${r.code} ${r.text.split(' ')[0]}`),
    ['421 4.3.2'],
  );
  await t.throwsAsync(SmtpClient.connect(address), { code: 'ECONNREFUSED' });
  busy.write('hello\r\n.\r\nNOOP\r\n');
  t.deepEqual(
    (await busy.rest()).map((r) => `${r.code} ${r.text.split(' ')[0]}`),
    ['250 2.0.0', '421 4.3.2'],
  );
  await stopped;
  t.is(stored.length, 1);
});

test('a peer in the middle of a TLS handshake does not hold the stop up', async (t) => {
  const { address, listener } = await listen(t);
  const client = await SmtpClient.greeted(address);
  t.is((await client.command('STARTTLS')).code, 220);
  // The start of a ClientHello and no more.
  client.write(Buffer.from([22, 3, 1, 2, 0, 1, 0]));
  await listener.stop(10_000);
  t.deepEqual(await client.rest(), []);
});

test('a message that does not end is dropped when the grace is over', async (t) => {
  const { address, listener, stored, spool } = await listen(t);
  const client = await SmtpClient.greeted(address);
  await client.envelope('', 'alice@example.test');
  client.write('Subject: x\r\n\r\n');
  await listener.stop(50);
  t.deepEqual(await client.rest(), []);
  t.is(stored.length, 0);
  t.is(spool.reserved, 0);
});
