// Tests the decoder of DATA against a plain model of RFC 5321 §4.5.2, with every way of cutting the octets.

import fc from 'fast-check';
import { DataDecoder } from '../../../src/gateways/smtp/data-decoder.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

interface Decoded {
  readonly ended: boolean;
  readonly malformed: boolean;
  /** Undefined when malformed: such content must not be used. */
  readonly content: string | undefined;
  readonly rest: string;
}

/** Follows the words of the RFC, on the whole text at once. */
function model(raw: string): Decoded {
  const end = `\r\n${raw}`.indexOf('\r\n.\r\n');
  const ended = end >= 0;
  // `end` includes the two octets put in front, and points to the two octets before the dot.
  const message = ended ? raw.slice(0, end) : raw;
  const malformed = /\r(?!\n)|(?<!\r)\n/.test(ended ? message : message.replace(/\r$/, ''));
  const lines = message.split('\r\n').map((line) => (line.startsWith('.') ? line.slice(1) : line));
  return {
    ended,
    malformed,
    content: malformed ? undefined : lines.join('\r\n'),
    rest: ended ? raw.slice(end + 3) : '',
  };
}

/** `start` is the offset of each piece in its buffer. */
function decode(pieces: readonly string[], start = 0): Decoded {
  const decoder = new DataDecoder();
  let content = '';
  for (const [i, piece] of pieces.entries()) {
    const chunk = Buffer.alloc(start + piece.length + 4, '\r').subarray(start, start + piece.length);
    chunk.write(piece, 'latin1');
    const end = decoder.decode(chunk);
    content += chunk.toString('latin1', 0, decoder.contentLength);
    if (end < 0) continue;
    const rest = chunk.toString('latin1', end) + pieces.slice(i + 1).join('');
    return { ended: true, malformed: decoder.malformed, content: decoder.malformed ? undefined : content, rest };
  }
  return {
    ended: false,
    malformed: decoder.malformed,
    content: decoder.malformed ? undefined : content,
    rest: '',
  };
}

function cut(text: string, at: readonly number[]): string[] {
  const places = [...new Set(at.map((n) => n % (text.length + 1)))].sort((a, b) => a - b);
  const pieces: string[] = [];
  let from = 0;
  for (const place of [...places, text.length]) {
    pieces.push(text.slice(from, place));
    from = place;
  }
  return pieces;
}

const octets = fc
  .array(fc.constantFrom('\r\n', '\r\n', '\r\n.', '.', '\r', '\n', 'a', '\0', 'bc', '\r\n.\r\n'), { maxLength: 14 })
  .map((parts) => parts.join(''));

test('decodes as the model does, however the octets are cut', (t) => {
  fc.assert(
    fc.property(octets, fc.array(fc.nat(40), { maxLength: 6 }), (raw, at) => {
      const expected = model(raw);
      for (const pieces of [[raw], [...raw], cut(raw, at)]) {
        const actual = decode(pieces);
        // The model counts a pending dot or CR as content; before the end is known, that makes no difference.
        if (expected.ended) t.deepEqual(actual, expected);
        else {
          t.false(actual.ended);
          t.is(actual.malformed, expected.malformed);
        }
      }
    }),
    { numRuns: runs(5000) },
  );
});

const longer = fc
  .array(
    fc.oneof(
      fc.constantFrom('\r\n', '\r\n.', '\r', '\n', '\t', '\x0f', '\x10', '\x80', '\x8d', '\xff'),
      fc.integer({ min: 1, max: 30 }).map((length) => '\xf0 a\x1d'.repeat(length).slice(0, length)),
    ),
    { maxLength: 30 },
  )
  .map((parts) => `${parts.join('')}\r\n.\r\n`);

test('lines of any octets are decoded as the model does, wherever in a buffer they begin', (t) => {
  fc.assert(
    fc.property(longer, fc.array(fc.nat(300), { maxLength: 3 }), fc.nat(7), (raw, at, start) => {
      t.deepEqual(decode(cut(raw, at), start), model(raw));
    }),
    { numRuns: runs(3000) },
  );
});

test('every string of up to seven octets of CR, LF, dot and a letter', (t) => {
  let wrong = 0;
  const walk = (raw: string, left: number): void => {
    const expected = model(`${raw}\r\n.\r\n`);
    const actual = decode([...`${raw}\r\n.\r\n`]);
    if (JSON.stringify(expected) !== JSON.stringify(actual)) wrong++;
    if (left > 0) for (const octet of ['\r', '\n', '.', 'a']) walk(raw + octet, left - 1);
  };
  walk('', 7);
  t.is(wrong, 0);
});

test('an empty message, and one of nothing but dots', (t) => {
  t.deepEqual(decode(['.\r\nQUIT']), { ended: true, malformed: false, content: '', rest: 'QUIT' });
  t.is(decode(['..\r\n...\r\n.x\r\n.\r\n']).content, '.\r\n..\r\nx\r\n');
});
