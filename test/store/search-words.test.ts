// Tsvectors in binary against their plain definition: each lexeme once, with the positions and weights of its words, within
// the limits of a tsvector.
import test from 'ava';
import fc from 'fast-check';
import { Tsvectors } from '../../src/store/postgres/search-words.js';
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
      // Of words at the last position only the first counts.
      if (positions.length === 255 || (positions.length > 0 && Number.parseInt(positions.at(-1)!, 10) === position))
        continue;
      octets += 2;
      positions.push(position + weight);
    }
    if (!isFull) position = Math.min(position + 10, 16_383);
  }
  return [...lexemes].map(([word, positions]) => `'2b1abd0${word}':${positions.join(',')} `).join('');
}

/** In the text form, as PostgreSQL reads the binary one. */
function textsOf(emails: readonly IndexedWords[]): string[] {
  const vectors = new Tsvectors();
  for (const email of emails) vectors.add(ACCOUNT, email);
  const octets = Buffer.concat(vectors.octets().pieces);
  let at = 0;
  const int32 = () => {
    at += 4;
    return octets.readInt32BE(at - 4);
  };
  const int16 = () => {
    at += 2;
    return octets.readUInt16BE(at - 2);
  };
  const [dimensions, nulls, type, count, first] = [int32(), int32(), int32(), int32(), int32()];
  if (dimensions !== 1 || nulls !== 0 || type !== 3614 || first !== 1) throw new Error('no array of tsvectors');
  const texts = Array.from({ length: count }, () => {
    const end = int32() + at;
    const lexemes = Array.from({ length: int32() }, () => {
      const word = octets.toString('utf8', at, octets.indexOf(0, at));
      at = octets.indexOf(0, at) + 1;
      const entries = Array.from({ length: int16() }, int16);
      return `'${word}':${entries.map((entry) => `${entry & 16_383}${'DCBA'[entry >> 14]}`).join(',')} `;
    });
    if (at !== end) throw new Error('another length than the element says');
    return lexemes.join('');
  });
  if (at !== octets.length) throw new Error('octets behind the array');
  return texts;
}

const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'the', 'strasse', '漢', '🎉', 'οδοσ', 'x'.repeat(64)) },
  { weight: 1, arbitrary: fc.stringMatching(/^[a-z0-9é漢\u{20000}]{1,64}$/u) },
);
const words = fc.array(word, { maxLength: 40 });

test('random words come out as the definition says, one email after the other', (t) => {
  const email = fc.record({ subject: words, sender: words, recipients: words, attachments: words, body: words });
  fc.assert(
    fc.property(fc.array(email, { minLength: 1, maxLength: 4 }), (emails) => {
      t.deepEqual(textsOf(emails), emails.map(definition));
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
    t.is(textsOf([email])[0], definition(email));
});
