// Tests the index of ordinary messages: structure, offsets, bodies, attachments, preview.

import type { IndexedPart } from '../../../src/mail-format/message-index.js';
import { indexMessage, MimeIndexer } from '../../../src/mail-format/mime-index/indexer.js';
import test from '../../support/test.js';
import { caseIndex } from '../cases.js';

const lines = (...text: string[]) => Buffer.from(text.join('\r\n'));
const sliceOf = (raw: Buffer, part: IndexedPart) => raw.subarray(part.bodyStart, part.bodyEnd).toString();

const mixed = lines(
  'Received: from a',
  'Received: from b',
  'Delivered-To: Me@Example.org',
  'From: "Ann \\"A\\" Lee" <ann@example.org>',
  'To: bob@example.org, Team: c@example.org, "D" <d@example.org>;',
  'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
  ' aus Wien',
  'Date: Sat, 21 Nov 2026 13:10:19 +0100',
  'Message-ID: <one@example.org>',
  'In-Reply-To: <zero@example.org>',
  'References: <r1@example.org>',
  ' <zero@example.org>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="outer"',
  '',
  'preamble',
  '--outer',
  'Content-Type: multipart/alternative; boundary=inner',
  '',
  '--inner',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'Sch=C3=B6n, dass=',
  ' du da bist.',
  '--inner',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p>Schön</p>',
  '',
  '--inner--',
  '--outer',
  'Content-Type: application/pdf; name="x.pdf"',
  'Content-Transfer-Encoding: base64',
  "Content-Disposition: attachment; filename*0*=UTF-8''r%C3%A9; filename*1=sum.pdf",
  'Content-ID: <pdf@x>',
  '',
  'aGVsbG8gd29y',
  'bGQ=',
  '--outer',
  'Content-Type: message/rfc822',
  '',
  'Subject: inside',
  'From: <in@example.org>',
  '',
  'inner body',
  '--outer--',
  'epilogue',
  '',
);

test('a message with alternatives, an attachment and an embedded message', (t) => {
  const index = indexMessage(mixed);
  t.is(index.size, mixed.length);
  t.is(index.envelope.subject, 'Grüße aus Wien');
  t.deepEqual(index.envelope.from, [{ name: 'Ann "A" Lee', address: 'ann@example.org' }]);
  t.deepEqual(index.envelope.to, [
    { name: '', address: 'bob@example.org' },
    { name: 'Team', address: '' },
    { name: '', address: 'c@example.org' },
    { name: 'D', address: 'd@example.org' },
  ]);
  t.is(index.envelope.sentAt, Date.UTC(2026, 10, 21, 12, 10, 19));
  t.is(index.envelope.messageId, '<one@example.org>');
  t.is(index.envelope.inReplyTo, '<zero@example.org>');
  t.deepEqual(index.envelope.references, ['<r1@example.org>', '<zero@example.org>']);
  t.is(index.receivedCount, 2);
  t.deepEqual(index.deliveredTo, ['me@example.org']);
  t.deepEqual(index.textSections, ['1.1']);
  t.deepEqual(index.htmlSections, ['1.2']);
  t.is(index.preview, 'Schön, dass du da bist.');
  t.deepEqual(index.truncated, []);
  const [alternative, pdf, message] = index.root.parts;
  t.is(index.root.section, '');
  t.is(sliceOf(mixed, alternative!.parts[0]!), 'Sch=C3=B6n, dass=\r\n du da bist.');
  t.is(alternative!.parts[0]!.lines, 1);
  t.is(sliceOf(mixed, alternative!.parts[1]!), '<p>Schön</p>\r\n');
  t.is(sliceOf(mixed, message!), 'Subject: inside\r\nFrom: <in@example.org>\r\n\r\ninner body');
  t.is(message!.lines, 3);
  t.is(message!.envelope!.subject, 'inside');
  t.is(message!.parts[0]!.section, '3.1');
  t.is(sliceOf(mixed, message!.parts[0]!), 'inner body');
  t.is(pdf!.dispositionParams['filename'], 'résum.pdf');
  t.deepEqual(index.attachments, [
    {
      section: '2',
      fileName: 'résum.pdf',
      contentType: 'application/pdf',
      size: 11,
      contentId: 'pdf@x',
      inline: false,
    },
    { section: '3', fileName: 'inside.eml', contentType: 'message/rfc822', size: 53, contentId: null, inline: false },
  ]);
});

test('the index is the same whatever the pieces', (t) => {
  const whole = indexMessage(mixed);
  for (const size of [1, 2, 3, 7, 64]) {
    const indexer = new MimeIndexer();
    for (let at = 0; at < mixed.length; at += size) indexer.push(mixed.subarray(at, at + size));
    t.deepEqual(indexer.finish(), whole);
  }
});

test('bare line feeds', (t) => {
  const raw = Buffer.from(mixed.toString().replaceAll('\r\n', '\n'));
  const index = indexMessage(raw);
  t.is(sliceOf(raw, index.root.parts[2]!), 'Subject: inside\nFrom: <in@example.org>\n\ninner body');
  t.is(index.preview, 'Schön, dass du da bist.');
  t.is(index.attachments[0]!.size, 11);
});

test('an attachment in base64 ends at its padding', (t) => {
  const footer = '\r\n____\r\nzebra-talk mailing list\r\n';
  const raw = `Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\nPGEAAQ==\r\n${footer}`;
  t.is(indexMessage(Buffer.from(raw)).attachments[0]!.size, 4);
});

test('names of parts without one: messages by their subject, reports by their type', (t) => {
  const nameOf = (type: string) =>
    indexMessage(Buffer.from(`Content-Type: ${type}\r\n\r\nx: y\r\n\r\nz`)).attachments[0]!.fileName;
  t.is(nameOf('message/rfc822'), 'message-1.eml');
  t.is(nameOf('message/global'), 'message-1.eml');
  t.is(nameOf('message/delivery-status'), 'delivery-status-1.txt');
  t.is(nameOf('text/rfc822-headers'), 'rfc822-headers-1.txt');
  t.is(nameOf('message/disposition-notification'), 'disposition-notification-1.txt');
  t.is(nameOf('message/feedback-report'), 'feedback-report-1.txt');
  t.is(nameOf('message/delivery-status; name="why.txt"'), 'why.txt');
});

test('an invitation has its method and its charset, other text its charset', (t) => {
  t.like(caseIndex('calendar-invite').attachments[0], {
    contentType: 'text/calendar',
    method: 'REQUEST',
    charset: 'utf-8',
  });
  const of = (type: string) =>
    indexMessage(Buffer.from(`Content-Type: ${type}\r\nContent-Disposition: attachment\r\n\r\nx`)).attachments[0]!;
  t.like(of('text/calendar; METHOD="reply"; charset=UTF-8'), { method: 'REPLY', charset: 'utf-8' });
  t.like(of('text/calendar'), { method: undefined, charset: undefined });
  t.like(of('text/csv; charset=iso-8859-1; method=x'), { method: undefined, charset: 'iso-8859-1' });
  t.like(of('text/calendar; method="a\\"b"; charset="?"'), { method: undefined, charset: undefined });
  t.like(of('application/pdf; charset=utf-8'), { method: undefined, charset: undefined });
});

test('the id of an attachment is what stands in angle brackets, whatever is around it', (t) => {
  for (const [field, id] of [
    ['<a@x>', 'a@x'],
    ['(one) <a@x>', 'a@x'],
    ['<a@x> (one)', 'a@x'],
    ['< a@x >', 'a@x'],
    ['a@x', 'a@x'],
    ['<a@x', 'a@x'],
    ['<>', null],
  ] as const) {
    const index = indexMessage(Buffer.from(`Content-Type: image/png\r\nContent-ID: ${field}\r\n\r\nx`));
    t.is(index.attachments[0]!.contentId, id, field);
  }
});
