// Tests what an avatar shows.
import { avatarHue, initials } from '../../../web/src/design/initials.js';
import test from '../../support/test.js';

test('initials are those of the first and the last name, else of the address', (t) => {
  t.is(initials('Zoë Ünal', 'zoe@example.test'), 'ZÜ');
  t.is(initials('Library of the society', 'l@example.test'), 'LS');
  t.is(initials('ann', 'ann@example.test'), 'A');
  t.is(initials('', 'mirjam.koehler@example.test'), 'MK');
  t.is(initials('(“Okapi”) [House]', 'o@example.test'), 'OH');
  t.is(initials('💌 ', ''), '?');
  t.is(initials('日本 太郎', 'x@example.test'), '日太');
});

test('an address has one colour, in any case of its letters', (t) => {
  t.is(avatarHue('Zoe@Example.test'), avatarHue('zoe@example.test'));
  t.true(new Set(Array.from({ length: 100 }, (_, i) => avatarHue(`person${i}@example.test`))).size > 8);
});
