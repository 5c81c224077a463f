// Tests that the preview is the start of the first text that has words.

import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import test from '../../support/test.js';
import { caseIndex } from '../cases.js';

function preview(subtype: string, ...parts: string[]): string {
  const written = parts.map((part) => `--b\r\n${part}\r\n`).join('');
  return indexMessage(Buffer.from(`Content-Type: multipart/${subtype}; boundary=b\r\n\r\n${written}--b--\r\n`)).preview;
}

const plain = (text: string) => `Content-Type: text/plain; charset=utf-8\r\n\r\n${text}`;
const html = (text: string) => `Content-Type: text/html; charset=utf-8\r\n\r\n${text}`;
const base64 = (text: string) =>
  `Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(text).toString('base64')}`;
const image = 'Content-Type: image/png\r\n\r\nPNG';

test('an alternative in an alternative', (t) => {
  const index = caseIndex('nested-alternative');
  t.is(index.preview, 'plain quagga');
  t.deepEqual([index.textSections, index.htmlSections], [['1.1'], ['1.2']]);
});

test('of the next part when the first ones are empty', (t) => {
  t.is(preview('mixed', plain(''), plain('words')), 'words');
  t.is(preview('mixed', plain(' \r\n\u00a0\u200b\r\n'), image, plain('words')), 'words');
  t.is(preview('mixed', base64('\n'), base64('words')), 'words');
  t.is(preview('mixed', ...Array.from({ length: 50 }, () => plain('')), plain('words')), 'words');
  t.is(preview('alternative', plain(''), html('<p>words')), 'words');
  // Apple Mail puts files between the pieces of its html.
  const empty = html('<html><head><style>p { color: red }</style></head><body><br></body></html>');
  t.is(preview('mixed', empty, image, html('<p>words')), 'words');
  t.is(preview('mixed', html(''), plain('words')), 'words');
});

test('of the root of a related, wherever it stands', (t) => {
  const related = (...parts: string[]) => {
    const written = parts.map((part) => `--r\r\n${part}\r\n`).join('');
    return `Content-Type: multipart/related; boundary=r; start="<root@x>"\r\n\r\n${written}--r--`;
  };
  const page = html('beside').replace('\r\n', '\r\nContent-ID: <page@x>\r\n');
  const root = html('words').replace('\r\n', '\r\nContent-ID: <root@x>\r\n');
  t.is(preview('mixed', related(page, root)), 'words');
});

test('within a bound of work', (t) => {
  const style = html(`<style>${'p'.repeat(40_000)}</style>`);
  const blank = (count: number) => Array.from({ length: count }, () => style);
  t.is(preview('mixed', ...blank(5), html('words')), 'words');
  t.is(preview('mixed', ...blank(900), html('words')), '');
});

test('none without words', (t) => {
  t.is(preview('mixed', plain(''), html('<br>')), '');
  t.is(preview('mixed', image), '');
});
