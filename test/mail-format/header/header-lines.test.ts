// Tests headers that are collected from a stream and split into fields: every octet is kept, however the stream is cut.

import fc from 'fast-check';
import { tagList } from '../../../src/mail-format/authentication/tag-list.js';
import { HeaderCollector } from '../../../src/mail-format/header/header-collector.js';
import { fieldValue, headerLines } from '../../../src/mail-format/header/header-lines.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const lines = (text: string) => headerLines(Buffer.from(text, 'latin1'));

test('fields with their octets', (t) => {
  const text = 'From: a@b.test\r\nSubject : folded\r\n\ton two\r\nno field\r\n continued\r\n\r\n';
  const found = lines(text);
  t.deepEqual(
    found.map(({ name }) => name),
    ['from', 'subject', ''],
  );
  t.is(fieldValue(found[1]!), ' folded\ton two');
  t.is(found.map(({ start, end }) => text.slice(start, end)).join(''), text.slice(0, -2));
  t.is(found[2]!.raw, 'no field\r\n continued');
});

test('a collected header and what follows it are the message', (t) => {
  const line = fc.constantFrom('A: b\r\n', 'C: d\r\n e\r\n', '\r\n', 'body\r\n', '\r', '\n', 'x');
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.integer({ min: 1, max: 9 }), (parts, size) => {
      const text = parts.join('');
      const collector = new HeaderCollector();
      let body: string | undefined;
      for (const piece of text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []) {
        if (body !== undefined) body += piece;
        else body = collector.push(Buffer.from(piece))?.toString();
      }
      const end = `\r\n${text}`.indexOf('\r\n\r\n');
      const header = end < 0 ? text : text.slice(0, end + 2);
      t.is(collector.header().toString(), header);
      t.is(collector.length, header.length);
      t.is(body, end < 0 ? undefined : text.slice(header.length));
    }),
    { numRuns: runs(1000) },
  );
});

test('tag lists are read strictly', (t) => {
  t.deepEqual(
    [...tagList(' v=1; a = rsa-sha256;\r\n\tb=ab\r\n cd;')!],
    [
      ['v', '1'],
      ['a', 'rsa-sha256'],
      ['b', 'ab\r\n cd'],
    ],
  );
  for (const text of [
    '',
    'v',
    'v=1; v=1',
    'v=1;;a=b',
    '=1',
    'v=\u0001',
    'v=é',
    '__proto__=1',
    'a b=c',
    `a${'=;a'.repeat(200)}`,
  ])
    t.is(tagList(text), undefined, text);
});
