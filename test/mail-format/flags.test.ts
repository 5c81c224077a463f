import { DELETED_FLAG, FLAG_NAMES, flagBit, flagNames, isDeletedFlag, isKeyword } from '../../src/mail-format/flags.js';
import test from '../support/test.js';

test('every flag has a bit of its own, found by its name in any case', (t) => {
  let all = 0;
  for (const [bit, name] of FLAG_NAMES) {
    t.is(bit & (bit - 1), 0, name);
    t.is(all & bit, 0, name);
    all |= bit;
    t.is(flagBit(name), bit);
    t.is(flagBit(name.toUpperCase()), bit);
    t.is(flagBit(name.toLowerCase()), bit);
  }
  t.true(all < 2 ** 15, 'the store keeps them in a smallint');
  t.deepEqual(
    flagNames(all),
    FLAG_NAMES.map(([, name]) => name),
  );
  t.deepEqual(flagNames(0), []);
  t.deepEqual(flagNames(1 | 64), ['\\Seen', '$Junk']);
});

test('\\Deleted has no bit and is no keyword', (t) => {
  t.is(flagBit(DELETED_FLAG), 0);
  t.false(isKeyword(DELETED_FLAG));
  t.true(isDeletedFlag('\\DELETED'));
  t.false(isDeletedFlag('Deleted'));
});

test('keywords are atoms of at most 100 octets', (t) => {
  for (const name of ['Work', '$Label1', 'a/b', '[x', '}', 'constructor', 'x'.repeat(100)]) {
    t.true(isKeyword(name), name);
    t.is(flagBit(name), 0, name);
  }
  const unfit = ['', ' ', 'a b', 'a(b', 'a)', '{', '%', '*', '"', '\\', '\\Recent', 'a]', 'é', 'a\r\n', 'a\0', '💌'];
  for (const name of [...unfit, 'x'.repeat(101), '$junk', '\\Seen']) t.false(isKeyword(name), name);
});
