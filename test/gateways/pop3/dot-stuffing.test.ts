// Tests dot-stuffing of messages, wherever the pieces end: a client that removes the dots gets the message; and tests TOP.

import fc from 'fast-check';
import { DotStuffing, TopOfMessage } from '../../../src/gateways/pop3/dot-stuffing.js';
import test from '../../support/test.js';

/** Returns all octets that are sent for a message in these pieces. */
function sent(pieces: readonly Buffer[]): string {
  const stuffing = new DotStuffing();
  const octets = pieces.flatMap((piece) => stuffing.stuffed(piece));
  return Buffer.concat(octets).toString('latin1') + stuffing.end;
}

function cutAt(message: string, ...places: readonly number[]): Buffer[] {
  const octets = Buffer.from(message, 'latin1');
  const ends = [...places.filter((place) => place <= octets.length).sort((a, b) => a - b), octets.length];
  return ends.map((end, i) => octets.subarray(ends[i - 1] ?? 0, end));
}

for (const [message, expected] of [
  ['', '.\r\n'],
  ['\r\n', '\r\n.\r\n'],
  ['.', '..\r\n.\r\n'],
  ['.\r\n', '..\r\n.\r\n'],
  ['..\r\n', '...\r\n.\r\n'],
  ['a\r\n.\r\nb\r\n', 'a\r\n..\r\nb\r\n.\r\n'],
  ['a\r\n..b\r\n.c\r\n', 'a\r\n...b\r\n..c\r\n.\r\n'],
  ['a.b\r\nc.\r\n', 'a.b\r\nc.\r\n.\r\n'],
  ['a\n.\nb\r\n', 'a\n..\nb\r\n.\r\n'],
  ['\n\n..\r\n', '\n\n...\r\n.\r\n'],
  ['no end', 'no end\r\n.\r\n'],
  ['bare\n', 'bare\n\r\n.\r\n'],
  ['cr\r', 'cr\r\r\n.\r\n'],
] as const) {
  test(`${JSON.stringify(message)} is sent as ${JSON.stringify(expected)}, cut at every octet`, (t) => {
    for (let first = 0; first <= message.length; first++) {
      for (let second = first; second <= message.length; second++) {
        t.is(sent(cutAt(message, first, second)), expected);
      }
    }
  });
}

const soup = fc
  .array(fc.constantFrom('.', '..', '\r', '\n', '\r\n', 'a', 'text', '\u00ff'), { maxLength: 60 })
  .map((parts) => parts.join(''));
const places = fc.array(fc.nat(200), { maxLength: 6 });

test('no line of a response is a dot before its end, and unstuffing gives the message', (t) => {
  fc.assert(
    fc.property(soup, places, (message, at) => {
      const response = sent(cutAt(message, ...at));
      t.true(response.endsWith('.\r\n'));
      const lines = response.slice(0, -3);
      t.false(/(^|\n)\.\r?\n/.test(lines));
      const unstuffed = lines.replace(/(^|\n)\./g, '$1');
      t.true(unstuffed === message || unstuffed === `${message}\r\n`);
      t.is(unstuffed === message, message === '' || message.endsWith('\r\n'));
    }),
  );
});

function topOf(pieces: readonly Buffer[], lines: number): string {
  const top = new TopOfMessage(lines);
  const octets: Buffer[] = [];
  for (const piece of pieces) {
    if (top.isOver) break;
    octets.push(top.wanted(piece));
  }
  return Buffer.concat(octets).toString('latin1');
}

for (const [lines, expected] of [
  [0, 'A: b\r\nC: d\r\n\r\n'],
  [1, 'A: b\r\nC: d\r\n\r\none\r\n'],
  [2, 'A: b\r\nC: d\r\n\r\none\r\n\r\n'],
  [3, 'A: b\r\nC: d\r\n\r\none\r\n\r\nthree'],
  [99, 'A: b\r\nC: d\r\n\r\none\r\n\r\nthree'],
] as const) {
  test(`the top of a message, ${lines} lines, cut at every octet`, (t) => {
    const message = 'A: b\r\nC: d\r\n\r\none\r\n\r\nthree';
    for (let at = 0; at <= message.length; at++) t.is(topOf(cutAt(message, at), lines), expected);
    const bare = message.replaceAll('\r\n', '\n');
    for (let at = 0; at <= bare.length; at++) t.is(topOf(cutAt(bare, at), lines), expected.replaceAll('\r\n', '\n'));
  });
}

test('the top of a message without header or body', (t) => {
  t.is(topOf(cutAt('\r\nbody\r\nmore'), 1), '\r\nbody\r\n');
  t.is(topOf(cutAt('A: b\r\n'), 5), 'A: b\r\n');
  t.is(topOf(cutAt('A: b\r\n\r\r\nx\r\n'), 0), 'A: b\r\n\r\r\nx\r\n');
});
