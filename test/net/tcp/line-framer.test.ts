// Tests the framer against a model that reads the whole text at once, with random cuts.

import fc from 'fast-check';
import { FramingError, LineFramer, type LineFramerOptions } from '../../../src/net/tcp/line-framer.js';
import test from '../../support/test.js';

const MAX = 8;

/** Returns what each read gives, by the definition: a line, an error, or a run of octets after a line `{n}`. */
function model(text: string, { maxLine, bareLf }: LineFramerOptions): string[] {
  const found: string[] = [];
  let rest = text;
  for (;;) {
    const at = rest.indexOf('\n');
    if (at < 0) {
      // The line is too long whatever follows, unless its last CR belongs to the end of the line.
      if (rest.replace(/\r$/, '').length > maxLine) found.push('! line-too-long');
      return found;
    }
    const isCrLf = rest[at - 1] === '\r';
    const line = rest.slice(0, isCrLf ? at - 1 : at);
    rest = rest.slice(at + 1);
    if (line.length > maxLine) found.push('! line-too-long');
    else if (!isCrLf && bareLf === 'refused') found.push('! bare-line-feed');
    else {
      found.push(line);
      const length = Number(/\{(\d)\}$/.exec(line)?.[1] ?? 0);
      if (length === 0) continue;
      if (rest.length < length) return found;
      found.push(`[${rest.slice(0, length)}]`);
      rest = rest.slice(length);
    }
  }
}

function read(pieces: readonly string[], options: LineFramerOptions): string[] {
  const framer = new LineFramer(options);
  const found: string[] = [];
  const kept: Buffer[] = [];
  let left = 0;
  let octets = '';
  for (const piece of pieces) {
    framer.push(Buffer.from(piece, 'latin1'));
    for (;;) {
      if (left > 0) {
        const run = framer.readOctets(left);
        if (run === undefined) break;
        octets += run.toString('latin1');
        left -= run.length;
        if (left > 0) continue;
        found.push(`[${octets}]`);
        octets = '';
      }
      try {
        const line = framer.readLine();
        if (line === undefined) break;
        kept.push(line);
        found.push(line.toString('latin1'));
        left = Number(/\{(\d)\}$/.exec(found.at(-1)!)?.[1] ?? 0);
      } catch (error) {
        if (!(error instanceof FramingError)) throw error;
        found.push(`! ${error.reason}`);
      }
    }
  }
  // Returned lines must not change later.
  const lines = found.filter((text, i) => !text.startsWith('! ') && !(text.startsWith('[') && isRun(found, i)));
  if (kept.some((line, i) => line.toString('latin1') !== lines[i])) throw new Error('a line has changed');
  return found;
}

const isRun = (found: readonly string[], i: number): boolean => /\{[1-9]\}$/.test(found[i - 1] ?? '');

function cut(text: string, at: readonly number[]): string[] {
  const places = [...new Set(at.map((n) => n % (text.length + 1)))].sort((a, b) => a - b);
  return [...places, text.length].map((place, i) => text.slice(places[i - 1] ?? 0, place));
}

const pieces = fc
  .array(fc.constantFrom('a', '\r\n', '\n', '\r', '{3}', '{3}\r\n', 'abcdefgh', 'long line'), { maxLength: 30 })
  .map((all) => all.join(''));

for (const bareLf of ['ends-line', 'refused'] as const) {
  test(`lines and octets are those of the definition, however the text is cut; a bare LF ${bareLf}`, (t) => {
    const options = { maxLine: MAX, bareLf };
    fc.assert(
      fc.property(pieces, fc.array(fc.nat(1000)), (text, at) => {
        t.deepEqual(read(cut(text, at), options), model(text, options));
      }),
    );
  });
}

test('a line that never ends is refused once, holds no memory, and the line after it is read', (t) => {
  const framer = new LineFramer({ maxLine: MAX, bareLf: 'refused' });
  framer.push(Buffer.from('a'.repeat(MAX + 2)));
  t.throws(() => framer.readLine(), { instanceOf: FramingError, message: 'line-too-long' });
  for (let i = 0; i < 100; i++) {
    framer.push(Buffer.alloc(1000, 97));
    t.is(framer.readLine(), undefined);
    t.is(framer.buffered, 0);
  }
  framer.push(Buffer.from('\r\nnext\r\n'));
  t.is(framer.readLine()?.toString(), 'next');
});

test('what was discarded is not read', (t) => {
  const framer = new LineFramer({ maxLine: MAX, bareLf: 'refused' });
  framer.push(Buffer.from('one\r\ntwo\r\nthr'));
  t.is(framer.readLine()?.toString(), 'one');
  framer.discard();
  framer.push(Buffer.from('four\r\n'));
  t.is(framer.readLine()?.toString(), 'four');
});
