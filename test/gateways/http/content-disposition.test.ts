import { attachmentDisposition } from '../../../src/gateways/http/content-disposition.js';
import test from '../../support/test.js';

test('plain names stay as they are', (t) => {
  t.is(attachmentDisposition('report 1.pdf'), 'attachment; filename="report 1.pdf"');
});

test('other names get a fallback and an extended form', (t) => {
  t.is(attachmentDisposition('naïve.txt'), `attachment; filename="na_ve.txt"; filename*=UTF-8''na%C3%AFve.txt`);
  t.is(
    attachmentDisposition(`it's (50%) *.txt`),
    `attachment; filename="it's (50_) *.txt"; filename*=UTF-8''it%27s%20%2850%25%29%20%2A.txt`,
  );
  t.is(attachmentDisposition('😀.png'), `attachment; filename="__.png"; filename*=UTF-8''%F0%9F%98%80.png`);
});

test('nothing in a name can leave the field, the line or the folder', (t) => {
  const hostile = [
    'a\r\nSet-Cookie: x=1',
    '../../etc/passwd',
    'a"; filename="b',
    'a\\"b',
    '\u202egnp.exe',
    'x\u0000y',
    '\ud800.txt',
  ];
  for (const name of hostile) {
    const field = attachmentDisposition(name);
    t.regex(
      field,
      /^attachment; filename="[^"\\]*"(; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+)?$/,
      JSON.stringify(name),
    );
    t.regex(field, /^[\x20-\x7e]+$/, JSON.stringify(name));
    t.notRegex(field, /\.\.\//);
  }
  for (const name of ['', ' ', '.', '..', '\r\n'])
    t.is(attachmentDisposition(name), 'attachment; filename="attachment"');
});

test('long names keep their end, where the extension is', (t) => {
  t.regex(attachmentDisposition(`${'a'.repeat(1000)}.tar.gz`), /^attachment; filename="a{143}\.tar\.gz"$/);
});
