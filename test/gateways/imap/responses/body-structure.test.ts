// Tests BODYSTRUCTURE and BODY from the MIME index of messages written by hand.

import { bodyStructureOf, embeddedMessages } from '../../../../src/gateways/imap/responses/body-structure.js';
import { envelopeOf } from '../../../../src/gateways/imap/responses/envelope.js';
import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import test from '../../../support/test.js';

function structure(message: string, isExtended = true): string {
  const octets = Buffer.from(message.replaceAll('\n', '\r\n'));
  const { root } = indexMessage(octets);
  const envelopes = new Map(
    embeddedMessages(root).map((part) => [part, envelopeOf(octets.subarray(part.headerStart, part.bodyStart))]),
  );
  return bodyStructureOf(root, envelopes, isExtended);
}

test('text without a type', (t) => {
  t.is(
    structure('Subject: x\n\none\ntwo\n'),
    '("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 10 2 NIL NIL NIL NIL)',
  );
  t.is(structure('Subject: x\n\none\ntwo', false), '("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 8 1)');
});

test('a multipart without parts is text', (t) => {
  t.is(
    structure('Content-Type: multipart/mixed; boundary=b\n\nx\n'),
    '("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 3 1 NIL NIL NIL NIL)',
  );
});

test('fields of a part: id, description, MD5, disposition, language, location, and parameters beyond ASCII', (t) => {
  const text = structure(`Content-Type: multipart/mixed; boundary=b

--b
Content-Type: APPLICATION/Pdf; name="a \\"b\\".pdf"
Content-ID: <1@x>
Content-Description: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
Content-Transfer-Encoding: Base64
Content-Disposition: ATTACHMENT; filename*=utf-8''gr%C3%BC%C3%9Fe%2epdf; size=3
Content-Language: de, en
Content-Location: http://x.test/a
Content-MD5: (a comment) kAFQmDzST7DWlj99KOF/cg==

YWJj
--b--
`);
  t.is(
    text,
    '(("application" "pdf" ("name" "a \\"b\\".pdf") "<1@x>" "=?utf-8?B?R3LDvMOfZQ==?=" "base64" 4 "kAFQmDzST7DWlj99KOF/cg==" ' +
      '("attachment" ("size" "3" "filename*" "utf-8\'\'gr%C3%BC%C3%9Fe.pdf")) ("de" "en") "http://x.test/a") ' +
      '"mixed" ("boundary" "b") NIL NIL NIL)',
  );
});

test('a Content-MD5 that is no digest of 16 octets is as if it were not there', (t) => {
  for (const value of [
    'xkAFQmDzST7DWlj99KOF/cg==',
    'kAFQmDzST7DWlj99KOF_cg==',
    'kAFQmDzST7DWlj99KOF/cg===',
    'cg==',
    '',
  ]) {
    t.is(
      structure(`Content-MD5: ${value}\n\nx\n`),
      '("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 3 1 NIL NIL NIL NIL)',
      value,
    );
  }
});

const EMBEDDED = `Content-Type: multipart/digest; boundary=b

--b

Subject: one
From: a@b.test

text
--b
Content-Type: message/rfc822
Content-Transfer-Encoding: x-zip

U3ViamVjdDogeAoKeA==
--b--
`;

test('an MD5 that is none is not shown', (t) => {
  const shown = structure('Subject: x\n\none\n');
  for (const digest of [
    '0123456789kAFQmDzST7DWlj99KOF/cg==',
    'kAFQmDzST7_Wlj99KOF/cg==',
    'kAFQmDzST7DWlj99KOF/cg==0=',
  ]) {
    t.is(structure(`Subject: x\nContent-MD5: ${digest}\n\none\n`), shown, digest);
  }
});

test('an embedded message has its envelope, its structure and its lines; one in an unknown encoding is octets', (t) => {
  const author = '((NIL NIL "a" "b.test"))';
  t.is(
    structure(EMBEDDED, false),
    `(("message" "rfc822" NIL NIL NIL "7bit" 36 (NIL "one" ${author} ${author} ${author} NIL NIL NIL NIL NIL) ` +
      '("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 4 0) 3)' +
      '("application" "octet-stream" NIL NIL NIL "x-zip" 20) "digest")',
  );
});

test('a long description is several encoded words of whole characters', (t) => {
  const text = structure(`Content-Description: ${'\u{20000}é'.repeat(40)}\n\n`);
  const words = /"((?:=\?utf-8\?B\?[^"]*)+)"/.exec(text)![1]!.split(' ');
  t.true(words.every((word) => word.length <= 75));
  t.is(words.map((word) => Buffer.from(word.slice(10, -2), 'base64').toString()).join(''), '\u{20000}é'.repeat(40));
});
