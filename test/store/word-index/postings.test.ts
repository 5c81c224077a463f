import type { ExecutionContext } from 'ava';
import { Tokenizer } from '../../../src/mail/tokenizer.js';
import { BODY_POSITION } from '../../../src/store/word-index/index-page.js';
import { Postings } from '../../../src/store/word-index/postings.js';
import test from '../../support/test.js';

/** Returns how many turns the event loop has while these words are sorted. */
function turnsOf(t: ExecutionContext, words: readonly string[]): number {
  const tokenizer = new Tokenizer();
  const postings = new Postings();
  const text = Buffer.from(words.join(' '));
  tokenizer.tokenize(text, 0, text.length);
  postings.clear();
  postings.beginEmail(0);
  postings.add(tokenizer, BODY_POSITION, true);
  const sorting = postings.sort();
  let turns = 0;
  let step = sorting.next();
  for (; step.done !== true; step = sorting.next()) turns++;
  const { octets, starts } = postings.dictionary;
  const sorted = Array.from(step.value, (word) => Buffer.from(octets.slice(starts[word]!, starts[word + 1]!)));
  t.deepEqual(sorted, words.map((word) => Buffer.from(word)).sort(Buffer.compare));
  return turns;
}

/** Returns Gothic letters, which have four octets each. */
const letter = (n: number): string => String.fromCodePoint(0x10330 + (n % 26));

test('words are brought in the order of their octets, many long ones that begin alike with turns in between', (t) => {
  const ends = Array.from({ length: 900 }, (_, i) => letter(i * 7) + letter(Math.floor(i / 26)) + letter(i));
  const short = [...new Set(ends)];
  const long = short.map((end) => letter(0).repeat(60) + end);
  t.is(turnsOf(t, ['zoe', 'a', 'ab', 'abcdefg', 'abcdef', 'abcde']), 0);
  t.is(turnsOf(t, short), 0);
  t.true(turnsOf(t, long) >= 2);
});
