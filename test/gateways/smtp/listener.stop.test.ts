// Tests stop: idle peers are told, a message on its way is still accepted, and connections that do not end are cut. Tests the
// drain before it: new connections are served.

import { createTransport } from 'nodemailer';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { startBalancer } from '../../support/peers/balancer.js';
import test from '../../support/test.js';
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
  // The client sends only the start of a ClientHello.
  client.write(Buffer.from([22, 3, 1, 2, 0, 1, 0]));
  await listener.stop(10_000);
  t.deepEqual(await client.rest(), []);
});

test('a message that does not end is 421 and dropped when the grace is over', async (t) => {
  const { address, listener, stored, spool } = await listen(t);
  const client = await SmtpClient.greeted(address);
  await client.envelope('', 'alice@example.test');
  client.write('Subject: x\r\n\r\n');
  await listener.stop(50);
  t.deepEqual(await codes(client), ['421 4.3.2']);
  t.is(stored.length, 0);
  t.is(spool.memory.used, 0);
});

const codes = async (client: SmtpClient) => (await client.rest()).map((r) => `${r.code} ${r.text.split(' ')[0]}`);

test('a transaction that has begun is finished, and so is one that is about to begin', async (t) => {
  const { address, listener, stored } = await listen(t, { limits: { quietMs: 60_000, stoppingQuietMs: 60_000 } });
  const begun = await SmtpClient.greeted(address);
  await begun.command('MAIL FROM:<>');
  const fresh = await SmtpClient.greeted(address);
  const stopped = listener.stop(60_000);
  for (const client of [fresh, begun]) {
    if (client === fresh) t.is((await client.command('MAIL FROM:<>')).code, 250);
    t.is((await client.command('RCPT TO:<alice@example.test>')).code, 250);
    t.is((await client.command('DATA')).code, 354);
    client.write('Subject: x\r\n\r\nhi\r\n.\r\n');
    t.deepEqual(await codes(client), ['250 2.0.0', '421 4.3.2']);
  }
  await stopped;
  t.is(stored.length, 2);
});

test('a transaction that does not go on is ended before the grace is over', async (t) => {
  const { address, listener } = await listen(t);
  const client = await SmtpClient.greeted(address);
  await client.command('MAIL FROM:<>');
  const stopped = listener.stop(60_000);
  t.deepEqual(await codes(client), ['421 4.3.2']);
  await stopped;
});

test('while draining everybody is served, and told to go when nothing more comes', async (t) => {
  const { address, listener, stored } = await listen(t, { limits: { quietMs: 5000 } });
  const early = await SmtpClient.greeted(address);
  listener.beginDrain();
  const fresh = await SmtpClient.greeted(address);
  for (const client of [early, fresh, early]) {
    t.is((await client.send('', ['alice@example.test'], 'Subject: x\r\n\r\nhi')).code, 250);
  }
  t.deepEqual(await Promise.all([codes(early), codes(fresh)]), [['421 4.3.2'], ['421 4.3.2']]);
  t.is(stored.length, 3);
});

test('while draining beside processes that share the port nobody new comes in', async (t) => {
  const { address, listener } = await listen(t);
  const early = await SmtpClient.greeted(address);
  listener.beginDrain(true);
  await t.throwsAsync(SmtpClient.connect(address), { code: 'ECONNREFUSED' });
  t.is((await early.send('', ['alice@example.test'], 'Subject: x\r\n\r\nhi')).code, 250);
  await listener.stop(60_000);
  t.deepEqual(await codes(early), ['421 4.3.2']);
});

test('a pool of connections loses no message over a drain and a stop', async (t) => {
  // No connection of the pool counts as idle, however long the machine lets the pool wait between two messages.
  const [old, next] = [await listen(t, { limits: { quietMs: 60_000, stoppingQuietMs: 60_000 } }), await listen(t)];
  const portOf = ({ address }: { address: string }) => Number(address.split(':')[1]);
  const balancer = await startBalancer(t, portOf(old));
  const pool = createTransport({
    pool: true,
    maxConnections: 4,
    host: '127.0.0.1',
    port: balancer.port,
    ignoreTLS: true,
  });
  t.teardown(() => pool.close());
  let sent = 0;
  let over = false;
  const sender = async () => {
    for (let i = 0; !over; i++) {
      await pool.sendMail({ from: 'a@peer.test', to: 'alice@example.test', subject: `${i}`, text: 'hi' });
      sent++;
    }
  };
  const until = async (count: number) => {
    while (sent < count) await new Promise(setImmediate);
  };
  const senders = Promise.all(Array.from({ length: 8 }, sender));
  const rolled = (async () => {
    await until(50);
    old.listener.beginDrain();
    await until(100);
    balancer.target = portOf(next);
    await until(sent + 10);
    await old.listener.stop(10_000);
    await until(sent + 50);
    over = true;
  })();
  await t.notThrowsAsync(Promise.race([senders, rolled]));
  await t.notThrowsAsync(senders);
  t.is(old.stored.length + next.stored.length, sent);
});
