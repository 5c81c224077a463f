// Tests that long header lines are folded so that every reader unfolds the original.

import fc from 'fast-check';
import { foldedHeader } from '../../../src/mail-format/header/header-folding.js';
import test from '../../support/test.js';

const fold = (header: string) => foldedHeader(Buffer.from(header, 'latin1'))?.toString('latin1');
const unfolded = (header: string) => header.replace(/\r\n(?=[ \t])/g, '');
const lines = (header: string) => header.split('\r\n').slice(0, -1);
const many = (count: number, one: (i: number) => string, between: string) =>
  Array.from({ length: count }, (_, i) => one(i)).join(between);

test('recipients, references and subjects are folded at white space', (t) => {
  const recipients = many(60, (i) => `"Person, Number ${i}" <person.${i}@example.test>`, ', ');
  const references = many(60, (i) => `<${i}.abcdefghijklmnop@example.test>`, ' ');
  const header =
    `To: ${recipients}\r\nX-Short: kept  as\r\n\tit is \r\nReferences: ${references}\r\n` +
    `Subject: ${many(300, (i) => `word${i}`, ' ')}\r\n`;
  const folded = fold(header)!;
  t.is(unfolded(folded), unfolded(header));
  t.true(folded.includes('X-Short: kept  as\r\n\tit is \r\n'));
  for (const line of lines(folded)) t.true(line.length <= 78 && line.trim() !== '', line);
});

test('lists without white space are folded behind their separators, outside of quotes and comments', (t) => {
  const recipients = many(60, (i) => `"a,b"<person.${i}@example.test>(c,d)`, ',');
  const folded = fold(`Cc: ${recipients}\r\n`)!;
  t.is(unfolded(folded).replaceAll(', ', ','), `Cc: ${recipients}\r\n`);
  t.false(/a,\r\n|c,\r\n/.test(folded));
  const references = many(60, (i) => `<${i}.abcdefghijklmnop@example.test>`, '');
  const ids = fold(`References: ${references}\r\n`)!;
  t.is(unfolded(ids).replaceAll('> <', '><'), `References: ${references}\r\n`);
  const parameters = fold(`Content-Type: text/plain;${many(60, (i) => `a${i}="${'x'.repeat(30)}"`, ';')}\r\n`)!;
  for (const line of [...lines(folded), ...lines(ids), ...lines(parameters)]) t.true(line.length <= 78, line);
  // An unstructured field has no other place for white space.
  t.is(fold(`Subject: ${many(300, (i) => `word${i}`, ',')}\r\n`), undefined);
});

test('a line is broken after the name only when nothing else helps', (t) => {
  t.is(fold(`X: ${'x'.repeat(996)}\r\n`), `X:\r\n ${'x'.repeat(996)}\r\n`);
  t.is(fold(`X: ${'x'.repeat(500)} ${'y'.repeat(996)}\r\n`), `X: ${'x'.repeat(500)}\r\n ${'y'.repeat(996)}\r\n`);
  t.is(fold(`X: ${'x'.repeat(998)}\r\n`), undefined);
  t.is(fold(`X:${'x'.repeat(998)}\r\n`), undefined);
  t.is(fold(`X: x${' '.repeat(1000)}\r\n`), undefined);
  t.is(fold(`X: x${' '.repeat(1000)}y\r\n`), undefined);
  t.is(fold(`To: "${'\\ '.repeat(500)}" <a@b.test>\r\n`), undefined);
});

test('whatever is folded unfolds to the same octets', (t) => {
  const piece = fc.constantFrom(
    ' ',
    '\t',
    '  ',
    ',',
    '"',
    '\\',
    '(',
    ')',
    '[',
    '<a@b>',
    'x'.repeat(90),
    'word',
    '\r\n ',
  );
  const name = fc.constantFrom('To', 'Subject', 'References', 'Content-Type', 'X-Own');
  fc.assert(
    fc.property(name, fc.array(piece, { minLength: 20, maxLength: 200 }), (field, pieces) => {
      const header = `${field}: a${pieces.join('')}b\r\n`;
      const folded = fold(header);
      if (folded === undefined) return;
      t.true(lines(folded).every((line) => line.length <= 998));
      const plain = (text: string) => unfolded(text).replace(/(?<=[,;>]) /g, '');
      t.is(plain(folded), plain(header));
      t.false(/\r\n[ \t]+\r\n/.test(folded) && !/\r\n[ \t]+\r\n/.test(header));
    }),
  );
});
