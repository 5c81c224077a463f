// Tests the text of parts in the charsets of real mail, and in unknown ones.

import iconv from 'iconv-lite';
import { decodeCharset } from '../../../src/mail-format/decode/charset.js';
import { htmlText } from '../../../src/mail-format/decode/html-text.js';
import { textOf } from '../../../src/mail-format/decode/part-text.js';
import test from '../../support/test.js';

const plain = { subtype: 'plain', encoding: '7bit', params: {} };

test('charsets', (t) => {
  t.is(decodeCharset(Buffer.from('\x1b$BF|K\\\x1b(B'), 'ISO-2022-JP'), '日本');
  t.is(decodeCharset(Buffer.from([0x80, 0x93]), 'windows-1252'), '€“');
  t.is(decodeCharset(Buffer.from([0x80, 0xe9]), 'iso-8859-1'), '€é');
  t.is(decodeCharset(iconv.encode('Привет', 'koi8-r'), '"KOI8-R"'.replaceAll('"', '')), 'Привет');
  t.is(decodeCharset(iconv.encode('你好𠀀', 'gb18030'), 'GB18030'), '你好𠀀');
  t.is(decodeCharset(iconv.encode('安녕', 'utf-7'), 'utf-7'), '安녕');
  t.is(decodeCharset(iconv.encode('Привет', 'win1251'), 'cp1251'), 'Привет');
  t.is(decodeCharset(Buffer.from('été'), undefined), 'été');
  t.is(decodeCharset(Buffer.from('été', 'latin1'), 'us-ascii'), 'été');
  t.is(decodeCharset(Buffer.from('été', 'latin1'), 'klingon-8'), 'été');
  t.is(decodeCharset(Buffer.from('été'), 'x'.repeat(10_000)), 'été');
  t.is(decodeCharset(Buffer.from([0x61, 0xff]), 'utf-8'), 'a\ufffd');
});

test('flowed text is unwrapped, line ends are line feeds', (t) => {
  const flowed = { ...plain, params: { format: 'Flowed' } };
  t.is(textOf(flowed, Buffer.from('one \r\ntwo\r\nthree')), 'one two\nthree');
  t.is(textOf(plain, Buffer.from('one \r\ntwo')), 'one \ntwo');
});

test('html names its charset inside where the header does not', (t) => {
  const octets = Buffer.from('<html><head><meta charset="windows-1251"></head>\xcf', 'latin1');
  t.true(textOf({ ...plain, subtype: 'html' }, octets).endsWith('П'));
});

test('nothing that the store refuses', (t) => {
  t.is(textOf(plain, Buffer.from('a\0b')), 'ab');
  t.is(textOf({ ...plain, params: { charset: 'utf-16le' } }, Buffer.from([0x00, 0xd8, 0x61, 0x00])), '\ufffda');
});

test('html to text', (t) => {
  t.is(htmlText('<style>p{}</style><p>a &amp; <b>b</b><!-- c --> 1 < 2</p>d').trim(), 'a & b 1 < 2\nd');
  t.is(htmlText('a<script>x</script>b<style>c'), 'ab');
  t.is(htmlText('a<'), 'a<');
  t.is(htmlText('a<b'), 'a');
});
