// Tests comments in the fields of a part (RFC 2045 §5.1), and parentheses that are no comments.

import { withoutComments } from '../../../src/mail-format/mime-index/field-comments.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import test from '../../support/test.js';

const rootOf = (...lines: string[]) => indexMessage(Buffer.from(lines.join('\r\n'))).root;

test('the example of RFC 2045', (t) => {
  const { type, subtype, params } = rootOf('Content-Type: text/html; charset=iso-8859-1 (Western text)', '', 'x');
  t.deepEqual({ type, subtype, params }, { type: 'text', subtype: 'html', params: { charset: 'iso-8859-1' } });
});

test('a multipart has its parts whatever comments its type has', (t) => {
  for (const field of [
    'multipart/mixed (two parts); boundary="b"',
    'multipart/mixed; boundary="b" (not in a part)',
    'multipart/mixed; boundary=b (one) (two \\) (nested)); x=y',
    '(first) multipart (of) / (some) mixed; boundary (is) = (it) b',
  ]) {
    const root = rootOf(`Content-Type: ${field}`, '', '--b', '', 'one', '--b', '', 'two', '--b--', '');
    t.is(root.parts.length, 2, field);
    t.is(root.params['boundary'], 'b', field);
  }
});

test('encoding and disposition', (t) => {
  const root = rootOf(
    'Content-Type: application/pdf',
    'Content-Transfer-Encoding: (as usual) base64 (RFC 2045)',
    'Content-Disposition: (to be saved) attachment (yes); filename="a (1).pdf" (a name)',
    'Content-Language: (mostly) de, en (a bit)',
    '',
    'eA==',
  );
  t.is(root.encoding, 'base64');
  t.is(root.disposition, 'attachment');
  t.deepEqual(root.dispositionParams, { filename: 'a (1).pdf' });
  t.deepEqual(root.language, ['de', 'en']);
});

test('parentheses of a file name without quotes are kept', (t) => {
  const nameOf = (field: string) => rootOf(`Content-Disposition: ${field}`, '', '').dispositionParams['filename'];
  t.is(nameOf('attachment; filename=report (1).pdf'), 'report (1).pdf');
  t.is(nameOf('attachment; filename=report(1).pdf; size=3'), 'report(1).pdf');
  t.is(nameOf('attachment; filename="(1)"; size=3'), '(1)');
});

test('parentheses that a token touches are of the value', (t) => {
  t.is(withoutComments('multipart/mixed; boundary=Boundary_(ID_1)'), 'multipart/mixed; boundary=Boundary_(ID_1)');
  t.is(withoutComments('attachment; filename=report(1); size=3'), 'attachment; filename=report(1); size=3');
  t.is(withoutComments('a; b="c"(d);(e)f=(g)h'), 'a; b="c" ; f= h');
});

test('comments that do not end, and many of them', (t) => {
  t.is(withoutComments('a; b=c (never'), 'a; b=c');
  t.is(withoutComments('a; b="(c'), 'a; b="(c');
  t.is(withoutComments(`a${' (x'.repeat(100_000)}`), 'a');
  t.is(withoutComments('(x);'.repeat(20_000)), Array(20_000).fill(';').join(' '));
});
