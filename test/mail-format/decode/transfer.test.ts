// Tests transfer encodings: they equal the platform's decoders on well-formed input in any pieces, and tolerate broken input.

import fc from 'fast-check';
import libqp from 'libqp';
import { Base64Counter, endOfBase64 } from '../../../src/mail-format/decode/base64.js';
import { decodeStream, decodeTransfer } from '../../../src/mail-format/decode/transfer.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
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

test('base64 ends at its padding, in any pieces', async (t) => {
  const footer = '\r\n\r\n____________\r\nzebra-talk mailing list\r\nzebra-talk@lists.test\r\n';
  for (const [raw, data] of [
    [`YWJjZA==${footer}`, 'abcd'],
    [`YWJj\r\nZGU=\r\n${footer}`, 'abcde'],
    [`YWJjZGU=YWJjZGU=`, 'abcde'],
    [`YWJjZA=\r\n=${footer}`, 'abcd'],
    [`YWJj=${footer}`, 'abc'],
    [`====${footer}`, ''],
  ] as const) {
    for (let cut = 0; cut < raw.length; cut += 3) {
      t.is(String(await streamed('base64', [Buffer.from(raw.slice(0, cut)), Buffer.from(raw.slice(cut))])), data);
    }
    const counter = new Base64Counter();
    const long = Buffer.from(raw + footer.repeat(40));
    t.is(counter.push(long, 0, long.length), raw.split('\n').length - 1 + 40 * 5);
    t.is(counter.size, data.length);
    t.is(long.toString('latin1', 0, endOfBase64(long)).replace(/[^=]/g, '').length, /==/.test(raw) ? 2 : 1);
  }
  t.is(endOfBase64(Buffer.from('YWJj')), 4);
});

test('what is broken is kept as far as it goes', (t) => {
  const decode = (encoding: string, text: string) =>
    Buffer.from(decodeTransfer(encoding, Buffer.from(text))).toString();
  t.is(decode('base64', 'aGVs*bG8'), 'hello');
  t.is(decode('base64', '===='), '');
  t.is(decode('quoted-printable', 'a=ZZ=4'), 'a=ZZ=4');
  t.is(decode('quoted-printable', 'a=  \r\nb  \r\nc='), 'ab\r\nc');
  t.is(decode('quoted-printable', `a${' '.repeat(5000)}b`), `a${' '.repeat(5000)}b`);
  t.is(decode('x-zip', 'as it is'), 'as it is');
});
