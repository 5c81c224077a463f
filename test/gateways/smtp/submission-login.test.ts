// Tests AUTH at submission: every mechanism in every form, what is refused and how, and how a login ends.

import { StoreFault } from '../../../src/store/errors.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { NO_TOKENS } from '../../support/no-tokens.js';
import test from '../../support/test.js';
import { base64, brief, listenForSubmission, plain, type SubmissionSettings, signedIn } from './submission-listener.js';

const ALICE = 'alice@example.test';
const GOOD = plain(ALICE, 'alice-key');
const bearer = (name: string, token: string) =>
  base64(`n,a=${name},\u0001host=x\u0001port=587\u0001auth=Bearer ${token}\u0001\u0001`);
const xoauth2 = (name: string, token: string) => base64(`user=${name}\u0001auth=Bearer ${token}\u0001\u0001`);

/** Sends these lines in order; returns the shortened reply to each. */
async function say(client: SmtpClient, ...lines: string[]): Promise<string[]> {
  const replies: string[] = [];
  for (const line of lines) {
    const reply = await client.command(line);
    replies.push(reply.code === 334 ? `334 ${Buffer.from(reply.text, 'base64').toString()}` : brief(reply));
  }
  return replies;
}

for (const [form, lines, expected] of [
  ['PLAIN', [`AUTH PLAIN ${GOOD}`], ['235 2.7.0']],
  ['PLAIN after a challenge', ['auth plain', GOOD], ['334 ', '235 2.7.0']],
  ['PLAIN with two names', [`AUTH PLAIN ${base64(`ALICE@other.test\0${ALICE}\0alice-key`)}`], ['235 2.7.0']],
  ['PLAIN with the name in the first place', [`AUTH PLAIN ${base64(`${ALICE}\0\0alice-key`)}`], ['235 2.7.0']],
  [
    'LOGIN',
    ['AUTH LOGIN', base64('Alice@Example.TEST'), base64('alice-key')],
    ['334 Username:', '334 Password:', '235 2.7.0'],
  ],
  ['LOGIN with the name at once', [`AUTH LOGIN ${base64(ALICE)}`, base64('alice-key')], ['334 Password:', '235 2.7.0']],
  ['OAUTHBEARER', [`AUTH OAUTHBEARER ${bearer(ALICE, 'alice-key')}`], ['235 2.7.0']],
  ['OAUTHBEARER after a challenge', ['AUTH OAUTHBEARER', bearer(ALICE, 'alice-key')], ['334 ', '235 2.7.0']],
  [
    'OAUTHBEARER without a name',
    [`AUTH OAUTHBEARER ${base64('n,,\u0001auth=Bearer alice-key\u0001\u0001')}`],
    ['235 2.7.0'],
  ],
  ['XOAUTH2', [`AUTH XOAUTH2 ${xoauth2(ALICE, 'alice-key')}`], ['235 2.7.0']],
  ['XOAUTH2 after a challenge', ['AUTH XOAUTH2', xoauth2(ALICE, 'alice-key')], ['334 ', '235 2.7.0']],
] as const) {
  test(`${form} lets in`, async (t) => {
    const { address, queued } = await listenForSubmission(t);
    const client = await SmtpClient.greeted(address);
    t.deepEqual(await say(client, ...lines), [...expected]);
    t.is((await client.send(ALICE, ['bob@example.test'], `From: ${ALICE}\r\n\r\nx`)).code, 250);
    t.is(queued[0]!.accountId, 'alice');
    t.regex(queued[0]!.text, /with ESMTPA\s/);
  });
}

for (const [what, lines, expected] of [
  ['a wrong key', [`AUTH PLAIN ${plain(ALICE, 'nonsense')}`], ['535 5.7.8']],
  ["another one's name", [`AUTH PLAIN ${plain('bob@example.test', 'alice-key')}`], ['535 5.7.8']],
  [
    "another one's name beside one's own",
    [`AUTH PLAIN ${base64(`bob@example.test\0${ALICE}\0alice-key`)}`],
    ['535 5.7.8'],
  ],
  ['a name that is no address', [`AUTH PLAIN ${plain('alice', 'alice-key')}`], ['535 5.7.8']],
  ['no password', [`AUTH PLAIN ${plain(ALICE, '')}`], ['535 5.7.8']],
  ['a key without the scope', [`AUTH PLAIN ${plain(ALICE, 'app-key')}`], ['535 5.7.8']],
  [
    'a wrong key with LOGIN',
    ['AUTH LOGIN', base64(ALICE), base64('x')],
    ['334 Username:', '334 Password:', '535 5.7.8'],
  ],
  [
    'a wrong token',
    [`AUTH OAUTHBEARER ${bearer(ALICE, 'x')}`, 'AQ=='],
    ['334 {"status":"invalid_token"}', '535 5.7.8'],
  ],
  [
    'no token',
    [`AUTH OAUTHBEARER ${base64('n,,\u0001auth=\u0001\u0001')}`, 'AQ=='],
    ['334 {"status":"invalid_token"}', '535 5.7.8'],
  ],
  [
    'a token without the scope',
    [`AUTH OAUTHBEARER ${bearer(ALICE, 'app-key')}`, 'AQ=='],
    ['334 {"status":"insufficient_scope"}', '535 5.7.8'],
  ],
  [
    'a wrong token with XOAUTH2',
    [`AUTH XOAUTH2 ${xoauth2(ALICE, 'x')}`, ''],
    ['334 {"status":"401","schemes":"bearer"}', '535 5.7.8'],
  ],
  ['cancelled', ['AUTH PLAIN', '*'], ['334 ', '501 5.7.0']],
  ['cancelled at the password', ['AUTH LOGIN', base64(ALICE), '*'], ['334 Username:', '334 Password:', '501 5.7.0']],
  [
    'cancelled after the error',
    [`AUTH XOAUTH2 ${xoauth2(ALICE, 'x')}`, '*'],
    ['334 {"status":"401","schemes":"bearer"}', '501 5.7.0'],
  ],
  ['no base64', ['AUTH PLAIN not-base64!'], ['501 5.5.2']],
  ['no base64 in a response', ['AUTH PLAIN', 'AGFs'.concat('=')], ['334 ', '501 5.5.2']],
  ['base64 of something else', [`AUTH PLAIN ${base64('x')}`], ['501 5.5.2']],
  ['an empty response where one is needed', ['AUTH PLAIN ='], ['501 5.5.2']],
  ['no UTF-8', [`AUTH PLAIN ${Buffer.from('\0\xff\0x', 'latin1').toString('base64')}`], ['501 5.5.2']],
  [
    'a malformed token message',
    [`AUTH OAUTHBEARER ${base64('p=tls,,\u0001auth=Bearer alice-key\u0001\u0001')}`],
    ['501 5.5.2'],
  ],
  ['a mechanism we have not', ['AUTH CRAM-MD5'], ['504 5.5.4']],
  ['no mechanism', ['AUTH'], ['501 5.5.4']],
  ['too many words', [`AUTH PLAIN ${GOOD} x`], ['501 5.5.4']],
] as const) {
  test(`refused: ${what}`, async (t) => {
    const { address } = await listenForSubmission(t);
    const client = await SmtpClient.greeted(address);
    t.deepEqual(await say(client, ...lines), [...expected]);
    // The next line is a command again, and the client is not logged in.
    t.deepEqual(await say(client, `MAIL FROM:<${ALICE}>`, `AUTH PLAIN ${GOOD}`), ['530 5.7.0', '235 2.7.0']);
  });
}

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

test('guesses: the connection ends, then further ones have to wait, but right keys do not', async (t) => {
  const { address, logged } = await listenForSubmission(t, {
    guard: { failuresPerNetwork: 6 },
    limits: { errors: 5 },
  });
  const good = await signedIn(address);
  const guess = (n: number) => `AUTH PLAIN ${plain('carol@example.test', `guess-${n}`)}`;
  const first = await SmtpClient.greeted(address);
  for (let n = 0; n < 4; n++) t.deepEqual(await say(first, guess(n)), ['535 5.7.8']);
  first.write(`${guess(4)}\r\n`);
  t.deepEqual((await first.rest()).map(brief), ['535 5.7.8', '421 4.7.0']);
  const second = await SmtpClient.greeted(address);
  t.deepEqual(await say(second, guess(5), guess(6)), ['535 5.7.8', '454 4.7.0']);
  t.deepEqual(await say(second, guess(7)), ['454 4.7.0']);
  const right = await SmtpClient.greeted(address);
  t.deepEqual(await say(right, `AUTH PLAIN ${plain('bob@example.test', 'bob-key')}`), ['235 2.7.0']);
  t.deepEqual(await say(good, `MAIL FROM:<${ALICE}>`), ['250 2.1.0']);
  await signedIn(address);
  t.false(JSON.stringify(logged).includes('guess-'));
});

test('credentials that cannot be checked now', async (t) => {
  const { address, directory } = await listenForSubmission(t);
  directory.fault = new StoreFault('store-unavailable', 'down', { temporary: true });
  const client = await SmtpClient.greeted(address);
  t.deepEqual(await say(client, `AUTH PLAIN ${GOOD}`), ['454 4.7.0']);
  t.deepEqual(await say(client, `AUTH OAUTHBEARER ${bearer(ALICE, 'alice-key')}`), ['454 4.7.0']);
  directory.fault = undefined;
  t.deepEqual(await say(client, `AUTH PLAIN ${GOOD}`), ['235 2.7.0']);
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
  t.is(spool.reserved, 0);
});

test('a message that has arrived whole gets its reply before the session ends', async (t) => {
  const { address, revoke, behave, queued } = await revoked(t);
  const client = await signedIn(address);
  let queueing = () => {};
  const reached = new Promise<void>((resolve) => {
    queueing = resolve;
  });
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

test('an account that is deleted ends its sessions', async (t) => {
  const { address, directory } = await listenForSubmission(t);
  const client = await signedIn(address);
  directory.deletedAccounts$.next('bob');
  t.is((await client.command('NOOP')).code, 250);
  directory.deletedAccounts$.next('alice');
  t.deepEqual((await client.rest()).map(brief), ['421 4.7.0']);
});

test('a key that is gone without a word ends its sessions with their next message, 30 s later', async (t) => {
  let now = 1;
  const { address, directory } = await listenForSubmission(t, { now: () => now });
  const client = await signedIn(address);
  directory.keys.clear();
  t.is((await client.send(ALICE, ['carol@peer.test'], MESSAGE)).code, 250);
  now += 30_001;
  client.write(`MAIL FROM:<${ALICE}>\r\n`);
  t.deepEqual((await client.rest()).map(brief), ['421 4.7.0']);
});

test('a key in the place of the name is not logged', async (t) => {
  const { address, logged } = await listenForSubmission(t);
  const client = await SmtpClient.greeted(address);
  t.deepEqual(await say(client, `AUTH PLAIN ${plain('alice-key', 'alice-key')}`), ['535 5.7.8']);
  t.deepEqual(await say(client, `AUTH PLAIN ${plain(ALICE, 'wrong')}`), ['535 5.7.8']);
  const names = logged.filter(({ msg }) => msg === 'authentication refused').map((line) => line['names']);
  t.deepEqual(names, [[], [ALICE]]);
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
