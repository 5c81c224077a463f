// Tests content checks as peers, programs and mailboxes see them: replies, fields of the stored message, Junk, and what a check reads.

import { pause } from '../../../src/concurrency/time-bounds.js';
import { CheckChain } from '../../../src/message-checks/check-chain.js';
import type { CheckedEnvelope, CheckedPeer, ContentCheck, Verdict } from '../../../src/message-checks/content-check.js';
import { silent } from '../../message-checks/mailauth/peers.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import test from '../../support/test.js';
import { listen } from './listener.js';
import { listenForSubmission, signedIn } from './submission-listener.js';

const MESSAGE = 'From: alice@example.test\r\nSubject: hi\r\n\r\nhello\r\n';
const ALICE = ['alice@example.test'];

interface Seen {
  readonly text: string;
  readonly envelope: CheckedEnvelope;
  readonly peer: CheckedPeer;
}

/** One check that reads each message and gives this verdict. */
function reading(verdict: Verdict) {
  const seen: Seen[] = [];
  const check: ContentCheck = {
    name: 'reader',
    deadlineMs: 10_000,
    onFault: 'defer',
    async check({ chunks }, envelope, peer) {
      const pieces: Uint8Array[] = [];
      for await (const piece of chunks()) pieces.push(piece);
      seen.push({ text: Buffer.concat(pieces).toString('latin1'), envelope, peer });
      return verdict;
    },
  };
  return { checks: new CheckChain([check], silent), seen };
}

test('junk goes to Junk with the fields of the check, small and large, with a large header too', async (t) => {
  const { checks, seen } = reading({ verdict: 'junk', headers: [{ name: 'X-Spam-Status', value: 'Yes, score=9' }] });
  const harness = await listen(t, { checks, maxMessageSize: 3_000_000 });
  const client = await SmtpClient.greeted(harness.address);
  const bodies = ['', 'x\r\n'.repeat(500_000)];
  const headers = ['', 'X-Filler: y\r\n'.repeat(30_000)];
  for (const message of headers.flatMap((header) => bodies.map((body) => `${header}${MESSAGE}${body}`))) {
    t.is((await client.send('a@peer.test', ALICE, message.replace(/\r\n$/, ''))).code, 250);
    const { text, envelope } = harness.stored.at(-1)!;
    t.true(/^Return-Path: <a@peer\.test>\r\nX-Spam-Status: Yes, score=9\r\nReceived: /.test(text));
    t.true(text.endsWith(`\r\n${message}`));
    t.true(seen.at(-1)!.text === message);
    t.like(envelope, { isJunk: true, isContentJunk: true });
  }
  const id = /\bid ([\w-]+)/.exec(harness.stored[0]!.text)![1]!;
  t.deepEqual(seen[0]!.envelope, { id, sender: 'a@peer.test', recipients: ALICE });
  t.like(seen[0]!.peer, { remoteAddress: '127.0.0.1', accountId: undefined, user: undefined });
  t.is(harness.logged.find(({ msg }) => msg === 'message accepted')!['junkBy'], 'reader');
  t.is(harness.spool.memory.used, 0);
});

test('a refusal is 550 5.7.1 or 554, and a deferral 451 4.7.1, in one line of ASCII', async (t) => {
  const reply = `virus\r\n250 é ${'x'.repeat(1000)}`;
  const verdicts: [Verdict, string][] = [
    [{ verdict: 'refuse', reply }, '550 5.7.1'],
    [{ verdict: 'refuse', reply, code: 554 }, '554 5.7.1'],
    [{ verdict: 'defer', reply }, '451 4.7.1'],
  ];
  for (const [verdict, code] of verdicts) {
    const { checks } = reading(verdict);
    const harness = await listen(t, { checks });
    const client = await SmtpClient.greeted(harness.address);
    const reply = await client.send('a@peer.test', ALICE, MESSAGE);
    t.true(`${reply.code} ${reply.text}`.startsWith(`${code} virus 250 ? xxx`), reply.text);
    t.true(reply.text.length < 500);
    t.like(
      harness.logged.find(({ msg }) => msg === 'refused'),
      { reason: 'reader', code: reply.code },
    );
    t.is(harness.stored.length + harness.asked.length + harness.spool.memory.used, 0);
    // The connection lives on.
    t.is((await client.command('NOOP')).code, 250);
  }
});

test('a check that is late while it reads a file defers the message and keeps nothing', async (t) => {
  let error: unknown;
  let isOver: (() => void) | undefined;
  const over = new Promise<void>((resolve) => {
    isOver = resolve;
  });
  const check: ContentCheck['check'] = async ({ chunks }, _envelope, _peer, signal) => {
    try {
      for await (const _piece of chunks()) {
        await pause(30);
        signal.throwIfAborted();
      }
    } catch (thrown) {
      error = thrown;
    }
    isOver!();
    return { verdict: 'accept' };
  };
  const checks = new CheckChain([{ name: 'slow', deadlineMs: 10, onFault: 'defer', check }], silent);
  const harness = await listen(t, { checks, memoryLimit: 1000 });
  const client = await SmtpClient.greeted(harness.address);
  const reply = await client.send('a@peer.test', ALICE, `${MESSAGE}${'x\r\n'.repeat(100_000)}`);
  t.is(`${reply.code} ${reply.text.slice(0, 5)}`, '451 4.7.1');
  await over;
  t.is((error as Error).name, 'AbortError');
  t.is(harness.stored.length + harness.spool.memory.used, 0);
});

test('a submission is checked before it is queued; junk is queued without fields', async (t) => {
  const answers: [Verdict, string][] = [
    [{ verdict: 'accept' }, '250 2.0.0'],
    [{ verdict: 'junk', headers: [{ name: 'X-Spam-Status', value: 'Yes' }] }, '250 2.0.0'],
    [{ verdict: 'defer', reply: 'Later' }, '451 4.7.1'],
    [{ verdict: 'refuse', reply: 'A virus' }, '550 5.7.1'],
  ];
  for (const [verdict, expected] of answers) {
    const { checks, seen } = reading(verdict);
    const harness = await listenForSubmission(t, { checks });
    const client = await signedIn(harness.address);
    const { code, text } = await client.send('alice@example.test', ['x@elsewhere.test'], MESSAGE.replace(/\r\n$/, ''));
    t.is(`${code} ${text.slice(0, 5)}`, expected);
    t.is(harness.queued.length, code === 250 ? 1 : 0);
    t.true(harness.queued.every(({ body }) => !body.includes('X-Spam')));
    t.true(seen[0]!.text.endsWith('\r\n\r\nhello\r\n'));
    t.like(seen[0]!.envelope, { sender: 'alice@example.test', recipients: ['x@elsewhere.test'] });
    t.like(seen[0]!.peer, { remoteAddress: '127.0.0.1', accountId: 'alice', user: 'alice@example.test' });
    t.is(harness.spool.memory.used, 0);
  }
});

test('a client that is refused hears it at RCPT, for every recipient but the postmaster and those that do not exist', async (t) => {
  const asked: string[] = [];
  const refusalOf = async (address: string) => {
    asked.push(address);
    return { verdict: 'refuse', reply: 'Listed', code: 554, by: 'dnsbl' } as const;
  };
  const harness = await listen(t, { clientCheck: { refusalOf } });
  const client = await SmtpClient.greeted(harness.address);
  await client.command('MAIL FROM:<a@peer.test>');
  const codes: string[] = [];
  for (const to of ['alice@example.test', 'nobody@example.test', 'a@elsewhere.test', 'postmaster@example.test']) {
    const { code, text } = await client.command(`RCPT TO:<${to}>`);
    codes.push(`${code} ${text.split(' ')[0]}`);
  }
  t.deepEqual(codes, ['554 5.7.1', '550 5.1.1', '550 5.7.1', '250 2.1.5']);
  t.deepEqual(asked, ['127.0.0.1']);
  const refused = harness.logged.find(({ msg, reason }) => msg === 'refused' && reason === 'dnsbl');
  t.like(refused, { code: 554, recipient: 'alice@example.test' });
});

test('a client whose check fails is asked to come back', async (t) => {
  const refusalOf = () => Promise.reject(new Error('a bug'));
  const { address } = await listen(t, { clientCheck: { refusalOf } });
  const client = await SmtpClient.greeted(address);
  await client.command('MAIL FROM:<a@peer.test>');
  t.is((await client.command('RCPT TO:<alice@example.test>')).code, 421);
});
