// Tests STARTTLS (RFC 3207): the server forgets what it learned in plaintext, and never runs what was pipelined after the command.

import { SmtpClient } from '../../support/clients/smtp-client.js';
import test from '../../support/test.js';
import { listen } from './listener.js';

test('a message over TLS, logged and traced as such', async (t) => {
  const { address, stored, logged } = await listen(t);
  const client = await SmtpClient.greeted(address);
  t.is((await client.command('STARTTLS')).code, 220);
  await client.secure();
  const { lines } = await client.command('EHLO client.test');
  t.false(lines.includes('STARTTLS'));
  t.is((await client.send('a@peer.test', ['alice@example.test'], 'Subject: x\r\n\r\nhi')).code, 250);
  t.regex(stored[0]!.text, /with ESMTPS/);
  t.true(logged.find((l) => l['msg'] === 'message accepted')?.['tls']);
  t.is((await client.command('STARTTLS')).text.split(' ')[0], '5.5.1');
});

for (const count of [1, 350]) {
  test(`${count} times three commands pipelined behind STARTTLS are discarded`, async (t) => {
    const { address, stored } = await listen(t);
    const client = await SmtpClient.greeted(address);
    const injected = 'RSET\r\nMAIL FROM:<evil@peer.test>\r\nRCPT TO:<alice@example.test>\r\n'.repeat(count);
    client.write(`STARTTLS\r\n${injected}DATA\r\nSubject: injected\r\n\r\n.\r\nMAIL FR`);
    t.is((await client.reply()).code, 220);
    await client.secure();
    t.is(client.pending, 0);
    t.is((await client.command('RCPT TO:<alice@example.test>')).text.split(' ')[0], '5.5.1');
    t.is((await client.command('EHLO client.test')).code, 250);
    t.is((await client.command('RCPT TO:<alice@example.test>')).text.split(' ')[0], '5.5.1');
    t.is(client.pending, 0);
    t.is(stored.length, 0);
  });
}

test('sender, recipients and EHLO from before the handshake are forgotten', async (t) => {
  const { address } = await listen(t);
  const client = await SmtpClient.greeted(address);
  await client.command('MAIL FROM:<evil@peer.test>');
  await client.command('RCPT TO:<alice@example.test>');
  await client.command('STARTTLS');
  await client.secure();
  t.is((await client.command('MAIL FROM:<>')).code, 503);
  await client.command('EHLO client.test');
  t.is((await client.command('DATA')).code, 503);
});

test('a failed handshake frees the place of its address', async (t) => {
  const { address } = await listen(t, { limits: { greetDelayMs: 0, connectionsPerAddress: 1 } });
  const client = await SmtpClient.greeted(address);
  await client.command('STARTTLS');
  client.write('this is not TLS\r\n'.repeat(10));
  await client.rest();
  client.destroy();
  let banner: number | undefined;
  for (let i = 0; i < 200 && banner !== 220; i++) banner = (await (await SmtpClient.connect(address)).next())?.code;
  t.is(banner, 220);
});
