// Tests APPEND with CATENATE (RFC 4469): texts and parts of messages that the account has.
import test from '../../../support/test.js';
import { Literal } from '../client.js';
import { startImap } from '../gateway.js';
import { fetched, uidOf } from './appended-messages.js';

test('CATENATE joins texts and parts of messages of the account', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  const source = [
    'Subject: =?utf-8?q?x?=',
    'From: a@example.test',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'first part',
    '--b',
    'Content-Type: application/octet-stream',
    'Content-Transfer-Encoding: base64',
    '',
    'AAEC',
    '--b--',
    '',
  ].join('\r\n');
  await client.command('APPEND "Archive" ', new Literal(source));
  const [line] = (await client.command('STATUS Archive (UIDVALIDITY)')).untagged;
  const validity = /\d+/.exec(line!)![0];
  const catenated = async (...parts: (string | Literal)[]) => {
    const { tagged } = await client.command('APPEND Drafts (\\Draft) CATENATE (', ...parts, ')');
    if (!tagged.startsWith('OK')) return tagged;
    const shown = await fetched(client, 'Drafts', uidOf(tagged), 'BODY.PEEK[]');
    const [, size] = /BODY\[\] \{(\d+)\}\r\n/.exec(shown)!;
    const from = shown.indexOf('}\r\n') + 3;
    return shown.slice(from, from + Number(size));
  };
  t.is(await catenated(new Literal('x') && 'URL "/Archive/;UID=1"'), source);
  t.is(
    await catenated(
      'TEXT ',
      new Literal('Subject: new\r\n\r\n'),
      ` URL "/Archive;UIDVALIDITY=${validity}/;UID=1/;SECTION=1"`,
    ),
    'Subject: new\r\n\r\nfirst part',
  );
  t.is(
    await catenated(
      'URL "/Archive/;UID=1/;section=HEADER.FIELDS%20(From)" URL "/archive/;uid=1/;section=2.MIME" URL /Archive/;UID=1/;SECTION=2',
      ' TEXT ',
      new Literal(''),
      ' TEXT ',
      new Literal('\r\nend'),
    ),
    'From: a@example.test\r\n\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\nAAEC\r\nend',
  );
  t.is(
    await catenated('TEXT ', new Literal('a\r\n\r\n'), ' URL "/Archive/;UID=1/;SECTION=1/;PARTIAL=6.2"'),
    'a\r\n\r\npa',
  );
  t.is(await catenated('URL ', new Literal('/Archive/;UID=1/;SECTION=HEADER.FIELDS%20(From)/;PARTIAL=0.4')), 'From');
  await client.command('SELECT Archive');
  t.regex((await client.command('APPEND Drafts CATENATE (URL "/;UID=1")')).tagged, /^OK /);
  const own = 'imap://alice%40example.test@mail.example.test/Archive/;UID=1';
  t.is(await catenated(`URL "${own}"`), source);
  for (const url of [
    '/Archive/;UID=2',
    '/Nothing/;UID=1',
    `/Archive;UIDVALIDITY=${Number(validity) + 1}/;UID=1`,
    '/Archive/;UID=1/;SECTION=3',
    'imap://bob%40example.test@mail.example.test/Archive/;UID=1',
    'imap://elsewhere.test/Archive/;UID=1',
    'http://example.test/',
  ]) {
    t.is(await catenated(`URL "${url}"`), `NO [BADURL ${url}] The URL names no message or part`);
  }
  t.is((await client.command('APPEND Drafts CATENATE ()')).tagged.slice(0, 3), 'BAD');
  t.is(gateway.context.spool.memory.used, 0);
});

test('CATENATE has the limit of a message, and nothing of another account', async (t) => {
  const gateway = await startImap(t, { maxMessageSize: 1000 });
  const client = await gateway.open();
  await client.command('APPEND Archive ', new Literal('x'.repeat(600)));
  const twice = 'URL "/Archive/;UID=1" URL "/Archive/;UID=1"';
  t.regex((await client.command(`APPEND Drafts CATENATE (${twice})`)).tagged, /^NO \[TOOBIG\] /);
  const text = new Literal('x'.repeat(401));
  t.regex(
    (await client.command('APPEND Drafts CATENATE (URL "/Archive/;UID=1" TEXT ', text, ')')).tagged,
    /^NO \[TOOBIG\] /,
  );
  const bob = await gateway.open('bob-key');
  t.regex((await bob.command('APPEND Drafts CATENATE (URL "/Archive/;UID=1")')).tagged, /^NO \[BADURL /);
  t.is(gateway.context.spool.memory.used, 0);
});
