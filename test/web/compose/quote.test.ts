// Tests the body of replies and forwards, and the plain text that goes along with what was written.

import { plainText, type TextNode } from '../../../web/src/compose/plain-text.js';
import {
  forwardBody,
  newBody,
  type Quoted,
  type QuoteTexts,
  replyBody,
  textAsHtml,
} from '../../../web/src/compose/quote.js';
import test from '../../support/test.js';

const TEXTS: QuoteTexts = {
  wrote: (date, author) => `Am ${date} schrieb ${author}:`,
  forwarded: 'Weitergeleitet',
  from: 'Von',
  date: 'Datum',
  subject: 'Betreff',
  to: 'An',
  cc: 'Kopie',
};

const QUOTED: Quoted = {
  author: { name: 'Zoë <b>💌', address: 'zoe@a.test' },
  date: '3. Mai',
  subject: 'R & D',
  to: [
    { name: '', address: 'ann@a.test' },
    { name: 'Doe, John', address: 'john@a.test' },
  ],
  cc: [],
  html: '<p>Hello</p>',
};

test('a reply quotes under a line in the language of the reader, and names cannot become markup', (t) => {
  const html = replyBody(QUOTED, '', TEXTS);
  t.true(html.startsWith('<div><br></div>'));
  t.true(html.includes('Am 3. Mai schrieb Zoë &lt;b&gt;💌:'));
  t.true(html.endsWith('<blockquote type="cite"><p>Hello</p></blockquote>'));
  t.true(replyBody({ ...QUOTED, author: { name: '', address: 'a@b.test' } }, '', TEXTS).includes('schrieb a@b.test:'));
});

test('a forward says who wrote what to whom; lines without a value are left out', (t) => {
  const html = forwardBody(QUOTED, '', TEXTS);
  t.true(html.includes('---------- Weitergeleitet ----------'));
  t.true(html.includes('<b>Von:</b> &quot;Zoë &lt;b&gt;💌&quot; &lt;zoe@a.test&gt;'));
  t.true(html.includes('<b>Betreff:</b> R &amp; D'));
  t.true(html.includes('<b>An:</b> ann@a.test, &quot;Doe, John&quot; &lt;john@a.test&gt;'));
  t.false(html.includes('Kopie'));
  t.true(html.endsWith('<p>Hello</p>'));
});

test('the signature stands above the quote, once', (t) => {
  t.is(newBody(' '), '<div><br></div>');
  t.is(newBody('<b>Z</b>'), '<div><br></div><div><br></div><div class="signature"><b>Z</b></div>');
  const html = replyBody(QUOTED, '<b>Z</b>', TEXTS);
  t.true(html.indexOf('<b>Z</b>') < html.indexOf('schrieb'));
});

test('plain text becomes lines and quotes', (t) => {
  t.is(
    textAsHtml('Hi <you>\r\n\r\n> > old\r\n>new  x\r\n last\r\n'),
    [
      '<div dir="auto">Hi &lt;you&gt;</div><div><br></div>',
      '<blockquote type="cite"><blockquote type="cite"><div dir="auto">old</div></blockquote>',
      '<div dir="auto">new\u00a0 x</div></blockquote><div dir="auto">\u00a0last</div>',
    ].join(''),
  );
  const deep = textAsHtml(`${'>'.repeat(5_000)} x`);
  t.is(deep.split('<blockquote').length, deep.split('</blockquote>').length);
  t.true(deep.length < 2_000);
});

const text = (nodeValue: string): TextNode => ({ nodeType: 3, nodeName: '#text', nodeValue, childNodes: [] });
const el = (name: string, ...content: readonly (TextNode | string | Readonly<Record<string, string>>)[]): TextNode => {
  const attributes = content.find((one): one is Readonly<Record<string, string>> => {
    return typeof one === 'object' && !('nodeType' in one);
  });
  const nodes = content.flatMap((one) => {
    return typeof one === 'string' ? [text(one)] : 'nodeType' in one ? [one as TextNode] : [];
  });
  return {
    nodeType: 1,
    nodeName: name.toUpperCase(),
    nodeValue: null,
    childNodes: nodes,
    getAttribute: (of) => attributes?.[of] ?? null,
  };
};

test('what was written reads well without HTML', (t) => {
  const written = el(
    'div',
    el('div', 'Dear  ', el('b', 'Zoë'), '\n 💌,'),
    el('div', el('br')),
    el('ul', el('li', 'one'), el('li', el('div', 'two'))),
    el('ol', el('li', 'first'), el('li', 'second')),
    el(
      'p',
      'see ',
      el('a', { href: 'https://a.test/x' }, 'this'),
      ' or ',
      el('a', { href: 'mailto:a@b.test' }, 'a@b.test'),
    ),
    el('pre', 'a\n  b'),
    el('img', { alt: 'a cat' }),
    el('hr'),
    el('blockquote', el('div', 'old'), el('blockquote', 'older', el('br'), 'oldest'), el('div', el('br'))),
    el('table', el('tr', el('td', 'x'), el('td', 'y'))),
    el('style', 'no'),
  );
  t.is(
    plainText(written),
    [
      'Dear Zoë 💌,',
      '',
      '- one',
      '- two',
      '1. first',
      '2. second',
      'see this <https://a.test/x> or a@b.test',
      'a',
      '  b',
      'a cat',
      '----------',
      '> old',
      '>> older',
      '>> oldest',
      '>',
      'x y',
    ].join('\n'),
  );
});
