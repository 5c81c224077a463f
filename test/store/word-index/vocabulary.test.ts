// Numbers of words: words that stand in each other's places in the hash table, and a table that grows.
import test from 'ava';
import { WordCutter } from '../../../src/mail/word-cutter.js';
import { Vocabulary } from '../../../src/store/word-index/vocabulary.js';

/** Adds the words of a text, or finds them. */
function numbersOf(vocabulary: Vocabulary, text: string): number[] {
  const cutter = new WordCutter();
  cutter.cut(text);
  return Array.from({ length: cutter.count }, (_, i) =>
    vocabulary.numberOf(cutter.octets, i === 0 ? 0 : cutter.ends[i - 1]!, cutter.ends[i]!, cutter.hashes[i]!),
  );
}

/** Different words whose hashes lead to one place of a table of 4,096. */
function wordsOfOnePlace(): string[] {
  const words = Array.from({ length: 600_000 }, (_, n) => `zoe${n.toString(36)}`);
  const cutter = new WordCutter();
  cutter.cut(words.join(' '));
  return words.filter((_, i) => ((cutter.hashes[i]! ^ (cutter.hashes[i]! >>> 15)) & 4_095) === 7);
}

test('a word keeps its number, also among many that want its place, and when the table grows', (t) => {
  const alike = wordsOfOnePlace();
  t.true(alike.length > 100);
  const others = Array.from({ length: 30_000 }, (_, n) => `w${n}`);
  const vocabulary = new Vocabulary();
  for (let round = 0; round < 2; round++) {
    const numbers = Array.from(alike, (_, i) => i);
    t.deepEqual(numbersOf(vocabulary, alike.join(' ')), numbers);
    t.deepEqual(numbersOf(vocabulary, alike.join(' ')), numbers);
    t.is(vocabulary.size, alike.length);
    const behind = Array.from(others, (_, i) => alike.length + i);
    t.deepEqual(numbersOf(vocabulary, others.join(' ')), behind);
    t.deepEqual(numbersOf(vocabulary, alike.toReversed().join(' ')), numbers.toReversed());
    t.deepEqual(numbersOf(vocabulary, others.join(' ')), behind);
    const { octets, starts } = vocabulary;
    for (const [i, word] of [...alike, ...others].entries())
      if (Buffer.from(octets.subarray(starts[i], starts[i + 1])).toString() !== word) t.fail(word);
    vocabulary.clear();
  }
});
