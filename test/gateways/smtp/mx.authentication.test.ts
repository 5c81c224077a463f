// Tests authentication of received mail as a peer and the mailbox see it: the field in the stored message, Junk, refusals.
import type { ExecutionContext } from 'ava';
import { startDnsServer } from '../../../dev/servers/dns-server.js';
import { CheckChain } from '../../../src/message-checks/check-chain.js';
import { dmarcCheck } from '../../../src/message-checks/dmarc-check.js';
import { createAuthenticator } from '../../../src/message-checks/mailauth/authenticator.js';
import { TrustedNetworks } from '../../../src/net/tcp/trusted-networks.js';
import { HOST, PATIENCE_MS, signed, silent, zones } from '../../message-checks/mailauth/peers.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { patientDns } from '../../support/peers/patient-dns.js';
import test from '../../support/test.js';
import { type Harness, listen } from './listener.js';

type Overrides = Parameters<typeof listen>[1] & { readonly dmarcReject?: 'tag' | 'reject' };

async function authenticating(t: ExecutionContext, { dmarcReject = 'tag', ...overrides }: Overrides = {}) {
  const local = { TXT: ['v=spf1 ip4:127.0.0.1 -all'] };
  const dns = await startDnsServer({
    ...zones(),
    'local.test': local,
    '_dmarc.local.test': zones()['_dmarc.peer.test']!,
  });
  t.teardown(() => dns.close());
  const authenticate = createAuthenticator({
    ...{ dns: patientDns(dns), hostname: HOST, rejectsAnonymous: dmarcReject === 'reject', log: silent },
    deadlineMs: PATIENCE_MS,
  });
  const checks = new CheckChain([dmarcCheck(dmarcReject)], silent);
  return listen(t, { authenticate, checks, ...overrides });
}

const MESSAGE = 'From: a@peer.test\r\nTo: alice@example.test\r\nSubject: hi\r\n\r\nhello\r\n';

async function send({ address }: Harness, sender: string, message: string, recipients = ['alice@example.test']) {
  const client = await SmtpClient.greeted(address);
  const { code, text } = await client.send(sender, recipients, message.replace(/\r\n$/, '').replace(/^\./gm, '..'));
  return `${code} ${text}`;
}

test('the results stand between Return-Path and Received, the message is what was sent', async (t) => {
  const harness = await authenticating(t);
  t.regex(await send(harness, 'b@local.test', MESSAGE.replace('peer', 'local')), /^250 /);
  const { text, envelope } = harness.stored[0]!;
  t.regex(
    text,
    /^Return-Path: <b@local\.test>\r\nAuthentication-Results: mx\.example\.test;\r\n\tspf=pass smtp\.mailfrom=b@local\.test;\r\n\tdkim=none;\r\n\tdmarc=pass \(p=reject\) header\.from=local\.test\r\nReceived: from /,
  );
  t.true(text.endsWith(MESSAGE.replace('peer', 'local')));
  t.is(envelope.isJunk, undefined);
  t.false('isJunk' in (harness.asked[0]!.payload as object));
  t.true(envelope.isAuthorProven);
  t.like(harness.asked[0]!.payload, { isAuthorProven: true });
  const line = harness.logged.find(({ msg }) => msg === 'message accepted');
  t.deepEqual(line!['authentication'], { spf: 'pass', dkim: 'none', dmarc: 'pass' });
});

test('a signed message verifies after it has passed through SMTP, dots and all, small and large', async (t) => {
  const harness = await authenticating(t);
  for (const lines of [1, 10, 15_000]) {
    const body = '.\r\n..x \t y  \r\nà la carte\r\n'.repeat(lines);
    t.regex(await send(harness, 'x@elsewhere.test', await signed(MESSAGE.replace('hello\r\n', body))), /^250 /);
    const { text, envelope } = harness.stored.at(-1)!;
    t.is(text.match(/\tdkim=pass header\.d=peer\.test header\.s=(?:rsa|ed)/g)?.length, 2);
    t.regex(text, /\tdmarc=pass/);
    t.is(envelope.isJunk, undefined);
  }
  // The message is sent again, now with the fields that the MX added.
  const again = harness.stored.at(-1)!.text;
  t.regex(await send(harness, 'x@elsewhere.test', Buffer.from(again, 'latin1').toString()), /^250 /);
  const { text } = harness.stored.at(-1)!;
  t.is(text.match(/\tdkim=pass/g)?.length, 2);
  t.is(text.match(/^Authentication-Results:/gm)?.length, 1);
});

test('what fails a policy goes to Junk, in the row and in what the mailbox is asked', async (t) => {
  const harness = await authenticating(t);
  const both = ['alice@example.test', 'bob@example.test'];
  t.regex(await send(harness, 'b@elsewhere.test', MESSAGE, both), /^250 /);
  t.is(harness.stored[0]!.envelope.isJunk, true);
  t.is(harness.stored[0]!.envelope.isContentJunk, undefined);
  t.is(harness.stored[0]!.envelope.isAuthorProven, undefined);
  t.deepEqual(
    harness.asked.map(({ payload }) => (payload as { isJunk?: boolean }).isJunk),
    [true, true],
  );
  t.is(harness.logged.find(({ msg }) => msg === 'message accepted')!['junkBy'], 'dmarc');
  t.regex(harness.stored[0]!.text, /\tdmarc=fail \(p=reject\) header\.from=peer\.test\r\n/);
});

test('with reject it is refused, quarantine goes to Junk still', async (t) => {
  const harness = await authenticating(t, { dmarcReject: 'reject' });
  t.regex(await send(harness, 'b@elsewhere.test', MESSAGE), /^550 5\.7\.1 /);
  t.is(harness.stored.length, 0);
  t.is(harness.asked.length, 0);
  t.is(harness.spool.memory.used, 0);
  t.like(
    harness.logged.find(({ msg }) => msg === 'refused'),
    { reason: 'dmarc', code: 550 },
  );
  t.regex(await send(harness, 'b@elsewhere.test', MESSAGE.replace('peer', 'quarantine')), /^250 /);
  t.is(harness.stored[0]!.envelope.isJunk, true);
  t.regex(await send(harness, 'b@elsewhere.test', MESSAGE.replace('peer', 'failing')), /^250 /);
  t.is(harness.stored[1]!.envelope.isJunk, undefined);
});

test('forged results of ours are taken out, however large the message', async (t) => {
  const harness = await authenticating(t);
  for (const body of ['x\r\n', `${'x'.repeat(70)}\r\n`.repeat(8000)]) {
    const forged = `Authentication-Results: ${HOST}; spf=pass;\r\n\tdmarc=pass\r\nX-Kept: yes\r\n${MESSAGE}${body}`;
    t.regex(await send(harness, 'b@elsewhere.test', forged), /^250 /);
    const { text } = harness.stored.at(-1)!;
    t.is(text.match(/^Authentication-Results:/gm)?.length, 1);
    t.regex(text, /\tdmarc=fail/);
    t.true(text.endsWith(`X-Kept: yes\r\n${MESSAGE}${body}`));
  }
  t.is(harness.spool.memory.used, 0);
});

test('a forged Return-Path and Bcc of incoming mail are taken out, every other octet stays', async (t) => {
  for (const harness of [await authenticating(t), await listen(t)]) {
    const kept = `X-Bcc:  x  \r\n${MESSAGE}`;
    const forged = `Return-Path: <ceo@bank.test>\r\nBcc: carol@example.test,\r\n dave@example.test\r\n${kept}`;
    t.regex(await send(harness, 'b@elsewhere.test', forged), /^250 /);
    const { text } = harness.stored[0]!;
    t.is(text.match(/^Return-Path: .*$/gm)?.join(), 'Return-Path: <b@elsewhere.test>');
    t.true(text.endsWith(`\r\n${kept}`));
    t.notRegex(text, /carol|dave/);
  }
});

test('behind a proxy it is the address the proxy tells', async (t) => {
  const harness = await authenticating(t, { trusted: new TrustedNetworks(['127.0.0.1/32']) });
  const client = await SmtpClient.connect(harness.address);
  client.write('PROXY TCP4 192.0.2.1 127.0.0.1 1000 25\r\n');
  await client.reply();
  await client.command('EHLO peer.test');
  t.is((await client.send('a@peer.test', ['alice@example.test'], MESSAGE)).code, 250);
  t.regex(harness.stored[0]!.text, /\tspf=pass smtp\.mailfrom=a@peer\.test/);
});

test('reports of failed mail are held against HELO', async (t) => {
  const harness = await authenticating(t);
  const client = await SmtpClient.connect(harness.address);
  await client.reply();
  await client.command('EHLO local.test');
  t.is((await client.send('', ['alice@example.test'], MESSAGE.replace('peer', 'local'))).code, 250);
  t.regex(harness.stored[0]!.text, /\tspf=pass smtp\.helo=local\.test;/);
  t.regex(harness.stored[0]!.text, /\tdmarc=pass/);
});

test('a header that is too large is kept as it came, and believed as far as it was looked at', async (t) => {
  const harness = await authenticating(t, { limits: { headerSize: 10_000 } });
  const client = await SmtpClient.greeted(harness.address);
  const large = `${'X-Filler: y\r\n'.repeat(50_000)}${MESSAGE}`;
  t.is((await client.send('a@peer.test', ['alice@example.test'], large)).code, 250);
  t.true(harness.stored[0]!.text.endsWith(`${large}\r\n`));
  t.regex(harness.stored[0]!.text, /^Return-Path: [^\r]*\r\nAuthentication-Results: /);
  t.notRegex(harness.stored[0]!.text, /\tdmarc=pass/);
  t.is(harness.spool.memory.used, 0);
});

test('a header that is large is judged like a small one, and no message waits for all of those', async (t) => {
  const harness = await authenticating(t);
  const large = `${'X-Filler: y\r\n'.repeat(35_000)}Authentication-Results: ${HOST}; dmarc=pass\r\n${MESSAGE}`;
  const answered: string[] = [];
  const clients = await Promise.all(
    Array.from({ length: 30 }, async () => {
      const client = await SmtpClient.greeted(harness.address);
      await client.envelope('b@elsewhere.test', 'alice@example.test');
      await client.written(large);
      return client;
    }),
  );
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  const small = await SmtpClient.greeted(harness.address, '127.0.0.2');
  await small.envelope('a@local.test', 'alice@example.test');
  const replies = clients.map(async (client) => {
    client.write('\r\n.\r\n');
    const { code } = await client.reply();
    answered.push(`large ${code}`);
  });
  small.write('From: a@local.test\r\nSubject: x\r\n.\r\n');
  await small.reply();
  answered.push('small');
  await Promise.all(replies);
  t.deepEqual([...new Set(answered)].sort(), ['large 250', 'small']);
  t.true(answered.indexOf('small') < 15, `${answered.indexOf('small')} of 30 before it`);
  const { text } = harness.stored.find(({ text }) => text.includes('X-Filler'))!;
  t.is(text.match(/^Authentication-Results:/gm)?.length, 1);
  t.regex(text, /\tdmarc=fail \(p=reject\) header\.from=peer\.test\r\n/);
  t.true(text.endsWith(`X-Filler: y\r\n${MESSAGE}\r\n`));
  t.is(harness.spool.memory.used, 0);
});

test('a message that is only a header, and one that is cut off', async (t) => {
  const harness = await authenticating(t);
  t.regex(await send(harness, 'a@local.test', 'From: a@local.test\r\nSubject: x'), /^250 /);
  t.true(harness.stored[0]!.text.endsWith('From: a@local.test\r\nSubject: x\r\n'));
  const client = await SmtpClient.greeted(harness.address);
  await client.envelope('a@local.test', 'alice@example.test');
  client.write('From: a@peer.test\r\nSubject: x\r\n\r\nhalf');
  client.destroy();
  await harness.listener.stop(60_000);
  t.is(harness.stored.length, 1);
  t.is(harness.spool.memory.used, 0);
});
