// Tests the originators of a message: a header that a reader could understand in another way is refused.

import fc from 'fast-check';
import { originators } from '../../../src/mail-format/header/originators.js';
import { HeaderFields } from '../../../src/mail-format/mime-index/header-fields.js';
import test from '../../support/test.js';

const of = (header: string) => originators(new HeaderFields(Buffer.from(header.replaceAll('\n', '\r\n'))));

test('addresses of From and Sender', (t) => {
  const cases: [string, readonly string[]][] = [
    ['From: a@b.test\n', ['a@b.test']],
    ['FROM: Ann <a@b.test>\n', ['a@b.test']],
    ['From: "Ann, (x) <c@d.test>" <a@b.test> (me)\n', ['a@b.test']],
    ['From:\n =?utf-8?q?=C3=84nn?=\n <a@b.test>\n', ['a@b.test']],
    ['From: Änn <ä@b.test>\n', ['ä@b.test']],
    ['From: "a b"@b.test\n', ['"a b"@b.test']],
    ['From: a@[192.0.2.1]\n', ['a@[192.0.2.1]']],
    ['From : a@b.test\n', ['a@b.test']],
    ['From: Ann(x (y)) <a(z)@b(w).test(v)> (u)\n', ['a@b.test']],
    ['From: a @ b . test (Ann), (C) c@(d)d.test\nSender: e@f.test\n', ['a@b.test', 'c@d.test', 'e@f.test']],
    ['From: a@b.test, C <c@d.test>\nSender: e@f.test\n', ['a@b.test', 'c@d.test', 'e@f.test']],
  ];
  for (const [header, expected] of cases) t.deepEqual(of(header), expected, header);
});

test('what is refused', (t) => {
  t.is(of('Subject: x\n'), 'missing');
  t.is(of('From: a@b.test, c@d.test\n'), 'senderNeeded');
  for (const header of [
    'From:\n',
    'From: Ann\n',
    'From: a@b.test\nFrom: a@b.test\n',
    'From: a@b.test\nSender: c@d.test\nSender: c@d.test\n',
    'From: a@b.test\nSender: c@d.test, e@f.test\n',
    'From: a@b.test\nSender:\n',
    'From: <c@d.test> <a@b.test>\n',
    'From: c@d.test <a@b.test>\n',
    'From: c@d.test a@b.test\n',
    'From: Ann <<a@b.test>\n',
    'From: Ann <a@b.test\n',
    'From: Ann <@c.test:a@b.test>\n',
    'From: friends: a@b.test;\n',
    'From: undisclosed:;\n',
    'From: a@b.test;\n',
    'From: a@b.test,, c@d.test\n',
    'From: "Ann <a@b.test>\n',
    'From: (Ann a@b.test\n',
    'From: a@@b.test\n',
    'From: <a(c@d.test)@b.test>\n',
    'From: a@(<c@d.test>)b.test\n',
    `From: ${'x'.repeat(4000)} <${'a'.repeat(200)}@b.test>\n`,
    `From: ${Array.from({ length: 60 }, (_, i) => `a${i}@b.test`).join(', ')}\nSender: a@b.test\n`,
  ]) {
    t.is(of(header), 'malformed', header);
  }
});

test('any text is read in bounded time, into addresses or a fault', (t) => {
  const value = fc.string({ unit: fc.constantFrom(...'ab@.<>"\\(),;: []'), maxLength: 5000 });
  fc.assert(
    fc.property(value, (text) => {
      const read = of(`From: ${text}\n`);
      if (typeof read !== 'string') for (const address of read) t.true(holdsInOrder(text, address.replaceAll(' ', '')));
      else t.true(['missing', 'malformed', 'senderNeeded'].includes(read));
    }),
  );
  for (const text of ['"\\'.repeat(2000), '('.repeat(4000), `${' '.repeat(4000)}x`, '"(\\"'.repeat(1000)]) {
    t.is(of(`From: ${text}\n`), 'malformed');
  }
});

/** Comments and white space may stand between the characters of an address. */
function holdsInOrder(text: string, characters: string): boolean {
  let at = 0;
  for (const character of characters) {
    at = text.indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
