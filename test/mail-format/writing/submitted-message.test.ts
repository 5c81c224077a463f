// Tests a submitted message after its preparation: only the intended fields change, in pieces of any size.

import fc from 'fast-check';
import { SubmittedMessage, UnusableHeader } from '../../../src/mail-format/writing/submitted-message.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { piecesOf } from '../pieces.js';

const DATE = new Date(Date.UTC(2026, 10, 21, 13, 10, 19));
const MESSAGE_ID = '<new@mail.test>';
const ADDED_DATE = 'Date: Sat, 21 Nov 2026 13:10:19 +0000\r\n';
const ADDED_ID = `Message-Id: ${MESSAGE_ID}\r\n`;

function passed(pieces: readonly Uint8Array[]): string {
  const message = new SubmittedMessage({ date: DATE, messageId: MESSAGE_ID });
  const out = [...pieces.map((piece) => message.push(piece)), message.end()];
  return Buffer.concat(out.filter((piece) => piece !== undefined)).toString('latin1');
}

const whole = (text: string): string => passed([Buffer.from(text, 'latin1')]);

/** Field values contain line breaks only as folds, which white space follows. */
const line = fc.string({ unit: fc.constantFrom(...'abc :;,<>"()\\=?é\0\x7f'), maxLength: 20 });
const value = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\r\n\t'));
const name = fc.constantFrom('From', 'To', 'X-Bcc', 'Bccc', 'Subject', 'Received', 'DKIM-Signature', 'Resent-From');
const kept = fc.tuple(name, value).map(([field, text]) => `${field}:${text}\r\n`);
const gone = fc
  .tuple(fc.constantFrom('Bcc', 'bcc', 'BCC', 'Resent-Bcc', 'Return-Path', 'return-PATH'), value)
  .map(([field, text]) => `${field}:${text}\r\n`);
const date = fc.constantFrom('', ADDED_DATE, 'date: yesterday\r\n');
const messageId = fc.constantFrom('', 'Message-ID:\r\n <a@b>\r\n', 'message-id: x <c@d> y\r\n');
const field = fc.oneof(
  kept.map((text) => ({ text, stays: true })),
  gone.map((text) => ({ text, stays: false })),
);
const body = fc.oneof(
  fc.constant(''),
  fc.string({ unit: 'binary-ascii', maxLength: 300 }).map((text) => `\r\n${text}`),
  fc.array(gone, { maxLength: 3 }).map((lines) => `\r\n${lines.join('')}\r\n\r\n${lines.join('')}`),
);

test('fields go and come, every other octet stays', (t) => {
  const places = fc.array(fc.nat(), { maxLength: 20 });
  fc.assert(
    fc.property(fc.array(field, { maxLength: 12 }), date, messageId, body, places, (fields, on, id, rest, cuts) => {
      const at = Math.floor(fields.length / 2);
      const lines = [...fields.slice(0, at), { text: on, stays: true }, { text: id, stays: true }, ...fields.slice(at)];
      const text = `${lines.map((each) => each.text).join('')}${rest}`;
      const expected = `${on === '' ? ADDED_DATE : ''}${id === '' ? ADDED_ID : ''}${lines
        .filter(({ stays }) => stays)
        .map((each) => each.text)
        .join('')}${rest}`;
      t.is(whole(text), expected);
      t.is(passed(piecesOf(Buffer.from(text, 'latin1'), cuts)), expected);
    }),
    { numRuns: runs(500) },
  );
});

test('Date and Message-Id that say nothing are replaced', (t) => {
  t.is(whole('Date: \r\n \r\nFrom: a\r\n\r\n'), `${ADDED_DATE}${ADDED_ID}From: a\r\n\r\n`);
  t.is(whole(`${ADDED_DATE}Message-Id: <>\r\nFrom: a\r\n`), `${ADDED_ID}${ADDED_DATE}From: a\r\n`);
  t.is(whole(`${ADDED_DATE}Message-Id: 1@2\r\nMessage-Id: <1@2>\r\n`), `${ADDED_DATE}Message-Id: <1@2>\r\n`);
});

test('no header at all, no body at all, nothing at all', (t) => {
  t.is(whole('\r\nBcc: x\r\n'), `${ADDED_DATE}${ADDED_ID}\r\nBcc: x\r\n`);
  t.is(whole('Bcc: x\r\n'), `${ADDED_DATE}${ADDED_ID}`);
  t.is(whole(''), `${ADDED_DATE}${ADDED_ID}`);
});

test('white space before the colon is obsolete syntax, which is read', (t) => {
  const text = `From : a\r\nSubject\t \t: x\r\n${ADDED_DATE.replace(':', '  :')}Message-ID :\r\n <a@b>\r\n\r\nx`;
  t.is(whole(text), text);
  t.is(whole(`Bcc : x\r\nResent-Bcc\t: y\r\nReturn-Path  : <z>\r\n${text}`), text);
  t.is(whole('Date :\r\nFrom : a\r\n'), `${ADDED_DATE}${ADDED_ID}From : a\r\n`);
});

test('lines that are no part of a field', (t) => {
  for (const text of [
    'hello\r\n',
    'From: a\r\nhello\r\n\r\nx',
    ' folded: x\r\n\r\n',
    ': a\r\n',
    'Fröm: a\r\n',
    'From a@b Sat Nov 21\r\nFrom: a\r\n',
  ]) {
    t.like(
      t.throws(() => whole(text), { instanceOf: UnusableHeader }),
      { fault: 'malformed' },
      text,
    );
  }
});

test('a header is bounded, a body is not', (t) => {
  const filler = (octets: number) => `X: ${'x'.repeat(octets - 5)}\r\n`;
  const limit = 256 * 1024;
  t.notThrows(() => whole(`${filler(limit)}\r\n${'x'.repeat(limit)}`));
  for (const text of [`${filler(limit + 1)}\r\nx`, filler(limit + 1), 'x'.repeat(limit + 3)]) {
    t.like(
      t.throws(() => whole(text), { instanceOf: UnusableHeader }),
      { fault: 'tooLarge' },
    );
  }
  const message = new SubmittedMessage({ date: DATE, messageId: MESSAGE_ID });
  const octet = Buffer.from('x');
  t.throws(() => {
    for (let i = 0; i < limit + 3; i++) message.push(octet);
  });
});
