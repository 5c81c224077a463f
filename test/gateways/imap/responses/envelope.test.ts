// Tests ENVELOPE from header octets: every form of address, and octets that stay as they are.

import { envelopeOf } from '../../../../src/gateways/imap/responses/envelope.js';
import test from '../../../support/test.js';

const envelope = (header: string) => envelopeOf(Buffer.from(header.replaceAll('\n', '\r\n'), 'latin1'));
const NONE = 'NIL NIL NIL NIL NIL NIL NIL NIL NIL NIL';

test('every field', (t) => {
  const text = envelope(`Return-Path: <x@y.test>
Date: Sat, 21 Nov 2026 13:10:19 +0100 (CET)
From: "Ada \\"L\\" Lovelace" <ada@example.test>
Sender: secretary@example.test
Reply-To: Answers <answers@example.test>
To: one@example.test, Two <two@example.test>
Cc: =?utf-8?q?Andr=C3=A9?= <andre@example.test>
Bcc: hidden@example.test
Subject: =?utf-8?b?w6k=?= and \\ and "quotes"
In-Reply-To: <1@example.test>
Message-ID: <2@example.test>

`);
  t.is(
    text,
    '("Sat, 21 Nov 2026 13:10:19 +0100 (CET)" "=?utf-8?b?w6k=?= and \\\\ and \\"quotes\\"" ' +
      '(("Ada \\"L\\" Lovelace" NIL "ada" "example.test")) ((NIL NIL "secretary" "example.test")) ' +
      '(("Answers" NIL "answers" "example.test")) ' +
      '((NIL NIL "one" "example.test")("Two" NIL "two" "example.test")) ' +
      '(("=?utf-8?q?Andr=C3=A9?=" NIL "andre" "example.test")) ((NIL NIL "hidden" "example.test")) ' +
      '"<1@example.test>" "<2@example.test>")',
  );
});

test('what is missing is NIL; Sender and Reply-To default to From; an empty subject is empty', (t) => {
  t.is(envelope('\n'), `(${NONE})`);
  t.is(envelope(''), `(${NONE})`);
  const author = '((NIL NIL "a" "b.test"))';
  t.is(envelope('From: a@b.test\nSender:\nSubject:\n\n'), `(NIL "" ${author} ${author} ${author} NIL NIL NIL NIL NIL)`);
});

test('of several fields of a name the first; names in any case, folds and space before the colon', (t) => {
  const text = envelope('X: y\nSUBJECT : first\n\tfolded\n  twice\nSubject: second\n continued\nsubjects: no\n\n');
  t.is(text, '(NIL "first folded twice" NIL NIL NIL NIL NIL NIL NIL NIL)');
});

const to = (field: string) => {
  const text = envelope(`To: ${field}\n\n`);
  return text.slice('(NIL NIL NIL NIL NIL '.length, -' NIL NIL NIL NIL)'.length);
};

const ADDRESSES: readonly (readonly [field: string, list: string])[] = [
  ['undisclosed-recipients:;', '((NIL NIL "undisclosed-recipients" NIL)(NIL NIL NIL NIL))'],
  [
    'A Group: Ed <ed@x.test>, joe@y.test; z@z.test',
    '((NIL NIL "A Group" NIL)("Ed" NIL "ed" "x.test")(NIL NIL "joe" "y.test")(NIL NIL NIL NIL)(NIL NIL "z" "z.test"))',
  ],
  ['"Group, quoted": a@b.test', '((NIL NIL "Group, quoted" NIL)(NIL NIL "a" "b.test")(NIL NIL NIL NIL))'],
  ['a@b.test (The Name)', '(("The Name" NIL "a" "b.test"))'],
  ['Name (a (nested\\) one)) <a(x)@b.test>', '(("Name" NIL "a" "b.test"))'],
  ['a . b @ c . test', '((NIL NIL "a.b" "c.test"))'],
  ['"john doe"@b.test', '((NIL NIL "john doe" "b.test"))'],
  ['"a\\"b" <"x@y"@[192.0.2.1]>', '(("a\\"b" NIL "x@y" "[192.0.2.1]"))'],
  ['<@one.test,@two.test:a@b.test>', '((NIL "@one.test,@two.test" "a" "b.test"))'],
  ['A B\n\tC <a@b.test>', '(("A B C" NIL "a" "b.test"))'],
  ['J. R. Doe <a@b.test>', '(("J. R. Doe" NIL "a" "b.test"))'],
  ['"a" b <a@b.test>,, ,c@d.test', '(("a b" NIL "a" "b.test")(NIL NIL "c" "d.test"))'],
  ['root', '((NIL NIL "root" "MISSING_DOMAIN"))'],
  ['Name <root>', '(("Name" NIL "root" "MISSING_DOMAIN"))'],
  ['Name <>', '(("Name" NIL "MISSING_MAILBOX" "MISSING_DOMAIN"))'],
  ['Bo <a@b.test', '(("Bo" NIL "a" "b.test"))'],
  ['Bo a@b.test', '(("Bo" NIL "a" "b.test"))'],
  ['"unclosed <a@b.test>', '((NIL NIL "unclosed <a@b.test>" "MISSING_DOMAIN"))'],
  [';', 'NIL'],
  [', ,', 'NIL'],
  ['(only a comment)', 'NIL'],
];

for (const [field, list] of ADDRESSES) {
  test(`addresses: ${JSON.stringify(field)}`, (t) => {
    t.is(to(field), list);
  });
}

test('octets with the eighth bit are in literals; NUL becomes U+FFFD', (t) => {
  t.is(to('J\xf6rg <a@b.test>'), '(({4}\r\nJ\xf6rg NIL "a" "b.test"))');
  t.true(envelope('Subject: caf\xc3\xa9\n\n').startsWith('(NIL {5}\r\ncaf\xc3\xa9 NIL'));
  t.true(envelope('Subject: a\0b\n\n').startsWith('(NIL {5}\r\na\xef\xbf\xbdb NIL'));
});

test('hostile fields take linear time', (t) => {
  for (const shard of ['(', '"', '<', '[', ':', 'a ', '.', '@', '\\', 'a:', '<@', ',']) {
    t.is(typeof envelope(`To: ${shard.repeat(200_000)}\n\n`), 'string');
  }
});
