// Tests submission as a mail program sees it: who may write as whom, replies, and what is queued.

import { ActorFault } from '../../../src/actors/runtime/errors.js';
import { StoreFault } from '../../../src/store/errors.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import test from '../../support/test.js';
import { brief, listenForSubmission, signedIn } from './submission-listener.js';

const MESSAGE = [
  'From: Alice <alice@example.test>',
  'To: "Bob, B." <BOB@example.test>',
  'Cc: carol@peer.test',
  'Subject: hi',
  'Date: Sat, 21 Nov 2026 13:10:19 +0000',
  'Message-Id: <1@alice.test>',
  '',
  'hello',
].join('\r\n');

const unavailable = () => Promise.reject(new StoreFault('store-unavailable', 'down', { temporary: true }));

test('announces what a mail program needs, AUTH among it', async (t) => {
  const { address } = await listenForSubmission(t);
  const client = await SmtpClient.connect(address);
  t.regex((await client.reply()).text, /^mail\.example\.test ESMTP/);
  const { lines } = await client.command('EHLO client.test');
  t.deepEqual([...lines].sort(), [
    '8BITMIME',
    'AUTH PLAIN LOGIN',
    'CHUNKING',
    'DSN',
    'ENHANCEDSTATUSCODES',
    'PIPELINING',
    'SIZE 1000000',
    'SMTPUTF8',
    'STARTTLS',
    'mail.example.test',
  ]);
});

test('queues what was sent as it was sent, with a trace that does not tell from where', async (t) => {
  const { address, queued, logged } = await listenForSubmission(t);
  const client = await signedIn(address);
  const recipients = ['bob@example.test', 'carol@peer.test', 'dave+x@bücher.test'];
  await client.command('MAIL FROM:<alice+tag@other.test> SMTPUTF8 BODY=8BITMIME AUTH=<>');
  for (const recipient of recipients) t.is((await client.command(`RCPT TO:<${recipient}>`)).code, 250);
  await client.command('DATA');
  client.write(`${MESSAGE}\r\n.\r\n`);
  const reply = await client.reply();
  t.is(`${reply.code} ${reply.text}`, '250 2.0.0 Queued as outbound-1');
  const [mail] = queued;
  t.is(mail!.body, `${MESSAGE}\r\n`);
  t.regex(mail!.text, /^Received: by mail\.example\.test with UTF8SMTPA\s+id [0-9a-f-]{36};/);
  t.false(mail!.text.includes('127.0.0.1'));
  t.like(mail, { accountId: 'alice', draft: null, sender: 'alice+tag@other.test', content: null });
  t.like(mail!.summary, { messageId: '<1@alice.test>', subject: 'hi', fromAddress: 'alice@example.test' });
  t.deepEqual(mail!.recipients, [
    { address: 'bob@example.test', displayName: 'Bob, B.', type: 'To', domain: 'example.test' },
    { address: 'carol@peer.test', displayName: null, type: 'Cc', domain: 'peer.test' },
    { address: 'dave+x@bücher.test', displayName: null, type: 'Bcc', domain: 'xn--bcher-kva.test' },
  ]);
  const line = logged.find(({ msg }) => msg === 'submission queued');
  t.like(line, { accountId: 'alice', outboundId: 'outbound-1', keyId: 'alice-key', sender: 'alice+tag@other.test' });
  t.false(JSON.stringify(logged).includes('hello'));
});

test('what the sender asks to be told is queued with the message, and what is malformed is refused', async (t) => {
  const { address, queued } = await listenForSubmission(t);
  const client = await signedIn(address);
  for (const bad of ['RET=ALL', 'RET', 'ENVID', 'ENVID=a+2', 'RET=FULL RET=FULL'])
    t.is((await client.command(`MAIL FROM:<alice@example.test> ${bad}`)).code, 501, bad);
  t.is((await client.command('MAIL FROM:<alice@example.test> RET=hdrs ENVID=QQ+20314')).code, 250);
  for (const bad of ['NOTIFY=NEVER,DELAY', 'NOTIFY=OFTEN', 'ORCPT=bob@example.test', 'ORCPT=rfc822;+00'])
    t.is((await client.command(`RCPT TO:<bob@example.test> ${bad}`)).code, 501, bad);
  t.is((await client.command('RCPT TO:<carol@peer.test> SIZE=1')).code, 555);
  t.is((await client.command('RCPT TO:<bob@example.test> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;b+2Bx@y.test')).code, 250);
  t.is((await client.command('RCPT TO:<carol@peer.test> NOTIFY=NEVER')).code, 250);
  t.is((await client.command('RCPT TO:<dave@peer.test>')).code, 250);
  await client.command('DATA');
  client.write(`${MESSAGE}\r\n.\r\n`);
  t.is((await client.reply()).code, 250);
  t.deepEqual(queued[0]!.dsn, { ret: 'HDRS', envid: 'QQ 314' });
  t.deepEqual(
    queued[0]!.recipients.map(({ dsn }) => dsn),
    [{ notify: ['SUCCESS', 'FAILURE'], orcpt: 'rfc822;b+x@y.test' }, { notify: [], orcpt: null }, undefined],
  );
  // The next message has no DSN parameters.
  await client.send('alice@example.test', ['bob@example.test'], MESSAGE);
  t.is(queued[1]!.dsn, undefined);
});

test('Bcc and Return-Path go, Date and Message-Id come', async (t) => {
  const { address, queued } = await listenForSubmission(t);
  const client = await signedIn(address);
  const message = [
    'Return-Path: <x@y.test>',
    'From: alice@example.test',
    'bcc: secret@peer.test,',
    '\tother@peer.test',
    'Subject: hi',
    'Resent-Bcc: third@peer.test',
    '',
    'Bcc: stays',
  ].join('\r\n');
  t.is((await client.send('alice@example.test', ['secret@peer.test'], message)).code, 250);
  const id = /\sid ([0-9a-f-]{36});/.exec(queued[0]!.text)![1];
  t.regex(queued[0]!.body, /^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000\r\nMessage-Id: /);
  const [, ...rest] = queued[0]!.body.split('\r\n');
  t.deepEqual(rest, [
    `Message-Id: <${id}@mail.example.test>`,
    'From: alice@example.test',
    'Subject: hi',
    '',
    'Bcc: stays',
    '',
  ]);
  t.is(queued[0]!.recipients[0]!.type, 'Bcc');
  t.is(queued[0]!.summary.messageId, `<${id}@mail.example.test>`);
});

test('nothing before AUTH, and no second identity after it', async (t) => {
  const { address } = await listenForSubmission(t);
  const client = await SmtpClient.greeted(address);
  for (const command of ['MAIL FROM:<alice@example.test>', 'RCPT TO:<bob@example.test>', 'DATA']) {
    t.is(brief(await client.command(command)), '530 5.7.0');
  }
  const other = await signedIn(address);
  t.is(brief(await other.command('AUTH PLAIN AGJvYgBib2Ita2V5')), '503 5.5.1');
});

test('foreign senders: envelope, From, Sender', async (t) => {
  const { address, queued } = await listenForSubmission(t);
  const client = await signedIn(address);
  for (const sender of ['bob@example.test', 'alice@elsewhere.test', 'alicex@example.test']) {
    t.is(brief(await client.command(`MAIL FROM:<${sender}>`)), '550 5.7.1', sender);
  }
  t.is(brief(await client.command('MAIL FROM:<alice>')), '501 5.1.7');
  const headers: [string, string][] = [
    ['From: bob@example.test', '550 5.7.1'],
    ['From: "alice@example.test" <bob@example.test>', '550 5.7.1'],
    ['From: alice@example.test, bob@example.test\r\nSender: alice@example.test', '550 5.7.1'],
    ['From: alice@example.test\r\nSender: bob@example.test', '550 5.7.1'],
    ['From: alice@example.test, alice@other.test', '550 5.6.0'],
    ['From: alice@example.test\r\nFrom: bob@example.test', '550 5.6.0'],
    ['From: <bob@example.test> <alice@example.test>', '550 5.6.0'],
    ['From: bob@example.test <alice@example.test>', '550 5.6.0'],
    ['From: bob@example.test: alice@example.test;', '550 5.6.0'],
    ['From:', '550 5.6.0'],
    ['Subject: nobody', '550 5.6.0'],
    ['From : bob@example.test\r\nFrom: alice@example.test', '550 5.6.0'],
    ['From : bob@example.test', '550 5.7.1'],
    ['From : alice@example.test\r\nSender\t: bob@example.test', '550 5.7.1'],
    ['From : Al (x) <alice(y)@example.test>\r\nSubject : x', '250 2.0.0'],
    ['From alice@example.test Sat Nov 21\r\nFrom: alice@example.test', '550 5.6.0'],
    [' folded\r\nFrom: alice@example.test', '550 5.6.0'],
    ['From: alice@example.test\r\nno field\r\nFrom: bob@example.test', '550 5.6.0'],
    ['From: ALICE+news@Example.Test (me)', '250 2.0.0'],
    ['From: "A (l) i, ce" <alice@other.test>\r\nSender: alice@example.test', '250 2.0.0'],
    ['From: alice@example.test, alice@other.test\r\nSender: alice@example.test', '250 2.0.0'],
  ];
  for (const [header, expected] of headers) {
    const reply = await client.send('alice@example.test', ['carol@peer.test'], `${header}\r\n\r\nx`);
    t.is(brief(reply), expected, header);
  }
  t.is(queued.length, 4);
  t.true(queued.some(({ summary }) => summary.subject === 'x'));
});

test('the null sender, as read receipts have it', async (t) => {
  const { address, queued } = await listenForSubmission(t);
  const client = await signedIn(address);
  t.is((await client.send('', ['carol@peer.test'], MESSAGE)).code, 250);
  t.is(queued[0]!.sender, '');
});

test('recipients: elsewhere as they are, here only who exists', async (t) => {
  const { address, queued, directory } = await listenForSubmission(t, { limits: { recipients: 4 } });
  const client = await signedIn(address);
  await client.command('MAIL FROM:<alice@example.test>');
  const replies: [string, string][] = [
    ['nobody@example.test', '550 5.1.1'],
    ['bob@example.test', '250 2.1.5'],
    ['full@example.test', '250 2.1.5'],
    ['postmaster', '501 5.1.3'],
    ['carol', '501 5.1.3'],
    ['carol@localhost', '550 5.1.2'],
    ['ümlaut@peer.test', '553 5.6.7'],
    ['carol@[192.0.2.1]', '250 2.1.5'],
    ['dave@peer.test', '250 2.1.5'],
    ['DAVE@peer.test', '250 2.1.5'],
    ['erin@peer.test', '452 4.5.3'],
  ];
  for (const [recipient, expected] of replies) {
    t.is(brief(await client.command(`RCPT TO:<${recipient}>`)), expected, recipient);
  }
  await client.command('DATA');
  client.write(`${MESSAGE}\r\n.\r\n`);
  t.is((await client.reply()).code, 250);
  t.is(queued[0]!.recipients.length, 4);
  directory.fault = new StoreFault('store-unavailable', 'down', { temporary: true });
  await client.command('MAIL FROM:<alice@example.test>');
  t.is(brief(await client.command('RCPT TO:<bob@example.test>')), '451 4.3.0');
});

test('sizes, headers and line endings', async (t) => {
  const { address, queued, spool } = await listenForSubmission(t);
  const client = await signedIn(address);
  t.is(brief(await client.command('MAIL FROM:<alice@example.test> SIZE=1000001')), '552 5.3.4');
  const send = (message: string) => client.send('alice@example.test', ['carol@peer.test'], message);
  const header = 'From: alice@example.test\r\n';
  const filler = `X: ${'x'.repeat(995)}\r\n`;
  t.is(brief(await send(`${header}\r\n${'x'.repeat(1_000_000)}`)), '552 5.3.4');
  t.is(brief(await send(`${header}${filler.repeat(263)}\r\n`)), '552 5.3.4');
  t.is(brief(await send(`${header}${filler.repeat(400)}`)), '552 5.3.4');
  t.is(brief(await send(`${header}${filler.repeat(260)}\r\nlong header`)), '250 2.0.0');
  t.is(brief(await send(`${header}Subject: a\nBcc: b\r\n\r\nx`)), '550 5.6.0');
  t.is(brief(await send(`${header}Subject: a\r\n\r\nx\n.\nMAIL FROM:<alice@example.test>\r\n`)), '550 5.6.0');
  t.is(brief(await send(`${header}Subject: a\rBcc: b\r\n\r\nx`)), '550 5.6.0');
  t.is(brief(await send(`${header}${'Received: x\r\n'.repeat(51)}\r\n`)), '554 5.4.6');
  t.is(brief(await send(`${header}${'Received: x\r\n'.repeat(50)}\r\n`)), '250 2.0.0');
  t.is(brief(await send(`${header}Subject: no body`)), '250 2.0.0');
  t.regex(queued.at(-1)!.body, /Subject: no body\r\n$/);
  t.is(queued.length, 3);
  t.is(spool.memory.used, 0);
});

test('a large message passes octet for octet', async (t) => {
  const { address, queued } = await listenForSubmission(t);
  const client = await signedIn(address);
  const lines = Array.from({ length: 9000 }, (_, i) => `${i}: ${'é'.repeat(i % 50)}`).join('\r\n');
  const message = `${MESSAGE}\r\n${lines}`;
  await client.envelope('alice@example.test', 'carol@peer.test');
  const octets = Buffer.from(`${message}\r\n.\r\n`);
  for (let at = 0; at < octets.length; at += 7919) await client.segments([octets.subarray(at, at + 7919)]);
  t.is((await client.reply()).code, 250);
  t.is(queued[0]!.body, Buffer.from(`${message}\r\n`).toString('latin1'));
});

test('250 only when it is committed; faults are temporary', async (t) => {
  const { address, queued, behave, spool } = await listenForSubmission(t);
  const client = await signedIn(address);
  const send = async () => brief(await client.send('alice@example.test', ['carol@peer.test'], MESSAGE));
  behave.put = unavailable;
  t.is(await send(), '451 4.3.0');
  delete behave.put;
  behave.enqueue = () => Promise.reject(new ActorFault('unreachable', 'no owner'));
  t.is(await send(), '451 4.3.0');
  t.is(queued.length, 0);
  delete behave.enqueue;
  t.is(await send(), '250 2.0.0');
  t.is(spool.memory.used, 0);
});

test('a client that leaves in the middle of a message: nothing is queued', async (t) => {
  const { address, queued, spool, listener, logged } = await listenForSubmission(t);
  const client = await signedIn(address);
  await client.envelope('alice@example.test', 'carol@peer.test');
  await client.segments([Buffer.from('From: alice@example.test\r\n')]);
  client.destroy();
  await listener.stop(60_000);
  t.is(queued.length, 0);
  t.is(spool.memory.used, 0);
  t.true(logged.some(({ reason }) => reason === 'connectionLost'));
});

test('headers that others hold back keep nobody from sending, and an account has its share of memory for them', async (t) => {
  const { address, spool, queued } = await listenForSubmission(t, { memoryLimit: 400_000 });
  const client = await signedIn(address);
  const send = async (octets: number) => {
    const header = `From: alice@example.test\r\n${`X-Filler: ${'y'.repeat(88)}\r\n`.repeat(octets / 100)}`;
    await client.envelope('alice@example.test', 'bob@example.test');
    await client.written(header);
    // The server reads the header before its end arrives.
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
    client.write('\r\nx\r\n.\r\n');
    return brief(await client.reply());
  };
  t.is(await send(100_000), '452 4.3.1');
  t.is(await send(60_000), '250 2.0.0');
  t.is(spool.memory.used, 0);
  for (let i = 0; i < 8; i++) t.truthy(spool.memory.reserve(`other ${i}`, 50_000));
  t.is(await send(20_000), '250 2.0.0');
  t.is(queued.length, 2);
});
