// Tests which images of an HTML body are found.
import { MOST_IMAGES, remoteImages } from '../../../src/message-content/decode/remote-images.js';
import test from '../../support/test.js';

test('every way to show an image, once each, in the order of the text', async (t) => {
  const html = `<!doctype html><style>p { background: url("http://a.test/style.png") }</style>
    <body background='http://a.test/body.png'>
    <IMG SRC=http://a.test/img.png alt="a &gt; b">
    <img src="https://a.test/set.png" srcset="https://a.test/1x.png, https://a.test/2x.png 2x,,https://a.test/a,b.png 3x">
    <picture><source srcset="https://a.test/wide.avif 800w"><img src="https://a.test/narrow.png"></picture>
    <input type=" Image" src="https://a.test/button.png"><input type=text src="https://a.test/no.png">
    <table background="https://a.test/table.png"><td style="background-image:url(&quot;https://a.test/cell.png?a=1&amp;b=2&quot;)">
    <img src="https://a.test/img.png"><img src="http://a.test/img.png"/>`;
  t.deepEqual(await remoteImages(html), [
    'http://a.test/style.png',
    'http://a.test/body.png',
    'http://a.test/img.png',
    'https://a.test/set.png',
    'https://a.test/1x.png',
    'https://a.test/2x.png',
    'https://a.test/a,b.png',
    'https://a.test/wide.avif',
    'https://a.test/narrow.png',
    'https://a.test/button.png',
    'https://a.test/table.png',
    'https://a.test/cell.png?a=1&b=2',
    'https://a.test/img.png',
  ]);
});

test('URLs are written as browsers write them', async (t) => {
  const forms: readonly (readonly [src: string, url: string])[] = [
    [' HTTP://A.test:80/x y.png\n', 'http://a.test/x%20y.png'],
    ['ht\ntps://a.test/1.png#f', 'https://a.test/1.png#f'],
    ['//a.test/1.png', 'https://a.test/1.png'],
    ['https:\\\\a.test\\1.png', 'https://a.test/1.png'],
    ['https://münchen.test/ß.png', 'https://xn--mnchen-3ya.test/%C3%9F.png'],
    ['&#104;ttps://a.test/&#x31;.png', 'https://a.test/1.png'],
    ['https://127.1:8080/x.png', 'https://127.0.0.1:8080/x.png'],
    ['https://user:secret@a.test/1.png', 'https://user:secret@a.test/1.png'],
  ];
  for (const [src, url] of forms) t.deepEqual(await remoteImages(`<img src="${src}">`), [url], src);
});

test('what is not remote, no image or no attribute of a tag', async (t) => {
  const html = `<img src="cid:1"><img src="data:image/png;base64,AAAA"><img src="/a.png"><img src="a.png"><img src="">
    <img src="javascript:alert(1)"><img src="ftp://a.test/1.png"><img src="file:///etc/passwd"><img src="https://">
    <img src="cid:2" src="https://a.test/second.png"><script src="https://a.test/x.js"></script>
    <a href="https://a.test/link">x</a><!-- <img src="https://a.test/comment.png"> --><link rel=stylesheet href="https://a.test/x.css">
    <iframe src="https://a.test/frame"></iframe><style>/* url(https://a.test/no.png) */</style>
    <p title='<img src="https://a.test/text.png">'>url(https://a.test/plain.png)</p><img src="https://a.test/${'x'.repeat(2048)}">
    <script>'<img src="https://a.test/script.png">'</script>`;
  t.deepEqual(await remoteImages(html), []);
  t.deepEqual(await remoteImages(''), []);
});

test('a style element that is not closed, and pieces that the steps of the scan cut', async (t) => {
  t.deepEqual(await remoteImages('<style>p{background:url(https://a.test/1.png)}'), ['https://a.test/1.png']);
  const url = 'https://a.test/&amp;.png';
  const around = 'x'.repeat(64 * 1024);
  for (let cut = 1; cut < 40; cut++) {
    const html = `${around.slice(cut)}<img src="${url}"><style>p{b:url(https://a.test/2.png)}</style>`;
    t.deepEqual(await remoteImages(html), ['https://a.test/&.png', 'https://a.test/2.png'], String(cut));
  }
});

test('the number of images is bounded, and hostile bodies are read in linear time', async (t) => {
  const many = Array.from({ length: MOST_IMAGES + 10 }, (_, i) => `<img src="https://a.test/${i}.png">`).join('');
  const found = await remoteImages(many);
  t.is(found.length, MOST_IMAGES);
  t.is(found.at(-1), `https://a.test/${MOST_IMAGES - 1}.png`);
  const hostile = [
    '<div>',
    '</x>',
    '<img srcset=",',
    '<',
    '<!--',
    '&amp',
    '<p style="url(',
    'a="',
    '<style>',
    '<img src=',
  ];
  for (const part of hostile) {
    t.true((await remoteImages(part.repeat(1_000_000 / part.length))).length <= 1, part);
  }
  for (const list of [
    ','.repeat(900_000),
    ' '.repeat(900_000),
    `${','.repeat(900_000)}x`,
    `${' ,'.repeat(450_000)}x`,
  ]) {
    t.deepEqual(await remoteImages(`<img srcset="${list}">`), []);
  }
});
