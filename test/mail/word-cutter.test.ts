// Words as octets: the same words as `wordsOf` finds, whatever stands between stretches of ASCII.
import test from 'ava';
import fc from 'fast-check';
import { wordsOf } from '../../src/mail/search-text.js';
import { WordCutter } from '../../src/mail/word-cutter.js';

const cutter = new WordCutter();

function wordsCut(text: string, limit?: number): string[] {
  cutter.cut(text, limit);
  return Array.from({ length: cutter.count }, (_, i) =>
    Buffer.from(cutter.octets.subarray(i === 0 ? 0 : cutter.ends[i - 1]!, cutter.ends[i])).toString(),
  );
}

const LONG = 'all of it is ASCII for a while, Ann <ann.b@example.org> wrote; '.repeat(4);
const part = fc.oneof(
  fc.constantFrom(
    ...[
      'a',
      'B9',
      'Zoe',
      ' ',
      '\r\n',
      '-',
      'e\u0301',
      '\u0301',
      'x\u0328\u0301y',
      'é',
      '’',
      '“',
      '\u00a0',
      '…',
      '½',
      '①',
      'ﬁ',
    ],
    ...[
      'İ',
      'ΟΔΟΣ',
      'ς',
      'ß',
      'Привет',
      '東京',
      'ภาษา',
      '🎉',
      '💌',
      '\u200d',
      '\ufeff',
      '\0',
      '\ud800',
      '\u0338',
      '\u{10450}',
    ],
    ...[LONG, `${LONG}x`, 'y'.repeat(200), 'é'.repeat(70), '\u{10450}'.repeat(70), `a\u0301${'b'.repeat(140)}`],
  ),
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.string({ maxLength: 8 }),
);

test('the octets are the words that the text has', (t) => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const text = parts.join('');
      t.deepEqual(wordsCut(text), wordsOf(text));
    }),
    { numRuns: 5000 },
  );
});

test('marks behind letters of ASCII belong to their words, wherever a stretch of other characters begins or ends', (t) => {
  const other = ['\u0301', 'é', '’', 'ж', '東', '🎉', '½'];
  for (const each of other)
    for (let before = 0; before < 140; before++) {
      const text = `${'x'.repeat(before)}${each}${'y'.repeat(139 - before)} ${LONG}z${each}${LONG}`;
      t.deepEqual(wordsCut(text), wordsOf(text), text);
    }
});

test('a limit ends the words, and a word has one hash in whatever text it stands', (t) => {
  const text = `Strasse ${LONG} straße STRASSE’ strasse ж ${LONG} ж`;
  const words = wordsOf(text);
  for (let limit = 0; limit <= words.length; limit++) t.deepEqual(wordsCut(text, limit), words.slice(0, limit));
  wordsCut(text);
  const hashes = new Map<string, number>();
  for (const [i, word] of words.entries()) {
    t.is(cutter.hashes[i], hashes.get(word) ?? cutter.hashes[i], word);
    hashes.set(word, cutter.hashes[i]!);
  }
  t.is(new Set(hashes.values()).size, hashes.size);
});
