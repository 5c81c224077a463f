// Text whose words are as frequent as those of a language: a few words make up most of a message, and most different words are rare.
import { wordOf, zipf } from './large-store.js';

/** Returns ASCII text of `size` characters, in lines of 13 words. */
export function textOf(n: number, size: number): string {
  const words: string[] = [];
  for (let length = 0, i = 0; length < size; i++) {
    const word = wordOf(zipf(n * 1_000_000 + i));
    words.push(i % 13 === 0 ? `${word}.\r\n` : word);
    length += word.length + 1;
  }
  return words.join(' ').slice(0, size);
}
