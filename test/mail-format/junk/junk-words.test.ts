// Tests what the junk filter has learnt: to unlearn a message is to undo what it taught, the stored form is exact, and the size is bounded.
import fc from 'fast-check';
import { JunkWords, MOST_WORDS } from '../../../src/mail-format/junk/junk-words.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const tokens = fc
  .uniqueArray(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 2 ** 32 - 1 })), { maxLength: 60 })
  .map((all) => Uint32Array.from(all));
const lesson = fc.record({ tokens, isJunk: fc.boolean() });

test('a message that is learnt and unlearnt leaves what was known before, whatever was learnt in between', (t) => {
  fc.assert(
    fc.property(
      fc.array(lesson, { maxLength: 40 }),
      lesson,
      fc.array(lesson, { maxLength: 10 }),
      (before, one, after) => {
        const words = new JunkWords();
        const expected = new JunkWords();
        for (const each of before) {
          words.learn(each.tokens, each.isJunk);
          expected.learn(each.tokens, each.isJunk);
        }
        words.learn(one.tokens, one.isJunk);
        for (const each of after) {
          words.learn(each.tokens, each.isJunk);
          expected.learn(each.tokens, each.isJunk);
        }
        words.unlearn(one.tokens, one.isJunk);
        t.deepEqual(words.stored(), expected.stored());
      },
    ),
    { numRuns: runs(200) },
  );
});

test('counts that are put are found while the table grows, and stop at the most that is kept', (t) => {
  const counts = fc.tuple(fc.integer({ min: 1, max: 0xffff }), fc.nat({ max: 0xffff }));
  const token = fc.integer({ min: 2, max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(fc.array(fc.tuple(token, counts), { minLength: 600, maxLength: 2_000 }), (put) => {
      const expected = new Map(put);
      const words = new JunkWords();
      for (const [token, [junk, ham]] of expected) words.put(token, junk, ham);
      t.deepEqual(
        [...words.known()],
        [...expected.keys()].toSorted((a, b) => a - b),
      );
      const known = words.known();
      words.learn(known, true);
      const asked = Uint32Array.of(...known, ...known.map((token) => token ^ 1));
      const places = new Int32Array(asked.length);
      words.placesOf(asked, places);
      for (const [i, token] of asked.entries()) {
        const [place, counts] = [places[i]!, expected.get(token)];
        t.is(place, words.placeOf(token));
        if (counts === undefined) t.is(place, -1);
        else t.deepEqual([words.junkAt(place), words.hamAt(place)], [Math.min(0xffff, counts[0] + 1), counts[1]]);
      }
    }),
    { numRuns: runs(30) },
  );
});

test('what is stored is read again, octet by octet; anything else is refused or read without a fault', (t) => {
  fc.assert(
    fc.property(fc.array(lesson, { maxLength: 30 }), fc.nat(), (lessons, cut) => {
      const words = new JunkWords();
      for (const each of lessons) words.learn(each.tokens, each.isJunk);
      const stored = words.stored();
      const read = JunkWords.from(stored);
      t.deepEqual(read.stored(), stored);
      t.deepEqual([read.junk, read.ham], [words.junk, words.ham]);
      t.throws(() => JunkWords.from(stored.subarray(0, cut % stored.length)), { instanceOf: RangeError });
    }),
    { numRuns: runs(100) },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (octets) => {
      try {
        JunkWords.from(octets);
      } catch (error) {
        t.true(error instanceof RangeError);
      }
    }),
    { numRuns: runs(200) },
  );
});

test('the words of an account have a bound, and what occurs often stays', (t) => {
  const words = new JunkWords();
  const often = Uint32Array.of(7, 8, 9);
  for (let i = 0; i < 500; i++) {
    words.learn(
      Uint32Array.from({ length: 400 }, (_, j) => 1_000 + i * 400 + j),
      i % 2 === 0,
    );
    words.learn(often, true);
  }
  t.true(words.known().length <= MOST_WORDS);
  t.true(words.stored().length < 400_000);
  t.true(words.octets <= 2 ** 20);
  for (const token of often) t.is(words.junkAt(words.placeOf(token)), 500);
});
