import fc from 'fast-check';
import { linkOf } from '../../../../web/src/message/html/links.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

const NO_LINKS = [
  'javascript:alert(1)',
  ' java\nscript:alert(1)',
  'JAVASCRIPT:alert(1)',
  'vbscript:x',
  'data:text/html,x',
  'file:///etc/passwd',
  'blob:https://a.test/1',
  'about:blank',
  '//elsewhere.test/',
  '/api/emails',
  '?a',
  'page.html',
  '',
  'http://',
  `https://a.test/${'a'.repeat(5000)}`,
];

for (const href of NO_LINKS) {
  test(`no link: ${JSON.stringify(href.slice(0, 40))}`, (t) => t.is(linkOf(href, 'x'), undefined));
}

test('a link says where it leads', (t) => {
  t.deepEqual(linkOf(' https://a.test/b?c#d ', 'here'), {
    href: 'https://a.test/b?c#d',
    destination: 'https://a.test/b?c#d',
  });
  t.deepEqual(linkOf('mailto:a%40b@c.test?subject=x', 'here'), {
    href: 'mailto:a%40b@c.test?subject=x',
    destination: 'a@b@c.test',
  });
  t.is(linkOf('tel:+49123', 'call')?.destination, '+49123');
});

test('a name before the host is left out, and letters of other scripts are shown as the name that is asked for', (t) => {
  t.is(linkOf('https://bank.test:x@elsewhere.test/', 'here')?.href, 'https://elsewhere.test/');
  t.is(linkOf('https://bänk.test/', 'here')?.destination, 'https://xn--bnk-qla.test/');
});

const HONEST = [
  ['https://a.test/x', 'here'],
  ['https://a.test/x', 'https://a.test/y'],
  ['https://a.test/x', 'www.a.test'],
  ['https://www.a.test/', 'A.test'],
  ['https://a.test/', 'Look at https://a.test/ now'],
  ['https://a.test/', '(https://a.test).'],
  ['https://nodejs.org/', 'Node.js'],
  ['https://a.test/f', 'report.pdf'],
  ['https://a.test/f', 'Node.js makes it easy, e.g. here'],
  ['https://a.test/f', 'Price 1.50'],
  ['mailto:ann@a.test', 'ann@a.test'],
  ['mailto:ann@a.test', 'a.test'],
  ['https://xn--bnk-qla.test/', 'bänk.test'],
] as const;

for (const [href, text] of HONEST) {
  test(`honest: ${text} → ${href}`, (t) => t.is(linkOf(href, text)?.misleadsTo, undefined));
}

const MISLEADING = [
  ['https://evil.test/', 'https://bank.test/login', 'evil.test'],
  ['https://evil.test/', 'bank.test', 'evil.test'],
  ['https://evil.test/', 'www.bank.test', 'evil.test'],
  ['https://bank.test.evil.test/', 'bank.test', 'bank.test.evil.test'],
  ['https://evil.test/bank.test', 'Go to https://bank.test', 'evil.test'],
  ['https://bank.test@evil.test/', 'bank.test', 'evil.test'],
  ['https://evil.test/', 'https://evil.test/ www.bank.test', 'evil.test'],
  ['https://evil.test/', 'bank.test/login now', 'evil.test'],
  ['https://evil.test/', 'https:/\u2044bank.test', 'evil.test'],
  ['https://evil.test/', 'b\u00adank\u200b.test', 'evil.test'],
  ['https://evil.test/', '\u202ebank.test', 'evil.test'],
  ['https://evil.test/', 'ｂａｎｋ.test', 'evil.test'],
  ['https://evil.test/', 'help@bank.test', 'evil.test'],
  ['mailto:x@evil.test', 'help@bank.test', 'x@evil.test'],
  ['https://bаnk.test/', 'bank.test', 'xn--bnk-6cd.test'],
] as const;

for (const [href, text, to] of MISLEADING) {
  test(`misleading: ${JSON.stringify(text)} → ${href}`, (t) => t.is(linkOf(href, text)?.misleadsTo, to));
}

test('whatever is a link leads to the web, a mailbox or a telephone', (t) => {
  const scheme = fc.constantFrom(
    'http://',
    'https:',
    'mailto:',
    'javascript:',
    'data:',
    'java\tscript:',
    '',
    'HTTP:\\\\',
    'tel:',
  );
  fc.assert(
    fc.property(scheme, fc.string(), fc.string(), (start, rest, text) => {
      const link = linkOf(start + rest, text);
      t.regex(link?.href ?? 'tel:', /^(?:https?:\/\/[^/@]+(?:\/|$)|mailto:|tel:)/);
    }),
    { numRuns: runs(2000, 200) },
  );
});
