import test, { type ExecutionContext } from 'ava';
import { WordCutter } from '../../../src/mail/word-cutter.js';
import { BODY_POSITION } from '../../../src/store/word-index/index-page.js';
import { Occurrences } from '../../../src/store/word-index/occurrences.js';

/** How often the event loop has a turn while these words are brought in order. */
function turnsOf(t: ExecutionContext, words: readonly string[]): number {
  const cutter = new WordCutter();
  const occurrences = new Occurrences();
  const text = Buffer.from(words.join(' '));
  cutter.cut(text, 0, text.length);
  occurrences.clear();
  occurrences.beginEmail(0);
  occurrences.add(cutter, BODY_POSITION, true);
  const sorting = occurrences.sort();
  let turns = 0;
  let step = sorting.next();
  for (; step.done !== true; step = sorting.next()) turns++;
  const { octets, starts } = occurrences.vocabulary;
  const sorted = Array.from(step.value, (word) => Buffer.from(octets.slice(starts[word]!, starts[word + 1]!)));
  t.deepEqual(sorted, words.map((word) => Buffer.from(word)).sort(Buffer.compare));
  return turns;
}

/** Gothic letters, of four octets each. */
const letter = (n: number): string => String.fromCodePoint(0x10330 + (n % 26));

test('words are brought in the order of their octets, many long ones that begin alike with turns in between', (t) => {
  const ends = Array.from({ length: 900 }, (_, i) => letter(i * 7) + letter(Math.floor(i / 26)) + letter(i));
  const short = [...new Set(ends)];
  const long = short.map((end) => letter(0).repeat(60) + end);
  t.is(turnsOf(t, ['zoe', 'a', 'ab', 'abcdefg', 'abcdef', 'abcde']), 0);
  t.is(turnsOf(t, short), 0);
  t.true(turnsOf(t, long) >= 2);
});
