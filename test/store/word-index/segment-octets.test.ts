// Segments are octet for octet what the versions before have written: hashes of theirs, of texts that are the same in every run.
import { createHash } from 'node:crypto';
import test from 'ava';
import { pagesOf } from '../../../src/store/word-index/segment.js';
import { sampleTexts } from './sample-texts.js';

const SEGMENTS: readonly [seed: number, emails: number, characters: number, foreign: number, hash: string][] = [
  [1, 1, 4_000, 0, 'a46062e2dbcf55f9440c2588712c90f0'],
  [2, 1, 60_000, 0, '5d49e7514bd960a9468837041cfc5c41'],
  [3, 1, 60_000, 1, '1b44a9f7d65036e96bd267c28a69f478'],
  [4, 16, 4_000, 2, 'ec13d594c920f8dec90c372bce8b4a0b'],
  [5, 40, 3_000, 30, '85ffbec1b6869cda705407bb00ffa7b1'],
  [6, 3, 200_000, 100, '2777e55c79522a4246391dac7a983ccb'],
  [7, 1, 900_000, 0, 'b2bc56101833a70cbf734ad96a1672fc'],
  [8, 300, 1_500, 5, 'fd74c5d13836ae6c6755a357f70eac5e'],
  [9, 2, 260_000, 20, '2e1ba6847789f25b75a9018af0c8f305'],
  // Longer than what is found of a body.
  [15, 1, 2_500_000, 1, '828d88b2bc6c0ba182b3487cb46d0077'],
  [16, 1, 1_000_000, 90, 'e7ab182673cd8e0e3e2ceb68a6a93b80'],
];

for (const [seed, emails, characters, foreign, expected] of SEGMENTS)
  test(`${emails} emails of up to ${characters} characters, ${foreign} % of their words not ASCII (seed ${seed})`, async (t) => {
    const texts = sampleTexts(seed, emails, characters, foreign);
    // Several at a time: what one leaves in memory changes no other.
    for (const pages of await Promise.all([pagesOf(texts), pagesOf(texts), pagesOf(texts)])) {
      const hash = createHash('sha256');
      for (const { firstWord, part, words, positions } of pages) {
        const first = Buffer.from(firstWord, 'latin1').toString('hex');
        hash.update(`${first} ${part} ${words.length} ${positions.length}\n`).update(words).update(positions);
      }
      t.is(hash.digest('hex').slice(0, 32), expected);
    }
  });
