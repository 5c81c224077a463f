// Transfer encodings: equal to the platform's decoders on well-formed input in any pieces, tolerant of broken input.
import test from 'ava';
import fc from 'fast-check';
import libqp from 'libqp';
import { Base64Counter } from '../../../src/mail/decode/base64.js';
import { decodeStream, decodeTransfer } from '../../../src/mail/decode/transfer.js';
import { runs } from '../../support/amounts.js';
import { inPieces, piecesOf } from '../pieces.js';

async function streamed(encoding: string, pieces: readonly Uint8Array[]): Promise<Buffer> {
  const decoded: Uint8Array[] = [];
  for await (const piece of decodeStream(encoding, inPieces(pieces))) {
    if (piece.length === 0) throw new Error('empty piece');
    decoded.push(Uint8Array.from(piece));
  }
  return Buffer.concat(decoded);
}

const cuts = fc.array(fc.nat(400), { maxLength: 8 });
const wrapped = (text: string, width: number) => text.replace(new RegExp(`.{${width}}`, 'g'), '$&\r\n');

test('base64 in any pieces is what Buffer decodes', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 300 }),
      fc.integer({ min: 1, max: 80 }),
      cuts,
      async (octets, width, at) => {
        const raw = Buffer.from(wrapped(Buffer.from(octets).toString('base64'), width));
        t.deepEqual(await streamed('base64', piecesOf(raw, at)), Buffer.from(octets));
        t.deepEqual(Buffer.from(decodeTransfer('base64', raw)), Buffer.from(octets));
      },
    ),
  );
});

test('quoted-printable in any pieces is what libqp decodes', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), cuts, async (octets, at) => {
      const raw = Buffer.from(libqp.wrap(libqp.encode(Buffer.from(octets))));
      t.deepEqual(await streamed('quoted-printable', piecesOf(raw, at)), libqp.decode(raw));
    }),
  );
});

test('broken input decodes the same in any pieces, and the counter knows how much', async (t) => {
  const strange = fc.stringMatching(/^[A-Da-d01=+\-_ \t\r\n!é]{0,120}$/);
  await fc.assert(
    fc.asyncProperty(
      strange,
      cuts,
      fc.constantFrom('base64', 'quoted-printable', 'x-unknown'),
      async (text, at, encoding) => {
        const raw = Buffer.from(text);
        const whole = Buffer.from(decodeTransfer(encoding, raw));
        t.deepEqual(await streamed(encoding, piecesOf(raw, at)), whole);
        if (encoding !== 'base64') return;
        const counter = new Base64Counter();
        let lines = 0;
        for (const piece of piecesOf(raw, at)) lines += counter.push(piece, 0, piece.length);
        t.is(counter.size, whole.length);
        t.is(lines, text.split('\n').length - 1);
      },
    ),
    { numRuns: runs(500) },
  );
});

test('what is broken is kept as far as it goes', (t) => {
  const decode = (encoding: string, text: string) =>
    Buffer.from(decodeTransfer(encoding, Buffer.from(text))).toString();
  t.is(decode('base64', 'aGVs*bG8'), 'hello');
  t.is(decode('base64', 'aGVsbG8=aGVsbG8='), 'hellohello');
  t.is(decode('base64', '===='), '');
  t.is(decode('quoted-printable', 'a=ZZ=4'), 'a=ZZ=4');
  t.is(decode('quoted-printable', 'a=  \r\nb  \r\nc='), 'ab\r\nc');
  t.is(decode('quoted-printable', `a${' '.repeat(5000)}b`), `a${' '.repeat(5000)}b`);
  t.is(decode('x-uuencode', 'as it is'), 'as it is');
});
