// The text of a tsvector against its plain definition: each lexeme once, with the positions and weights of its words, within
// the limits of a tsvector.
import test from 'ava';
import fc from 'fast-check';
import { tsvectorOf } from '../../src/store/postgres/search-words.js';
import type { IndexedWords } from '../../src/store/search.js';

const ACCOUNT = '01a20640-2924-7000-a729-5b5ff2b1abd0';

function definition({ subject, sender, recipients, attachments, body }: IndexedWords): string {
  const lexemes = new Map<string, string[]>();
  let octets = 0;
  let position = 0;
  for (const [words, weight] of [
    [subject, 'A'],
    [sender, 'B'],
    [recipients, 'B'],
    [attachments, 'C'],
    [body, 'C'],
  ] as const) {
    let isFull = false;
    for (const word of words) {
      position = Math.min(position + 1, 16_383);
      if (!lexemes.has(word)) {
        octets += 7 + Buffer.byteLength(word) + 8;
        isFull = octets > 800_000;
        if (isFull) break;
        lexemes.set(word, []);
      }
      const positions = lexemes.get(word)!;
      if (positions.length === 255) continue;
      octets += 2;
      positions.push(position + weight);
    }
    if (!isFull) position = Math.min(position + 10, 16_383);
  }
  return [...lexemes].map(([word, positions]) => `'2b1abd0${word}':${positions.join(',')} `).join('');
}

const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'the', 'strasse', '漢', '🎉', 'οδοσ', 'x'.repeat(64)) },
  { weight: 1, arbitrary: fc.stringMatching(/^[a-z0-9é漢\u{20000}]{1,64}$/u) },
);
const words = fc.array(word, { maxLength: 40 });

test('random words come out as the definition says, one email after the other', (t) => {
  const email = fc.record({ subject: words, sender: words, recipients: words, attachments: words, body: words });
  fc.assert(
    fc.property(fc.array(email, { maxLength: 4 }), (emails) => {
      for (const each of emails) t.is(tsvectorOf(ACCOUNT, each), definition(each));
    }),
    { numRuns: 300 },
  );
});

test('many words, words that come often and words that are too many come out as the definition says', (t) => {
  const none = { subject: ['x'], sender: [], recipients: [], attachments: ['x', 'y'] };
  const often = Array.from({ length: 60_000 }, (_, i) => (i % 3 === 0 ? 'again' : `w${i % 700}`));
  const many = Array.from({ length: 60_000 }, (_, i) => `w${i.toString(36)}é漢`);
  const ends = { recipients: many, body: ['x', 'end', 'x'] };
  for (const email of [
    { ...none, body: often },
    { ...none, body: many },
    { ...none, ...ends },
    { ...none, body: [] },
  ])
    t.is(tsvectorOf(ACCOUNT, email), definition(email));
});
