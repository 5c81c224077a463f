// Text of words as frequent as those of a language: most of a message's words are few, most different ones are rare.
import { wordOf, zipf } from './large-store.js';

/** Of so many characters, ASCII, in lines of 13 words. */
export function textOf(n: number, size: number): string {
  const words: string[] = [];
  for (let length = 0, i = 0; length < size; i++) {
    const word = wordOf(zipf(n * 1_000_000 + i));
    words.push(i % 13 === 0 ? `${word}.\r\n` : word);
    length += word.length + 1;
  }
  return words.join(' ').slice(0, size);
}
