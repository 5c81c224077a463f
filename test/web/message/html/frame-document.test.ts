import { escaped, frameDocument, PAPER } from '../../../../web/src/message/html/frame-document.js';
import test from '../../../support/test.js';

const options = { nonce: 'N"1', origin: 'https://mail.test', palette: PAPER, title: 'Re: <b>' };
const content = { body: '<body dir="auto"><p>x</p></body>', styles: '', inlineStyles: '' };

test('the frame allows one style element and images of the proxy', (t) => {
  const document = frameDocument(content, options);
  const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(document)!;
  t.is(
    policy!.replaceAll('&#39;', "'"),
    "default-src 'none'; style-src 'nonce-N&quot;1'; img-src data: https://mail.test/api/image-proxy; base-uri 'none'; form-action 'none'",
  );
  t.is(document.match(/<style/g)!.length, 1);
  t.true(document.includes('<style nonce="N&quot;1">'));
  t.true(document.includes('<title>Re: &lt;b&gt;</title>'));
  t.true(document.includes('<meta http-equiv="x-dns-prefetch-control" content="off">'));
});

test('rules cannot end the style element', (t) => {
  const document = frameDocument({ ...content, styles: '[a="</style><script>"] { color: red }' }, options);
  t.is(document.match(/<\/style/g)!.length, 1);
  t.false(document.includes('<script'));
});

test('what stands before the mail is inside the body', (t) => {
  const document = frameDocument(content, { ...options, head: '<header>h</header>' });
  t.true(document.includes('<body dir="auto"><header>h</header><p>x</p></body>'));
});

test('text is escaped', (t) => {
  t.is(escaped(`<a b="c" d='e'>&\0\ud83d\ude00`), '&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;\ud83d\ude00');
});
