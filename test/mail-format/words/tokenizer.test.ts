// Tests words as octets: they equal those of `wordsOf`, whatever stands between stretches of ASCII.

import fc from 'fast-check';
import { wordsOf } from '../../../src/mail-format/words/search-text.js';
import { Tokenizer } from '../../../src/mail-format/words/tokenizer.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const tokenizer = new Tokenizer();

function wordsCut(text: string, limit?: number): string[] {
  const octets = Buffer.from(text);
  tokenizer.tokenize(octets, 0, octets.length, limit);
  return cutWords();
}

function cutWords(): string[] {
  return Array.from({ length: tokenizer.count }, (_, i) => {
    const start = i === 0 ? tokenizer.start : tokenizer.ends[i - 1]!;
    return Buffer.from(tokenizer.octets.subarray(start, tokenizer.endOfWord(start, tokenizer.ends[i]!))).toString();
  });
}

/** Tokenizes the text piece by piece. */
function piecesOf(text: string, length: number): { readonly pieces: string[]; readonly words: string[] } {
  const octets = Buffer.from(text);
  const pieces: string[] = [];
  const words: string[] = [];
  for (let start = 0, end = 0; start < octets.length; start = end) {
    end = tokenizer.endOfPiece(octets, start, length);
    pieces.push(octets.toString('utf8', start, end));
    tokenizer.tokenize(octets, start, end);
    words.push(...cutWords());
  }
  return { pieces, words };
}

const LONG = 'all of it is ASCII for a while, Ann <ann.b@example.org> wrote; '.repeat(4);
const part = fc.oneof(
  fc.constantFrom(
    ...[
      'a',
      'B9',
      'Zoe',
      ' ',
      '\r\n',
      '-',
      'e\u0301',
      '\u0301',
      'x\u0328\u0301y',
      'é',
      '’',
      '“',
      '\u00a0',
      '…',
      '½',
      '①',
      'ﬁ',
    ],
    ...[
      'İ',
      'ΟΔΟΣ',
      'ς',
      'ß',
      'Привет',
      '東京',
      'ภาษา',
      '🎉',
      '💌',
      '\u200d',
      '\ufeff',
      '\0',
      '\ud800',
      '\u0338',
      '\u{10450}',
    ],
    ...[LONG, `${LONG}x`, 'y'.repeat(200), 'é'.repeat(70), '\u{10450}'.repeat(70), `a\u0301${'b'.repeat(140)}`],
  ),
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.string({ maxLength: 8 }),
);

test('the octets are the words that the text has', (t) => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const text = parts.join('');
      t.deepEqual(wordsCut(text), wordsOf(text));
    }),
    { numRuns: runs(5000) },
  );
});

test('marks behind letters of ASCII belong to their words, wherever a stretch of other characters begins or ends', (t) => {
  const other = ['\u0301', 'é', '’', 'ж', '東', '🎉', '½'];
  for (const each of other)
    for (let before = 0; before < 140; before++) {
      const text = `${'x'.repeat(before)}${each}${'y'.repeat(139 - before)} ${LONG}z${each}${LONG}`;
      t.deepEqual(wordsCut(text), wordsOf(text), text);
    }
});

test('a limit ends the words', (t) => {
  const text = `Strasse ${LONG} straße STRASSE’ strasse ж ${LONG} ж`;
  const words = wordsOf(text);
  for (let limit = 0; limit <= words.length; limit++) t.deepEqual(wordsCut(text, limit), words.slice(0, limit));
});

test('every character becomes what it becomes within a text', (t) => {
  for (let first = 0; first < 0x110000; first += 0x100) {
    const characters = Array.from({ length: 0x100 }, (_, i) => `x${String.fromCodePoint(first + i)}y`);
    const text = characters.join(' ');
    t.deepEqual(wordsCut(text), wordsOf(text), `from ${first.toString(16)}`);
  }
});

test('pieces of a text have its words', (t) => {
  const some = fc.oneof(
    fc.constantFrom(' ', '\n', 'Σ', 'ας ', 'e\u0301', 'e\u0e34', ' \u0301', '\r\n', '🎉', 'İ', '漢字', 'ที่', '½', '—'),
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.string({ maxLength: 8 }),
  );
  fc.assert(
    fc.property(fc.array(some, { maxLength: 30 }), fc.integer({ min: 1, max: 20 }), (parts, length) => {
      const text = Buffer.from(parts.join('')).toString();
      const { pieces, words } = piecesOf(text, length);
      t.is(pieces.join(''), text);
      t.deepEqual(words, wordsOf(text));
      for (const piece of pieces)
        t.false(/[ \n]/.test(Buffer.from(piece).toString('latin1', length)), 'no longer than it has to be');
    }),
    { numRuns: runs(3000) },
  );
});

test('text without spaces is cut as well', (t) => {
  for (const text of ['漢字'.repeat(10_000), 'ภาษา'.repeat(5_000), '漢字、🎉'.repeat(5_000), 'a,b'.repeat(7_000)]) {
    const { pieces, words } = piecesOf(text, 1_000);
    t.is(pieces.join(''), text);
    t.deepEqual(words, wordsOf(text));
    t.true(Math.max(...pieces.map((piece) => Buffer.byteLength(piece))) <= 1_010);
  }
  for (const word of ['é'.repeat(20_000), '𝒂'.repeat(20_000), 'x'.repeat(20_000)]) {
    const { pieces, words } = piecesOf(`${word} end`, 1_001);
    t.is(pieces.join(''), `${word} end`);
    t.true(Math.max(...pieces.map((piece) => Buffer.byteLength(piece))) <= 6_000);
    t.deepEqual([words[0], words.at(-1)], [wordsOf(word)[0], 'end']);
  }
});
