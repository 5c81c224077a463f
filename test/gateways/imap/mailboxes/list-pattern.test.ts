import fc from 'fast-check';
import { ListPattern } from '../../../../src/gateways/imap/mailboxes/list-pattern.js';
import { decodeModifiedUtf7, encodeModifiedUtf7 } from '../../../../src/mail-format/modified-utf7.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

const LEVELS = ['Zoë 💌', 'a&b', 'say "hi"', 'back\\slash', '&-', 'a', 'b', 'ab', 'Straße', '日本語', '.*', '(x)'];
const name = fc.array(fc.constantFrom(...LEVELS), { minLength: 1, maxLength: 4 }).map((levels) => levels.join('/'));
const piece = fc.constantFrom('*', '%', '/', '%/%', '**', '*%', ...LEVELS, ...Array.from('ab&ë💌"\\'));
const pattern = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));

/** Follows the words of RFC 9051. */
function naive(text: string): RegExp {
  const source = Array.from(text, (character) => {
    if (character === '*') return '.*';
    if (character === '%') return '[^/]*';
    return character.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&');
  });
  return new RegExp(`^${source.join('')}$`, 'su');
}

test('a pattern matches the names that a naive regular expression matches', (t) => {
  let matched = 0;
  fc.assert(
    fc.property(pattern, name, (text, path) => {
      const isMatch = new ListPattern(text).matches(path);
      if (isMatch) matched++;
      return isMatch === naive(text).test(path);
    }),
    { numRuns: runs(5_000, 5_000) },
  );
  t.true(matched > 100);
});

test('a name with some of its characters replaced by wildcards matches', (t) => {
  fc.assert(
    fc.property(name, fc.array(fc.nat(30), { maxLength: 6 }), (path, places) => {
      const text = Array.from(path, (character, i) =>
        places.includes(i) ? (character === '/' ? '*' : '%') : character,
      );
      return new ListPattern(text.join('')).matches(path);
    }),
    { numRuns: runs(1_000) },
  );
  t.pass();
});

test('names survive modified UTF-7, so patterns see what the client has written', (t) => {
  fc.assert(fc.property(name, (path) => decodeModifiedUtf7(encodeModifiedUtf7(path)) === path));
  t.pass();
});

test('INBOX and what is below it match in any case, other names as they are', (t) => {
  const matches = (text: string, path: string) => new ListPattern(text).matches(path);
  for (const text of ['inbox', 'InBoX', 'in%', '*x', '%']) t.true(matches(text, 'INBOX'), text);
  t.true(matches('inbox/%', 'INBOX/a'));
  t.false(matches('inbox/A', 'INBOX/a'));
  t.false(matches('work', 'Work'));
  t.false(matches('inboxes', 'INBOXES'));
});

test('levels above mailboxes are asked for by a percent at the end and by a whole name', (t) => {
  const asks = (text: string) => new ListPattern(text).namesLevels;
  t.deepEqual(['%', 'a/%', '*/%', '*%', 'a/b', '*', 'a/*', '%x'].map(asks), [
    true,
    true,
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('the cost of a match is bounded whatever the wildcards are', (t) => {
  const path = `${'a'.repeat(998)}b`;
  t.false(new ListPattern('*a'.repeat(500)).matches(path));
  t.true(new ListPattern(`${'%a*'.repeat(400)}b`).matches(path));
  t.false(new ListPattern(`${'*a'.repeat(5_000)}`).matches(path));
});
