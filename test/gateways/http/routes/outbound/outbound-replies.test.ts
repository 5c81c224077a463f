// Tests the messages that replies and forwards compose from their originals.
import { createHash } from 'node:crypto';
import { indexMessage } from '../../../../../src/mail-format/mime-index/indexer.js';
import test from '../../../../support/test.js';
import { startGateway } from '../../gateway.js';
import { BOB, ID, OTHER_ID, post, receive, text } from './composed-mail.js';

const ORIGINAL = [
  'From: "Bob, B." <bob@remote.test>',
  'To: Sales <sales@example.test>, carol@remote.test, ALICE@example.test',
  'Cc: dan@remote.test',
  'Subject: =?utf-8?Q?Re=3A_Gr=C3=BC=C3=9Fe?=',
  'Date: Fri, 02 Jan 2026 03:04:05 +0100',
  'Message-ID: <c@remote.test>',
  'In-Reply-To: <b@remote.test>',
  'References: <a@remote.test>',
  ' <b@remote.test>',
];

test('a reply answers its original: whom, from which address, in which thread', async (t) => {
  const gateway = await startGateway(t);
  receive(gateway, [...ORIGINAL, '', 'How are you?', ''].join('\r\n'));
  const { asked, mail } = await post(t, gateway, `reply/${ID}`, { textBody: 'Fine' });
  t.deepEqual(asked.recipients, [
    { address: 'bob@remote.test', displayName: 'Bob, B.', type: 'To', domain: 'remote.test' },
  ]);
  t.is(asked.sender, 'sales@example.test');
  t.is(mail.subject, 'Re: Grüße');
  t.is(mail.inReplyTo, '<c@remote.test>');
  t.deepEqual(mail.references, ['<a@remote.test>', '<b@remote.test>', '<c@remote.test>']);
  t.is(text(mail), 'Fine');
  t.false(mail.html);
  t.like(asked.summary, { inReplyTo: '<c@remote.test>', references: mail.references as string[] });

  const all = await post(t, gateway, `reply/${ID}`, { htmlBody: '<p>Fine', replyAll: true });
  t.deepEqual(
    all.asked.recipients.map(({ address, type }) => `${type} ${address}`),
    ['To bob@remote.test', 'To carol@remote.test', 'Cc dan@remote.test'],
  );
  t.falsy(all.mail.text);
});

test('who cannot be replied to, and too many, are said', async (t) => {
  const gateway = await startGateway(t);
  const errors = async (id = ID) => {
    const response = await gateway.fetch(`/api/outbound/reply/${id}`, {
      method: 'POST',
      json: { textBody: 'x', replyAll: true },
    });
    t.is(response.status, 400);
    return Object.keys(((await response.json()) as { errors: object }).errors);
  };
  receive(gateway, 'From: <>\r\nSubject: Undelivered\r\n\r\n');
  t.deepEqual(await errors(), ['emailId']);
  const many = Array.from({ length: 101 }, (_, i) => `p${i}@remote.test`).join(',\r\n ');
  receive(gateway, `From: bob@remote.test\r\nTo: ${many}\r\n\r\n`, OTHER_ID);
  t.deepEqual(await errors(OTHER_ID), ['replyAll']);
});

test('a hostile original puts nothing into the header of a reply', async (t) => {
  const gateway = await startGateway(t);
  const evil = '=?utf-8?Q?x=0D=0ABcc:_evil@remote.test=0D=0A?=';
  receive(
    gateway,
    `From: ${evil} <bob@remote.test>\r\nReply-To: ${evil} <bob@remote.test>\r\nSubject: ${evil}\r\n` +
      'Message-ID: <a\x01@x>\r\nReferences: <b@x>\r\n\tBcc:<evil@remote.test>\r\n\r\nHi\r\n',
  );
  const { octets, mail } = await post(t, gateway, `reply/${ID}`, { textBody: 'Hello' });
  t.notRegex(octets.toString('latin1'), /^(bcc|x)/im);
  t.is(mail.bcc, undefined);
  const forwarded = await post(t, gateway, `forward/${ID}`, { recipients: [BOB] });
  t.is(forwarded.mail.bcc, undefined);
});

const ENCLOSED = 'From: x@y.test\r\nSubject: Enclosed\r\n\r\nInside.\r\n';
const PDF = Buffer.from('%PDF\0\x01\xff'.repeat(30_000), 'latin1');
const part = (head: string, body: string): string => `--b\r\n${head}\r\n\r\n${body}`;
const FULL = [
  ...ORIGINAL,
  'Content-Type: multipart/mixed; boundary=b',
  '',
  part(
    'Content-Type: multipart/related; boundary=r',
    '--r\r\nContent-Type: text/html\r\n\r\n<img src="cid:p@x">\r\n--r\r\nContent-Type: image/gif\r\nContent-ID: <p@x>\r\n' +
      'Content-Disposition: inline; filename=p.gif\r\nContent-Transfer-Encoding: base64\r\n\r\nR0lG\r\n--r--',
  ),
  part(
    'Content-Type: application/pdf; name="a b.pdf"\r\nContent-Transfer-Encoding: base64',
    PDF.toString('base64').replace(/.{76}/g, '$&\r\n'),
  ),
  part(
    'Content-Type: text/plain; charset=iso-8859-1\r\nContent-Disposition: attachment; filename=l.txt',
    'gr\xfc\xdfe',
  ),
  part('Content-Type: message/rfc822', ENCLOSED),
  part('Content-Type: message/rfc822', `${ENCLOSED}gr\xfc\xdfe`),
  '--b--\r\n',
].join('\r\n');

test('a forward has what its sender says, the original, and its attachments byte for byte', async (t) => {
  const gateway = await startGateway(t);
  receive(gateway, FULL);
  const { asked, octets, mail } = await post(t, gateway, `forward/${ID}`, {
    textBody: 'Look <here>',
    recipients: [BOB],
  });
  t.is(asked.sender, 'sales@example.test');
  t.is(asked.content?.textBody, text(mail));
  t.is(mail.subject, 'Fwd: Re: Grüße');
  t.is(mail.inReplyTo, undefined);
  t.regex(
    text(mail),
    /^Look <here>\n\n-+ Forwarded message -+\nFrom: Bob, B\. <bob@remote\.test>\nDate: Fri, 02 Jan 2026/,
  );
  t.regex(
    text(mail),
    /\nSubject: Re: Grüße\nTo: Sales <sales@example\.test>, carol@remote\.test, .+\nCc: dan@remote.test\n/,
  );
  t.regex(mail.html || '', /^<div style="white-space: pre-wrap">Look &lt;here&gt;<\/div>/);
  t.true((mail.html || '').includes('&lt;bob@remote.test&gt;'));
  const index = indexMessage(octets);
  t.deepEqual(
    index.attachments.map(({ fileName, contentType, contentId }) => [fileName, contentType, contentId]),
    [
      ['p.gif', 'image/gif', 'p@x'],
      ['a b.pdf', 'application/pdf', null],
      ['l.txt', 'text/plain', null],
      ['Enclosed.eml', 'message/rfc822', null],
      ['Enclosed.eml', 'application/octet-stream', null],
    ],
  );
  const expected = ['GIF', PDF.toString('latin1'), 'gr\xfc\xdfe', ENCLOSED, `${ENCLOSED}gr\xfc\xdfe`];
  const digest = (content: Buffer) => createHash('sha256').update(content).digest('hex');
  t.deepEqual(
    mail.attachments.map(({ content }) => digest(content)),
    expected.map((content) => digest(Buffer.from(content, 'latin1'))),
  );
  t.regex(octets.toString('latin1'), /text\/plain; charset=iso-8859-1/);
});

test('an original that cannot be taken apart as a whole is attached as a whole', async (t) => {
  const gateway = await startGateway(t);
  const many = Array.from({ length: 1100 }, (_, i) => part('Content-Type: image/gif', `GIF${i}`)).join('\r\n');
  const octets = receive(
    gateway,
    `From: bob@remote.test\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${many}\r\n--b--\r\n`,
  );
  const { mail } = await post(t, gateway, `forward/${ID}`, { recipients: [BOB] });
  t.deepEqual(
    mail.attachments.map(({ filename, contentType }) => [filename, contentType]),
    [['original.eml', 'message/rfc822']],
  );
  t.true(mail.attachments[0]!.content.equals(octets));
});

test('a forward that would be larger than a message may be is 413, and leaves nothing behind', async (t) => {
  const gateway = await startGateway(t);
  const large = Buffer.alloc(1_700_000, 'x')
    .toString('latin1')
    .replace(/.{900}/g, '$&\r\n');
  receive(gateway, `From: b@remote.test\r\nContent-Type: application/zip\r\n\r\n${large}\r\n`);
  const response = await gateway.fetch(`/api/outbound/forward/${ID}`, { method: 'POST', json: { recipients: [BOB] } });
  t.is(response.status, 413);
  t.is(gateway.spool.memory.used, 0);
  t.false(gateway.mailboxes.asked.some(({ name }) => name.startsWith('enqueue')));
});

test('a store that fails while a forward is composed is 503, and leaves nothing behind', async (t) => {
  const gateway = await startGateway(t);
  receive(gateway, FULL);
  gateway.blobs.failAfter = 0;
  const response = await gateway.fetch(`/api/outbound/forward/${ID}`, { method: 'POST', json: { recipients: [BOB] } });
  t.is(response.status, 503);
  t.is(gateway.spool.memory.used, 0);
});
