// Makes emails whose texts are the same in every run: words of a few scripts, marks after letters, signs and long runs of letters.
import type { IndexedTexts } from '../../../src/store/search.js';

const ASCII = [
  'the',
  'invoice',
  'Zoe',
  'A',
  "it's",
  'e',
  'I',
  'x',
  '2026-11-23',
  'https://example.test/a?b=c%20d',
  '(foo_bar)',
  'ann@b.test,',
];
const MARKED = [
  'Grüße',
  'naïve',
  'e\u0301te\u0301',
  'a\u0301\u0328bc',
  'İSTANBUL',
  'ﬁne',
  'Łódź',
  'ΟΔΟΣ',
  'οδος',
  '\u0301x',
  '-\u0338y',
];
const OTHERS = [
  'Привет',
  'мир',
  '東京abcタワー',
  'ภาษาไทย',
  '🎉',
  '💌Zoë',
  '①½…',
  '한국어',
  'عربى',
  '\u{10450}\u{10451}',
  'don’t',
  '“so”',
];
const SIGNS = [' ', ' ', ' ', ' ', ' ', '\n', ', ', '. ', '\u00a0', '-', '', '\u200d', '\t'];

/** Returns numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `foreign` is the percentage of words that are not ASCII. */
export function sampleTexts(seed: number, emails: number, characters: number, foreign: number): IndexedTexts[] {
  const random = randomOf(seed);
  const one = (some: readonly string[]) => some[Math.floor(random() * some.length)]!;
  const word = (): string => {
    if (random() * 100 < foreign) return one(random() < 0.5 ? MARKED : OTHERS);
    if (random() < 0.2) return one(ASCII);
    if (random() < 0.002) return 'Long'.repeat(Math.floor(random() * 40));
    return Math.floor(random() ** 3 * 40_000).toString(36);
  };
  const text = (most: number): string => {
    let made = '';
    for (const length = Math.floor(random() * most); made.length < length; ) made += word() + one(SIGNS);
    return made;
  };
  return Array.from({ length: emails }, () => ({
    subject: text(60),
    sender: text(40),
    recipients: text(200),
    attachments: text(40),
    body: text(characters),
  }));
}
