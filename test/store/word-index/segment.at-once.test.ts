// Tests segments that are built at the same time, in turns of the event loop, with shared arrays: each equals one built alone.

import type { IndexPage } from '../../../src/store/word-index/index-page.js';
import { pagesOf } from '../../../src/store/word-index/segment.js';
import test from '../../support/test.js';
import { sampleTexts } from './sample-texts.js';

const SEGMENTS: readonly [seed: number, emails: number, characters: number, foreign: number][] = [
  [2, 1, 60_000, 0],
  [4, 16, 4_000, 2],
  [5, 40, 3_000, 30],
  [6, 3, 200_000, 100],
  [9, 2, 260_000, 20],
];

const contentOf = (pages: readonly IndexPage[]) =>
  pages.map(({ firstWord, part, words, positions }) => [firstWord, part, Buffer.from(words), Buffer.from(positions)]);

test('segments that are made at once are each as one that is made alone', async (t) => {
  const texts = SEGMENTS.map(([seed, emails, characters, foreign]) => sampleTexts(seed, emails, characters, foreign));
  const alone: unknown[] = [];
  for (const some of texts) alone.push(contentOf(await pagesOf(some)));
  const atOnce = await Promise.all([...texts, ...texts].map(async (some) => contentOf(await pagesOf(some))));
  for (const [i, content] of atOnce.entries()) t.deepEqual(content, alone[i % texts.length]);
});
