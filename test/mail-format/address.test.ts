// Tests addresses: which text is an address, and the canonical form for look-ups.

import fc from 'fast-check';
import { canonicalAddress, hasTag, parseAddress, parseSender } from '../../src/mail-format/address.js';
import { runs } from '../support/amounts.js';
import test from '../support/test.js';

test('mailboxes', (t) => {
  t.deepEqual(parseAddress('Ann.Lee@Example.ORG'), { localPart: 'Ann.Lee', domain: 'example.org' });
  t.deepEqual(parseAddress('"ann"@example.org'), { localPart: 'ann', domain: 'example.org' });
  t.deepEqual(parseAddress('"a b\\"c"@example.org'), { localPart: '"a b\\"c"', domain: 'example.org' });
  t.deepEqual(parseAddress('"a@b"@example.org'), { localPart: '"a@b"', domain: 'example.org' });
  t.deepEqual(parseAddress('jörg@müller.example'), { localPart: 'jörg', domain: 'xn--mller-kva.example' });
  t.deepEqual(parseAddress('a@[192.0.2.1]'), { localPart: 'a', domain: '[192.0.2.1]' });
  t.deepEqual(parseAddress('a@[IPv6:2001:db8::1]'), { localPart: 'a', domain: '[ipv6:2001:db8::1]' });
  t.deepEqual(parseAddress('a@localhost'), { localPart: 'a', domain: 'localhost' });
});

test('no mailboxes', (t) => {
  const long = 'x'.repeat(65);
  const refused = [
    '',
    'a',
    '@b.c',
    'a@',
    'a b@c.d',
    '.a@b.c',
    'a.@b.c',
    'a..b@c.d',
    'a@b..c',
    'a@-b.c',
    'a@b.c.',
    'a@b_c.d',
  ];
  refused.push(
    'a\r\n@b.c',
    'a@b.c\n',
    'a\0@b.c',
    '"a\r\nb"@c.d',
    '"a"b@c.d',
    '""@c.d',
    'a@127.0.0.1',
    'a@0x7f.1',
    'a@%61.com',
  );
  refused.push(
    `${long}@b.c`,
    `a@${'b.'.repeat(126)}com`,
    `a@${'b'.repeat(64)}.c`,
    'a@[1.2.3]',
    'a@b.c>',
    '<a@b.c>',
    'a,b@c.d',
    'ü\u0085@b.c',
  );
  for (const text of refused) t.is(parseAddress(text), undefined, JSON.stringify(text));
});

test('characters that are not seen are in no address', (t) => {
  // These are invisible: directions, joiners, soft hyphen, byte order mark, variation selector, filler, tag.
  const unseen = [
    '\u202e',
    '\u2066',
    '\u200f',
    '\u061c',
    '\u200d',
    '\u00ad',
    '\ufeff',
    '\ufe0f',
    '\u3164',
    '\u{e0061}',
  ];
  for (const character of unseen) {
    const code = character.codePointAt(0)!.toString(16);
    t.is(parseAddress(`a${character}b@c.test`), undefined, code);
    t.is(parseAddress(`"a ${character}b"@c.test`), undefined, code);
    if (character !== '\u200d') t.is(parseAddress(`a@b${character}c.test`), undefined, code);
  }
  // The joiner is a part of the word, as IDN allows it.
  t.is(parseAddress('a@\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.test')?.domain, 'xn--mgba3gch31f060k.test');
});

test('no domain becomes another one', (t) => {
  for (const domain of ['ex\u2460mple.test', '\uff45xample.test', '\ufb01.test', '\u212a.test', 'a\u2024b.test'])
    t.is(parseAddress(`b@${domain}`), undefined, domain);
  t.is(parseAddress('b@M\u00dcLLER.test')?.domain, 'xn--mller-kva.test');
  t.is(parseAddress('b@mu\u0308ller.test')?.domain, 'xn--mller-kva.test');
  t.is(parseAddress('b@fa\u00df.test')?.domain, 'xn--fa-hia.test');
  t.is(parseAddress('b@\u4f8b\u3048\u3002\u30c6\u30b9\u30c8')?.domain, 'xn--r8jz45g.xn--zckzah');
});

test('domains of senders may have underscores, those of recipients not', (t) => {
  t.deepEqual(parseSender('a@x_y.test'), { localPart: 'a', domain: 'x_y.test' });
  t.deepEqual(parseSender('a@_x.test'), { localPart: 'a', domain: '_x.test' });
  for (const text of ['a@x_', 'a@x.te_st', 'a@x_-.test', 'a@\u202ex_y.test']) t.is(parseSender(text), undefined, text);
  t.is(parseAddress('a@x_y.test'), undefined);
});

test('canonical form', (t) => {
  t.is(canonicalAddress('Ann+News@Example.org'), 'ann@example.org');
  t.is(canonicalAddress('ann.+x@example.org'), 'ann@example.org');
  t.is(canonicalAddress('+x@example.org'), '+x@example.org');
  t.is(canonicalAddress('"Ann"@example.org'), 'ann@example.org');
  t.is(canonicalAddress('"a+b c"@example.org'), '"a+b c"@example.org');
  t.is(canonicalAddress('A@MÜLLER.example'), 'a@xn--mller-kva.example');
  t.is(canonicalAddress('nobody'), undefined);
});

test('any text is judged without a throw, and canonical forms are stable', (t) => {
  const parts = fc.stringMatching(/^[aA+."\\@ü(<\r\nİß -]{0,12}$/);
  fc.assert(
    fc.property(parts, fc.oneof(fc.domain(), parts, fc.string()), (local, domain) => {
      const once = canonicalAddress(`${local}@${domain}`);
      if (once === undefined) return;
      t.is(canonicalAddress(once), once);
      t.notRegex(once, /\p{Cc}/u);
    }),
    { numRuns: runs(2000) },
  );
  t.pass();
});

test('a tag is told from a plus that is the name', (t) => {
  for (const text of ['a+tag@example.test', 'A+@example.test', '"a+tag"@example.test', 'a.+b@example.test'])
    t.true(hasTag(text), text);
  for (const text of ['a@example.test', 'ZOË@example.test', '+tag@example.test', '"a +b"@example.test', 'nonsense+x'])
    t.false(hasTag(text), text);
});
