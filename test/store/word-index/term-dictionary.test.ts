// Tests numbers of words: words that collide in the hash table, and a table that grows.

import { Tokenizer } from '../../../src/mail/tokenizer.js';
import { TermDictionary } from '../../../src/store/word-index/term-dictionary.js';
import test from '../../support/test.js';

/** Adds the words of a text, or finds them; returns their numbers. */
function numbersOf(dictionary: TermDictionary, text: string): number[] {
  const tokenizer = new Tokenizer();
  tokenizer.tokenize(Buffer.from(text), 0, text.length);
  const { octets, ends, count, start } = tokenizer;
  return Array.from({ length: count }, (_, i) => dictionary.numberOf(octets, i === 0 ? start : ends[i - 1]!, ends[i]!));
}

/** Returns different words of one length with the same end, whose hashes lead to one place. */
function wordsOfOnePlace(): string[] {
  return Array.from({ length: 400 }, (_, n) => `${n.toString(36).padStart(4, 'x')}zoe45678`);
}

test('a word keeps its number, also among many that want its place, and when the table grows', (t) => {
  const alike = wordsOfOnePlace();
  const others = Array.from({ length: 30_000 }, (_, n) => `w${n}`);
  const dictionary = new TermDictionary();
  for (let round = 0; round < 2; round++) {
    const numbers = Array.from(alike, (_, i) => i);
    t.deepEqual(numbersOf(dictionary, alike.join(' ')), numbers);
    t.deepEqual(numbersOf(dictionary, alike.join(' ')), numbers);
    t.is(dictionary.size, alike.length);
    const behind = Array.from(others, (_, i) => alike.length + i);
    t.deepEqual(numbersOf(dictionary, others.join(' ')), behind);
    t.deepEqual(numbersOf(dictionary, alike.toReversed().join(' ')), numbers.toReversed());
    t.deepEqual(numbersOf(dictionary, others.join(' ')), behind);
    const { octets, starts } = dictionary;
    for (const [i, word] of [...alike, ...others].entries())
      if (Buffer.from(octets.subarray(starts[i], starts[i + 1])).toString() !== word) t.fail(word);
    dictionary.clear();
  }
});
