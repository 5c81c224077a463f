import { testWith } from '../../../support/test-with.js';
import { HTML_VECTORS } from '../../hostile/html-vectors.js';
import { STYLE_VECTORS } from '../../hostile/style-vectors.js';
import { openSafeMailPage, type SafeOptions } from './safe-mail-page.js';

const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=';
const LINK = 'target="_blank" rel="noopener noreferrer"';

/** Each body begins with `<body dir="auto">`. */
const CASES: readonly (readonly [name: string, html: string, body: string, options?: SafeOptions])[] = [
  ['text is escaped', 'a &lt;b&gt; &amp;c', 'a &lt;b&gt; &amp;c'],
  ['plain elements stay', '<h1>a</h1><p align="center">b<br>c</p>', '<h1>a</h1><p align="center">b<br>c</p>'],
  ['unknown elements leave their content', '<foo>a</foo><button>b</button><form>c</form>', 'abc'],
  [
    'elements without text for a reader go',
    '<svg><text>a</text></svg><select><option>b</select><video>c</video>d',
    'd',
  ],
  ['an attribute belongs to its element', '<p href="https://a.test" colspan="2">a</p>', '<p>a</p>'],
  [
    'tables stay',
    '<table width="10"><tr><td colspan="2">a',
    '<table width="10"><tbody><tr><td colspan="2">a</td></tr></tbody></table>',
  ],
  [
    'a link opens a window and says where it leads',
    '<a href="https://a.test/?b&amp;c" title="d">e</a>',
    `<a href="https://a.test/?b&amp;c" title="https://a.test/?b&amp;c" ${LINK}>e</a>`,
  ],
  [
    'a link whose text names another place says so',
    '<a href="https://a.test/">https://b.test</a>',
    `<a href="https://a.test/" title="https://a.test/" ${LINK}>https://b.test</a> <span class="mansio-destination">leads to a.test</span>`,
  ],
  [
    'a link to a place in the mail stays in the frame',
    '<a href="#a">b</a><p id="a">c</p>',
    '<a href="about:srcdoc#a">b</a><p id="a">c</p>',
  ],
  [
    'a link to what is no place on the web is text',
    '<a href="/api/emails">a</a><a href="x:y">b</a>',
    '<a>a</a><a>b</a>',
  ],
  ['classes of the page are its own', '<p class="mansio-quote a mansio-destination">b</p>', '<p class="a">b</p>'],
  ['a line feed at the start of pre stays', '<pre>\n\na</pre>', '<pre>\n\na</pre>'],
  ['an image of the web has no source', '<img src="https://a.test/b" alt="c">', '<img alt="c">'],
  [
    'an image of the web that was asked for comes from the proxy',
    '<img src="https://a.test/b"><img src="https://a.test/c">',
    '<img src="/api/image-proxy?a&amp;b"><img>',
    { remote: { 'https://a.test/b': '/api/image-proxy?a&b' } },
  ],
  [
    'an attached image comes from its data',
    '<img src="CID:a%40b"><img src="cid:c">',
    `<img src="${PIXEL}"><img>`,
    { byContentId: { 'a@b': PIXEL } },
  ],
  ['an image in the mail stays', `<img src="${PIXEL}"><img src="data:image/svg+xml,x">`, `<img src="${PIXEL}"><img>`],
  [
    'inline styles become classes',
    '<p style="color:red">a</p><p style="color: red; position: fixed">b</p>',
    '<p class="mansio-s0">a</p><p class="mansio-s0">b</p>',
  ],
  [
    'the quotation at the end is folded',
    '<p>a</p><blockquote type="cite">b<blockquote type="cite">c</blockquote></blockquote>',
    '<p>a</p><details class="mansio-quote"><summary title="Show quoted text">Show quoted text</summary><blockquote>b<blockquote>c</blockquote></blockquote></details>',
    { isFolded: true },
  ],
  [
    'a quotation with an answer below is not folded',
    '<p>a</p><div class="gmail_quote">b</div>c',
    '<p>a</p><div class="gmail_quote">b</div>c',
    { isFolded: true },
  ],
  [
    'a quotation alone is not folded',
    '<div class="gmail_quote">b</div>',
    '<div class="gmail_quote">b</div>',
    { isFolded: true },
  ],
];

testWith('chromium')('safe mail: elements, links, images and styles', async (t) => {
  const page = await openSafeMailPage(t);
  for (const [name, html, body, options] of CASES) {
    t.is((await page.safe(html, options)).body, `<body dir="auto">${body}</body>`, name);
  }
  t.like(await page.safe('<body dir="rtl" bgcolor="#fff" onload="x" class="a"><p>b'), {
    body: '<body dir="rtl" bgcolor="#fff" class="a"><p>b</p></body>',
    usesColors: true,
  });
  t.like(await page.safe('<img src="https://a.test/b"><img src="cid:c"><img src="https://a.test/b">'), {
    remoteImages: ['https://a.test/b'],
    contentIds: ['c'],
    usesColors: false,
  });

  // Styles keep what lays out and colors the mail.
  const { styles, inlineStyles, usesColors } = await page.safe(
    `<style>@import "https://a.test"; p, .a > b { color: red !important; background: url(https://a.test) blue; position: fixed }
      @media (max-width: 600px) { td { width: 100% !important } } @font-face { src: url(https://a.test) } i { content: "x" }</style>
      <style>[title="</sty"] { color: green }</style><p style="font: 12px Arial; behavior: url(x)">x</p>`,
  );
  t.is(
    styles.replace(/\s+/g, ' ').trim(),
    'p, .a > b { background-color: blue; color: red !important; } @media (max-width: 600px) { td { width: 100% !important; } } [title="\\3c /sty"] { color: green; }',
  );
  t.regex(inlineStyles, /^\.mansio-s0 \{ .*font-family: Arial.*\}$/);
  t.notRegex(styles + inlineStyles, /url|behavior|position:/);
  t.true(usesColors);
  t.deepEqual(await page.faults(), []);
});

testWith('chromium')(
  'safe mail: hostile markup loads and reports nothing, and reads again as it was written',
  async (t) => {
    t.timeout(600_000);
    const page = await openSafeMailPage(t);
    for (const { html } of [...HTML_VECTORS, ...STYLE_VECTORS]) {
      const content = await page.safe(
        html!
          .replaceAll('$JS', 'top.pwned=1')
          .replaceAll('$U', 'http://a.hostile.test/u')
          .replaceAll('$H', 'a.hostile.test'),
      );
      t.notRegex(
        content.body.replace(/"[^"]*"/g, ''),
        /<(?!\/?[a-z][a-z0-9]*[ >])|\son\w+=|<\/?(?:script|style|svg|math|iframe|form|input)/,
        html,
      );
      await page.show(content);
      t.deepEqual(await page.faults(), [], html);
      const again = await page.safe(content.body);
      t.is(again.body.replace(/ <span class="">/g, ''), again.body, html);
    }
    t.is(await page.page.evaluate('window.pwned'), undefined);
  },
);
