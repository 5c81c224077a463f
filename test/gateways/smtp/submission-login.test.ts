// Tests AUTH at submission: its lines, its announcement, and how a login ends. What all protocols have in common is in
// test/scenarios/protocols.

import { SmtpClient } from '../../support/clients/smtp-client.js';
import { deferred } from '../../support/deferred.js';
import { NO_TOKENS } from '../../support/no-tokens.js';
import test from '../../support/test.js';
import { brief, listenForSubmission, plain, type SubmissionSettings, signedIn } from './submission-listener.js';

const ALICE = 'alice@example.test';
const GOOD = plain(ALICE, 'alice-key');

/** Sends these lines in order; returns the shortened reply to each. */
async function say(client: SmtpClient, ...lines: string[]): Promise<string[]> {
  const replies: string[] = [];
  for (const line of lines) {
    const reply = await client.command(line);
    replies.push(reply.code === 334 ? `334 ${Buffer.from(reply.text, 'base64').toString()}` : brief(reply));
  }
  return replies;
}

test('who has logged in sends in the name of the account, with ESMTPA', async (t) => {
  const { address, queued } = await listenForSubmission(t);
  const client = await signedIn(address);
  t.is((await client.send(ALICE, ['bob@example.test'], `From: ${ALICE}\r\n\r\nx`)).code, 250);
  t.is(queued[0]!.accountId, 'alice');
  t.regex(queued[0]!.text, /with ESMTPA\s/);
  t.deepEqual(await say(client, `AUTH PLAIN ${GOOD}`), ['503 5.5.1']);
});

test('AUTH without a mechanism, and with too many words', async (t) => {
  const { address } = await listenForSubmission(t);
  const client = await SmtpClient.greeted(address);
  t.deepEqual(await say(client, 'AUTH', `AUTH PLAIN ${GOOD} x`), ['501 5.5.4', '501 5.5.4']);
  t.deepEqual(await say(client, `MAIL FROM:<${ALICE}>`, `AUTH PLAIN ${GOOD}`), ['530 5.7.0', '235 2.7.0']);
});

test('responses that look like commands are responses', async (t) => {
  const { address } = await listenForSubmission(t);
  const client = await SmtpClient.greeted(address);
  for (const response of ['QUIT', 'BDAT', 'NOOP', 'DATA', 'EHLO']) {
    t.deepEqual(await say(client, 'AUTH PLAIN', response), ['334 ', '501 5.5.2']);
  }
  t.is((await client.command('NOOP')).code, 250);
});

test('AUTH without TLS: not offered, refused, and nothing else goes on', async (t) => {
  const { address, directory } = await listenForSubmission(t, { allowPlaintextAuth: false });
  const client = await SmtpClient.connect(address);
  await client.reply();
  const offered = await client.command('EHLO client.test');
  t.false(offered.lines.some((line) => line.startsWith('AUTH')));
  t.true(offered.lines.includes('STARTTLS'));
  t.deepEqual(await say(client, `AUTH PLAIN ${GOOD}`, 'AUTH LOGIN'), ['538 5.7.11', '538 5.7.11']);
  t.deepEqual(await say(client, `MAIL FROM:<${ALICE}>`), ['530 5.7.0']);
  t.is(directory.lookups, 0);
  await client.command('STARTTLS');
  await client.secure();
  t.true((await client.command('EHLO client.test')).lines.includes('AUTH PLAIN LOGIN'));
  t.deepEqual(await say(client, `AUTH PLAIN ${GOOD}`, `MAIL FROM:<${ALICE}>`), ['235 2.7.0', '250 2.1.0']);
});

test('mechanisms for tokens are announced where an identity provider is configured', async (t) => {
  const { address } = await listenForSubmission(t, { tokens: NO_TOKENS });
  const client = await SmtpClient.connect(address);
  await client.reply();
  t.true((await client.command('EHLO client.test')).lines.includes('AUTH PLAIN LOGIN OAUTHBEARER XOAUTH2'));
});

test('a login from before STARTTLS is forgotten', async (t) => {
  const { address } = await listenForSubmission(t);
  const client = await signedIn(address);
  await client.command('STARTTLS');
  await client.secure();
  t.is((await client.command('EHLO client.test')).code, 250);
  t.deepEqual(await say(client, `MAIL FROM:<${ALICE}>`), ['530 5.7.0']);
});

test('what is pipelined behind STARTTLS is discarded, a login too', async (t) => {
  const { address } = await listenForSubmission(t);
  const client = await SmtpClient.greeted(address);
  client.write(`STARTTLS\r\nEHLO client.test\r\nAUTH PLAIN ${GOOD}\r\nMAIL FROM:<${ALICE}>\r\nAUTH PL`);
  t.is((await client.reply()).code, 220);
  await client.secure();
  t.is(client.pending, 0);
  t.is((await client.command('EHLO client.test')).code, 250);
  t.deepEqual(await say(client, `MAIL FROM:<${ALICE}>`), ['530 5.7.0']);
});

test('lines of AUTH may be long, not too long, and other lines not at all', async (t) => {
  const { address } = await listenForSubmission(t);
  const rest = async (client: SmtpClient) => (await client.rest()).map(brief);
  const one = await SmtpClient.greeted(address);
  t.deepEqual(await say(one, `AUTH PLAIN ${plain(ALICE, 'x'.repeat(7000))}`), ['535 5.7.8']);
  t.deepEqual(await say(one, 'AUTH PLAIN', plain(ALICE, 'x'.repeat(8300))), ['334 ', '535 5.7.8']);
  one.write(`NOOP ${'x'.repeat(3000)}\r\n`);
  t.deepEqual(await rest(one), ['500 5.5.2']);
  const two = await SmtpClient.greeted(address);
  two.write(`AUTH PLAIN ${'A'.repeat(13_000)}\r\n`);
  t.deepEqual(await rest(two), ['500 5.5.2']);
  const three = await SmtpClient.greeted(address);
  t.deepEqual(await say(three, 'AUTH PLAIN'), ['334 ']);
  three.write('A'.repeat(13_000));
  t.deepEqual(await rest(three), ['500 5.5.6']);
});

const MESSAGE = `From: ${ALICE}\r\n\r\nx`;

async function revoked(t: Parameters<typeof listenForSubmission>[0], settings: SubmissionSettings = {}) {
  const harness = await listenForSubmission(t, settings);
  const revoke = () => {
    harness.directory.keys.delete('alice-key');
    harness.directory.revokedKeys$.next('alice-key');
  };
  return { ...harness, revoke };
}

test('a revoked key ends its sessions, in a message too, and nobody else', async (t) => {
  const { address, revoke, queued, spool } = await revoked(t);
  const idle = await signedIn(address);
  const busy = await signedIn(address);
  await busy.envelope(ALICE, 'carol@peer.test');
  busy.write('From: alice');
  const bob = await SmtpClient.greeted(address);
  await say(bob, `AUTH PLAIN ${plain('bob@example.test', 'bob-key')}`);
  const guest = await SmtpClient.greeted(address);
  revoke();
  for (const client of [idle, busy]) t.deepEqual((await client.rest()).map(brief), ['421 4.7.0']);
  t.is((await bob.command('NOOP')).code, 250);
  t.deepEqual(await say(guest, `AUTH PLAIN ${GOOD}`), ['535 5.7.8']);
  t.is(queued.length, 0);
  t.is(spool.memory.used, 0);
});

test('a message that has arrived whole gets its reply before the session ends', async (t) => {
  const { address, revoke, behave, queued } = await revoked(t);
  const client = await signedIn(address);
  const { promise: reached, resolve: queueing } = deferred();
  let go = () => {};
  behave.enqueue = () => {
    queueing();
    return new Promise((resolve) => {
      go = resolve;
    });
  };
  await client.envelope(ALICE, 'carol@peer.test');
  client.write(`${MESSAGE}\r\n.\r\n`);
  await reached;
  revoke();
  go();
  t.deepEqual((await client.rest()).map(brief), ['250 2.0.0', '421 4.7.0']);
  t.is(queued.length, 1);
});

test('the reply to a guess is held back, others are not; the tenth is 421', async (t) => {
  const slow = await listenForSubmission(t, { guard: { delayMs: 600_000 } });
  const [guesser, honest] = [await SmtpClient.greeted(slow.address), await SmtpClient.greeted(slow.address)];
  guesser.write(`AUTH PLAIN ${plain(ALICE, 'guess')}\r\n`);
  for (let i = 0; i < 20; i++) t.is((await honest.command('NOOP')).code, 250);
  t.deepEqual(await say(honest, `AUTH PLAIN ${GOOD}`), ['235 2.7.0']);
  t.is(slow.logged.filter(({ msg }) => msg === 'authentication refused').length, 1);
  t.is(guesser.pending, 0);
  // A client that waits for its refusal is not in a transaction.
  const stopped = slow.listener.stop(600_000);
  t.deepEqual((await guesser.rest()).map(brief), ['421 4.3.2']);
  honest.destroy();
  await stopped;

  const { address } = await listenForSubmission(t);
  const client = await SmtpClient.greeted(address);
  for (let i = 0; i < 9; i++) t.deepEqual(await say(client, `AUTH PLAIN ${plain(ALICE, `guess ${i}`)}`), ['535 5.7.8']);
  client.write(`AUTH PLAIN ${plain(ALICE, 'guess 9')}\r\n`);
  t.deepEqual((await client.rest()).map(brief), ['421 4.7.0']);
});

test('an account has a number of connections, and others have theirs', async (t) => {
  const { address, listener } = await listenForSubmission(t, { limits: { connectionsPerAccount: 2 } });
  const first = await signedIn(address);
  const again = await SmtpClient.greeted(address);
  // The session starts again after STARTTLS, and still counts as one connection.
  t.deepEqual(await say(again, `AUTH PLAIN ${GOOD}`), ['235 2.7.0']);
  t.deepEqual(await say(again, 'STARTTLS'), ['220 2.0.0']);
  await again.secure();
  t.is((await again.command('EHLO c.test')).code, 250);
  t.deepEqual(await say(again, `AUTH PLAIN ${GOOD}`), ['235 2.7.0']);
  const third = await SmtpClient.greeted(address);
  t.deepEqual(await say(third, `AUTH PLAIN ${GOOD}`), ['421 4.7.0']);
  t.deepEqual(await third.rest(), []);
  const bob = await SmtpClient.greeted(address);
  t.deepEqual(await say(bob, `AUTH PLAIN ${plain('bob@example.test', 'bob-key')}`), ['235 2.7.0']);
  t.deepEqual(await say(first, 'QUIT'), ['221 2.0.0']);
  // Wait until the listener knows that both the first and the third connection are gone.
  while (listener.connections > 2) await new Promise(setImmediate);
  t.is((await (await signedIn(address)).command('NOOP')).code, 250);
});
