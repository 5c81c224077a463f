// Tests fields of a header by name: folding, encoded words, and invalid headers.

import { decodedBodies, fieldFinder, headerText } from '../../../src/mail-format/header/field-text.js';
import { casemapped, searchForm } from '../../../src/mail-format/words/unicode-casemap.js';
import test from '../../support/test.js';
import { caseMessage } from '../cases.js';

const header = (...lines: string[]) => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'utf8');
const texts = (name: string, block: Buffer) => decodedBodies(fieldFinder(name)(block), block);

test('fields are found whatever their case, unfolded and decoded', (t) => {
  const block = header(
    'SUBJECT: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
    ' aus\tWien',
    'subject : second',
    'X-Subject: other',
    'To: a@example.org,',
    '\tb@example.org',
    'Comments: not subject: this',
    'X-Raw: fü',
    'Empty:',
  );
  t.deepEqual(texts('subject', block), ['Grüße aus Wien', 'second']);
  t.deepEqual(texts('to', block), ['a@example.org, b@example.org']);
  t.deepEqual(texts('x-raw', block), ['fü']);
  t.deepEqual(texts('empty', block), ['']);
  t.deepEqual(texts('not subject', block), []);
  t.deepEqual(texts('', block), []);
  t.deepEqual(texts('x.raw', block), []);
});

test('a field that is longer than the decoder reads at a time is read whole', (t) => {
  const addresses = Array.from({ length: 2000 }, (_, i) => `=?utf-8?q?N=C3=A4me_${i}?= <user${i}@example.org>`);
  const [text = ''] = texts('to', header(`To: ${addresses.join(',\r\n ')}`));
  for (const i of [0, 500, 1999]) t.true(text.includes(`user${i}@example.org`));
});

test('the text of a header has every field, decoded', (t) => {
  t.is(headerText(header('A: one', ' two', 'B: =?iso-8859-1?q?=FC?=')).trim(), 'A: one two\nB: ü');
  t.is(headerText(header('A: one', ' two')).trim(), 'A: one two');
});

test('texts are compared without case by i;unicode-casemap', (t) => {
  for (const [a, b] of [
    ['straße', 'STRASSE'],
    ['ΟΔΟΣ', 'οδος'],
    ['ΟΔΟΣΑ', 'οδοσα'],
    ['ﬁne', 'FINE'],
    ['e\u0301', 'É'],
    ['ı', 'I'],
  ] as const)
    t.is(casemapped(a), casemapped(b), a);
  t.not(casemapped('a'), casemapped('ä'));
  t.is(searchForm('a \r\n\t b'), 'A B');
});

test('raw octets are in the charset that the header declares', (t) => {
  const header = caseMessage('raw-subject-in-body-charset');
  const block = header.subarray(0, header.indexOf('\r\n\r\n') + 4);
  t.deepEqual(texts('subject', block), ['Привет из зоопарка']);
  t.regex(headerText(block), /Привет из зоопарка/);
});
