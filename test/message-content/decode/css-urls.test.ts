// Tests the URLs of images in CSS.
import { cssUrls } from '../../../src/message-content/decode/css-urls.js';
import test from '../../support/test.js';

test('url() in all its forms', (t) => {
  const forms: readonly (readonly [css: string, urls: readonly string[]])[] = [
    ['background: url(http://a.test/1.png)', ['http://a.test/1.png']],
    [
      `b:url( "http://a.test/(1).png" ) x, URL('http://a.test/2.png')`,
      ['http://a.test/(1).png', 'http://a.test/2.png'],
    ],
    ['b:url(\n  http://a.test/1.png\t)', ['http://a.test/1.png']],
    [String.raw`b:url("http://a.test/\"1\".png")`, ['http://a.test/"1".png']],
    [String.raw`b:url(\68ttp://a.test/\000031.png)`, ['http://a.test/1.png']],
    [String.raw`b:url(http://a.test/\110000\d800 \0)`, ['http://a.test/\ufffd\ufffd\ufffd']],
    [`a{b:url(1)}/* url(2) */c{b:url(3)}`, ['1', '3']],
    [`content:"url(1)"; b:url(2)`, ['2']],
    [`@import url(1.css); @font-face { src: url(2.woff) } a { b: url(3) }`, ['3']],
    ['image-set(url(1) 1x, url("2") 2x)', ['1', '2']],
    ['b: curl(1) url', []],
    ['', []],
  ];
  for (const [css, urls] of forms) t.deepEqual([...cssUrls(css)], urls, css);
});

test('what is not closed ends the scan in linear time', (t) => {
  for (const part of ['url(', '/*', '"', '@import ', '@font-face {', 'url(\\', "'"]) {
    t.deepEqual([...cssUrls(`url(1) ${part.repeat(200_000)}`)], ['1'], part);
  }
  // Each quote ends the string that the one before begins.
  t.is([...cssUrls('url("'.repeat(200_000))].length, 100_000);
});
