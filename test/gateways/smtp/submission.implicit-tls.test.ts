// Tests submission with TLS from the start (RFC 8314 §3.3): nothing is sent before TLS, also behind a proxy.
import { TrustedNetworks } from '../../../src/net/tcp/trusted-networks.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { v1 } from '../../support/proxy-protocol.js';
import test from '../../support/test.js';
import { brief, listenForSubmission, plain } from './submission-listener.js';

const AUTH = `AUTH PLAIN ${plain('alice@example.test', 'alice-key')}`;
const MESSAGE = 'From: alice@example.test\r\n\r\nx';
const secure = { implicitTls: true, allowPlaintextAuth: false };

test('a message, without STARTTLS', async (t) => {
  const { address, queued, logged } = await listenForSubmission(t, secure);
  const client = await SmtpClient.connectSecurely(address);
  t.is((await client.reply()).code, 220);
  const { lines } = await client.command('EHLO client.test');
  t.false(lines.includes('STARTTLS'));
  t.true(lines.some((line) => line.startsWith('AUTH ')));
  t.is((await client.command('STARTTLS')).code, 503);
  t.is((await client.command(AUTH)).code, 235);
  t.is((await client.send('alice@example.test', ['carol@peer.test'], MESSAGE)).code, 250);
  t.regex(queued[0]!.text, /^Received: by mail\.example\.test with ESMTPSA\s/);
  t.true(logged.find(({ msg }) => msg === 'submission queued')?.['tls']);
});

test('behind a proxy, whose header comes before TLS', async (t) => {
  const { address, logged } = await listenForSubmission(t, {
    ...secure,
    trusted: new TrustedNetworks(['127.0.0.0/8']),
  });
  const client = await SmtpClient.connectSecurely(address, v1('203.0.113.7'));
  await client.reply();
  await client.command('EHLO client.test');
  t.is((await client.command(AUTH)).code, 235);
  t.is(logged.find(({ msg }) => msg === 'authenticated')?.['remoteAddress'], '203.0.113.7');
});

test('plain text is answered with nothing', async (t) => {
  const { address, listener } = await listenForSubmission(t, secure);
  const client = await SmtpClient.connect(address);
  client.write('EHLO client.test\r\n');
  t.deepEqual(await client.rest(), []);
  t.true(await noneLeft(listener));
});

/** Resolves when no connection is left; the time-out of the test is the limit. */
async function noneLeft(listener: { readonly connections: number }): Promise<boolean> {
  while (listener.connections > 0) await new Promise(setImmediate);
  return true;
}

test('whoever comes when no place is left is turned away without a word', async (t) => {
  const { address } = await listenForSubmission(t, { ...secure, limits: { connectionsPerAddress: 1 } });
  const first = await SmtpClient.connectSecurely(address);
  await first.reply();
  const second = await SmtpClient.connect(address);
  t.deepEqual(await second.rest(), []);
  t.is((await first.command('NOOP')).code, 250);
});

test('stopping: a message on its way is taken, then the session ends', async (t) => {
  const { address, listener, queued } = await listenForSubmission(t, secure);
  const client = await SmtpClient.connectSecurely(address);
  await client.reply();
  await client.command('EHLO client.test');
  await client.command(AUTH);
  await client.envelope('alice@example.test', 'carol@peer.test');
  const stopped = listener.stop(60_000);
  client.write(`${MESSAGE}\r\n.\r\n`);
  t.deepEqual((await client.rest()).map(brief), ['250 2.0.0', '421 4.3.2']);
  await stopped;
  t.is(queued.length, 1);
});
