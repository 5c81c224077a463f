import fc from 'fast-check';
import { rewrittenMarkup, STYLE_ATTRIBUTE } from '../../../../web/src/message/html/markup.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

const CASES: readonly (readonly [name: string, html: string, expected: string, styles?: readonly string[]])[] = [
  ['text and tags stay', '<p>a &amp; b</p>', '<p>a &amp; b</p>'],
  ['names are lower case', '<IMG SRC="X">', '<img src="X">'],
  ['values get double quotes', `<a href='a"b' title=c>x</a>`, '<a href="a&quot;b" title="c">x</a>'],
  ['a tag in a value is text', '<a title="<b onclick=x>">x</a>', '<a title="&lt;b onclick=x&gt;">x</a>'],
  ['styles get another name', '<p style="color:red">x', `<p ${STYLE_ATTRIBUTE}="color:red">x`],
  ['handlers are dropped', '<p onclick="a()" ONload=b() id=i>x', '<p id="i">x'],
  ['a slash separates attributes', '<img/src=x/onerror=alert(1)>', '<img src="x/onerror=alert(1)">'],
  ['style elements are taken out', 'a<style type=x>p{}</style >b', 'ab', ['p{}']],
  ['a style element without an end takes the rest', 'a<style>p{}<b>', 'a', ['p{}<b>']],
  ['scripts are dropped', 'a<script>"</scrip>"</script>b', 'ab'],
  ['a textarea is dropped', '<textarea><b onclick=x></textarea>b', 'b'],
  ['comments are dropped', 'a<!-- <b> -->b<!-->c<!--->d<!-- e --!>f', 'abcdf'],
  ['a comment without an end takes the rest', 'a<!-- b', 'a'],
  ['declarations are dropped', '<!doctype html><?xml version="1.0"?><![CDATA[a>b', 'b'],
  ['less than is text', '1 < 2 <3', '1 &lt; 2 &lt;3'],
  ['a tag without an end is dropped', 'a<p class="b', 'a'],
  ['tags without content are dropped', '<base href=x><LINK href=y><meta a="b>">c', 'c'],
  ['plaintext is dropped', '<plaintext>a<b>c', 'a<b>c'],
  ['names with other characters are dropped', '<a"b onclick=x>c<p a"b=c>d', 'c<p>d'],
];

for (const [name, html, expected, styles = []] of CASES) {
  test(`markup: ${name}`, (t) => {
    t.deepEqual(rewrittenMarkup(html), { html: expected, styles });
  });
}

const piece = fc.oneof(
  fc.constantFrom(
    '<',
    '>',
    '"',
    "'",
    '=',
    '/',
    ' ',
    '\n',
    '<!--',
    '-->',
    '</',
    '<style',
    '</style>',
    '<script>',
    ' onerror=',
    ' style=',
  ),
  fc.constantFrom('<p ', '<svg>', '<title>', '<![CDATA[', 'a', '&lt;', '<!', '<?', '\0'),
  fc.string({ maxLength: 5 }),
);
const soup = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));

test('what is rewritten stays as it is when it is rewritten again', (t) => {
  fc.assert(
    fc.property(soup, (html) => {
      const once = rewrittenMarkup(html).html;
      t.deepEqual(rewrittenMarkup(once), { html: once, styles: [] });
    }),
    { numRuns: runs(2000, 200) },
  );
});

test('no tag has a handler or an inline style', (t) => {
  fc.assert(
    fc.property(soup, (html) => {
      for (const [tag] of rewrittenMarkup(html).html.matchAll(/<[^>]*>/g)) {
        t.notRegex(tag.replace(/"[^"]*"/g, ''), /\s(?:on\w*|style)=|^<(?:script|style)\b/);
      }
    }),
    { numRuns: runs(2000, 200) },
  );
});

test('markup without ends takes linear time', (t) => {
  for (const one of ['<', '<!--', '<style>', '<p a', '<a b="', '<title>', '<a b=c ', '</']) {
    t.true(rewrittenMarkup(one.repeat(200_000)).html.length < 3_000_000);
  }
});
