// Tests uuencode: output of a standard encoder is read in any pieces, and broken input is read as far as possible.

import fc from 'fast-check';
import { decodeStream, decodeTransfer } from '../../../src/mail-format/decode/transfer.js';
import { UuDecoder } from '../../../src/mail-format/decode/uuencode.js';
import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { caseIndex, caseMessage } from '../cases.js';
import { inPieces, piecesOf } from '../pieces.js';

/** `zero` is the character of six zero bits. */
function uuencoded(octets: Uint8Array, { width = 45, zero = '`', lineEnd = '\r\n' } = {}): string {
  const character = (bits: number) => (bits === 0 ? zero : String.fromCharCode(0x20 + bits));
  const lines = ['begin 644 a file.bin'];
  for (let at = 0; at < octets.length; at += width) {
    const line = octets.subarray(at, at + width);
    let text = character(line.length);
    for (let i = 0; i < line.length; i += 3) {
      const bits = (line[i]! << 16) | ((line[i + 1] ?? 0) << 8) | (line[i + 2] ?? 0);
      text += [18, 12, 6, 0].map((shift) => character((bits >> shift) & 63)).join('');
    }
    lines.push(text);
  }
  return [...lines, zero, 'end', ''].join(lineEnd);
}

const decoded = (text: string | Buffer) =>
  Buffer.from(decodeTransfer('x-uuencode', Buffer.from(text as string, 'latin1'))).toString('latin1');

test('what is encoded comes back, in any pieces', async (t) => {
  const form = fc.record({
    width: fc.integer({ min: 1, max: 63 }),
    zero: fc.constantFrom('`', ' '),
    lineEnd: fc.constantFrom('\n', '\r\n'),
  });
  const cuts = fc.array(fc.nat(2000), { maxLength: 8 });
  const encodings = fc.constantFrom('x-uuencode', 'uuencode', 'x-uue', 'uue');
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), form, cuts, encodings, async (octets, how, at, encoding) => {
      const raw = Buffer.from(uuencoded(octets, how), 'latin1');
      const pieces: Uint8Array[] = [];
      for await (const piece of decodeStream(encoding, inPieces(piecesOf(raw, at))))
        pieces.push(Uint8Array.from(piece));
      t.deepEqual(Buffer.concat(pieces), Buffer.from(octets));
    }),
    { numRuns: runs(300) },
  );
});

test('what is cut or broken is read alike in any pieces, and never gives more than it has', (t) => {
  const garbage = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((octets) => Buffer.from(octets).toString('latin1')),
    fc.string({ unit: fc.constantFrom(...'M#0`_ \r\nend', 'begin 644 x\n'), maxLength: 200 }),
  );
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.nat(400),
      garbage,
      fc.array(fc.nat(800)),
      (octets, end, rest, at) => {
        const text = uuencoded(octets).slice(0, end) + rest;
        const whole = decoded(text);
        t.true(whole.length <= text.length);
        const decoder = new UuDecoder();
        const pieces = piecesOf(Buffer.from(text, 'latin1'), at).map((piece) => Buffer.from(decoder.push(piece)));
        t.is(Buffer.concat([...pieces, Buffer.from(decoder.finish())]).toString('latin1'), whole);
      },
    ),
    { numRuns: runs(1000) },
  );
});

test('content that is not uuencoded is as it is; what follows the end is no data', (t) => {
  for (const text of ['', 'x', 'as it is', 'beginning 644 x\r\n#0V%T\r\n', `${' '.repeat(600)}begin 644 x\n#0V%T\n`])
    t.is(decoded(text), text);
  t.is(decoded('\r\n\nbegin 644 cat.txt\r\n#0V%T\r\n`\r\nend\r\nfooter\r\n#0V%T\r\n'), 'Cat');
  t.is(decoded('begin 644 cat.txt\n#0V%T\nend\n#0V%T\n'), 'Cat');
  t.is(decoded('begin 644 cat.txt\n#0V%T'), 'Cat');
  t.is(decoded('begin 644 cat.txt\n#0V%T and a mark of the line\n'), 'Cat');
  t.is(decoded('begin 644 cat.txt\n#0V$\n'), 'Ca\0');
});

test('an attachment in uuencode has its octets, its size and its name', (t) => {
  const [cat, ...others] = caseIndex('uuencode').attachments;
  t.like(cat, { section: '2', fileName: 'cat.txt', size: 3 });
  t.is(others.length, 0);
  const part = caseIndex('uuencode').root.parts[1]!;
  const octets = decodeTransfer(part.encoding, caseMessage('uuencode').subarray(part.bodyStart, part.bodyEnd));
  t.is(Buffer.from(octets).toString(), 'Cat');
  const unnamed = `Content-Type: image/gif\r\nContent-Transfer-Encoding: X-UUE\r\n\r\n${uuencoded(Buffer.from('GIF'))}`;
  t.like(indexMessage(Buffer.from(unnamed, 'latin1')).attachments[0], { fileName: 'a file.bin', size: 3 });
});

test('text in uuencode is text', (t) => {
  const raw = `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: x-uuencode\r\n\r\n${uuencoded(Buffer.from('Grüße'))}`;
  t.is(indexMessage(Buffer.from(raw, 'latin1')).preview, 'Grüße');
});
