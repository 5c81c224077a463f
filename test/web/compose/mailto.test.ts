// Tests what `mailto:` links begin, with the examples of RFC 6068.
import { mailtoFields } from '../../../web/src/compose/mailto.js';
import test from '../../support/test.js';

const NOTHING = { to: '', cc: '', bcc: '', subject: '', body: '' };

test('recipients, subject and text come from the link', (t) => {
  const cases: readonly [link: string, fields: object][] = [
    ['mailto:chris@example.com', { to: 'chris@example.com' }],
    ['MAILTO:a@x.test,b@x.test', { to: 'a@x.test,b@x.test' }],
    [
      'mailto:?to=joe@example.com&cc=bob@example.com&body=hello',
      { to: 'joe@example.com', cc: 'bob@example.com', body: 'hello' },
    ],
    ['mailto:addr1@an.example?To=addr2@an.example', { to: 'addr1@an.example, addr2@an.example' }],
    ['mailto:gorby%25kremvax@example.com', { to: 'gorby%kremvax@example.com' }],
    ['mailto:a+b@x.test?subject=1+1%3D2', { to: 'a+b@x.test', subject: '1+1=2' }],
    [
      'mailto:infobot@example.com?body=send%20current-issue%0D%0Asend%20index',
      { to: 'infobot@example.com', body: 'send current-issue\r\nsend index' },
    ],
    [
      'mailto:user@example.org?subject=caf%C3%A9&bcc=me@x.test#part',
      { to: 'user@example.org', subject: 'café', bcc: 'me@x.test' },
    ],
    ['mailto:a@x.test?body=why?&body=so', { to: 'a@x.test', body: 'why?\r\nso' }],
    ['mailto:', {}],
    ['mailto:%zz@x.test', { to: '%zz@x.test' }],
  ];
  for (const [link, fields] of cases) t.deepEqual(mailtoFields(link), { ...NOTHING, ...fields }, link);
});

test('other fields, and lines within a subject, are left out', (t) => {
  t.deepEqual(mailtoFields('mailto:a@x.test?from=b@x.test&attach=/etc/passwd&x-evil=1&subject=a%0D%0Ab'), {
    ...NOTHING,
    to: 'a@x.test',
    subject: 'a b',
  });
});

test('another link, or one that is very long, begins nothing', (t) => {
  for (const link of ['https://x.test/', 'javascript:alert(1)', 'a@x.test', '', `mailto:${'a'.repeat(9000)}`])
    t.is(mailtoFields(link), undefined);
});
