// Tests the author domains of a message, and From fields whose author is unknown.

import { authorsOf } from '../../../src/mail-format/authentication/author-domains.js';
import { headerLines } from '../../../src/mail-format/header/header-lines.js';
import test from '../../support/test.js';

const authors = (text: string) => authorsOf(headerLines(Buffer.from(text, 'latin1')));
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

test('authors, in every form people are shown', (t) => {
  const domains = (text: string) => authors(text).domains;
  t.deepEqual(domains('From: A <a@One.Test>\r\n'), ['one.test']);
  t.deepEqual(domains('From: a@one.test, "B" <b@two.test>\r\nFrom: c@three.test\r\n'), [
    'one.test',
    'two.test',
    'three.test',
  ]);
  t.deepEqual(domains('From: "boss@bank.test" <x@evil.test>\r\n'), ['evil.test']);
  t.deepEqual(domains(`From: ${'l'.repeat(90)}@one.test\r\n`), ['one.test']);
  t.deepEqual(domains(utf8('From: <a@bücher.test>\r\n')), ['xn--bcher-kva.test']);
  t.deepEqual(domains(utf8('From: <a@b①nk.test>\r\n')), ['b1nk.test']);
  t.deepEqual(domains('From: a@x_y.test\r\n'), ['x_y.test']);
  t.deepEqual(domains('From: nobody\r\nSender: a@b.test\r\n'), []);
  t.deepEqual(domains('Subject: x\r\n'), []);
});

test('a From field that can be read in one way has no fault, whatever its display names', (t) => {
  const fields = [
    'a@bank.test',
    '<a@bank.test>',
    'A <a@bank.test>',
    '"A, B" <a@bank.test>',
    'Bank, Inc. <a@bank.test>',
    'Bank: news <a@bank.test>',
    'a@bank.test <a@bank.test>',
    'Desk @ Bank <a@bank.test>',
    'smile :) <a@bank.test>',
    "O'Neill <a@bank.test>",
    '"say \\"hi\\"" <a@bank.test>',
    'a@bank.test (A (the first))',
    '"a b"@bank.test',
    '<"a@b"@bank.test>',
    'A <a@bank.test>, "B" <b@bank.test>',
    'Group: a@bank.test, b@bank.test;',
    '=?utf-8?q?a=40evil.test_=22?= <a@bank.test>',
    'A\r\n <a@bank.test>',
    'Pat(a nice \\) zebra) <pat(her account)@bank.test(her host)>',
    'a@(the host.)bank.test, b @ bank . test',
    '<a(x (y) z)@(w)bank(v).(u)test> (t)',
    'a@bank.test (ceo@other.test)',
    '(ceo@other.test) A (ceo@other.test) <a@bank.test> (ceo@other.test)',
  ];
  for (const field of fields)
    t.deepEqual(authors(`From: ${field}\r\n`), { domains: ['bank.test'], fault: undefined }, field);
});

test('a From field that is not there, stands twice or can be read in several ways is a fault', (t) => {
  const faults = (text: string) => authors(text).fault;
  t.is(faults('Subject: x\r\nSender: ceo@bank.test\r\n'), 'missing');
  t.is(faults('From: a@evil.test\r\nFrom: ceo@bank.test\r\n'), 'multiple');
  t.is(faults('From : a@evil.test\r\nfrom: a@evil.test\r\n'), 'multiple');
  // A byte order mark, or another octet that some programs do not see, precedes the field.
  t.is(faults(utf8('\ufeffFrom: ceo@bank.test\r\nFrom: a@evil.test\r\n')), 'multiple');
  t.is(faults(utf8('\u200bFrom: ceo@bank.test\r\nFrom: a@evil.test\r\n')), 'multiple');
  t.deepEqual(authors(utf8('\ufeffFrom: ceo@bank.test\r\n')), { domains: ['bank.test'], fault: undefined });
  const malformed = [
    '',
    ' ',
    'nobody',
    'A <>',
    'Group:;',
    '"x <ceo@bank.test>',
    'x" <ceo@bank.test>',
    '(x <ceo@bank.test>',
    'A <ceo@bank.test',
    'A ceo@bank.test>',
    '<ceo@bank.test> <a@evil.test>',
    'a@evil.test ceo@bank.test',
    '<a@evil.test> ceo@bank.test',
    '<a@evil.test ceo@bank.test>',
    '<<ceo@bank.test>a@evil.test>',
    '<a@evil.test>, <ceo@>',
    'a@evil.test\0, ceo@bank.test',
    '=?utf-8?q?ceo=40bank.test?=',
    '<a(ceo@bank.test)@evil.test>',
    'a(ceo@bank.test)@evil.test',
    'a@((<ceo@bank.test>))evil.test',
    '<a@(<ceo>)evil.test>',
    `${'x'.repeat(5000)} <a@bank.test>`,
    Array.from({ length: 60 }, (_, i) => `a${i}@bank.test`).join(', '),
  ];
  for (const field of malformed) t.is(faults(`From: ${field}\r\n`), 'malformed', field);
});
