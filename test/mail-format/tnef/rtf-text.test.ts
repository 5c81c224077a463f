// Tests compressed RTF and its text: the examples of the specification, and arbitrary octets.

import fc from 'fast-check';
import { decompressedRtf } from '../../../src/mail-format/tnef/compressed-rtf.js';
import { rtfText } from '../../../src/mail-format/tnef/rtf-text.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

test('the examples of [MS-OXRTFCP]', (t) => {
  const simple = hex(
    '2d 00 00 00 2b 00 00 00 4c 5a 46 75 f1 c5 c7 a7 03 00 0a 00 72 63 70 67 31 32 35 42 32 0a f3 20 68 65 6c 09 00 20 62 77 05 b0 6c 64 7d 0a 80 0f a0',
  );
  t.is(decompressedRtf(simple).toString(), '{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n');
  t.is(rtfText(decompressedRtf(simple)), 'hello world');
  const crossing = hex('1a 00 00 00 1c 00 00 00 4c 5a 46 75 e2 d4 4b 51 41 00 04 20 57 58 59 5a 0d 6e 7d 01 0e b0');
  t.is(decompressedRtf(crossing).toString(), '{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}');
  const plain = Buffer.concat([hex('12 00 00 00 06 00 00 00 4d 45 4c 41 00 00 00 00'), Buffer.from('{\\rtf}')]);
  t.is(decompressedRtf(plain).toString(), '{\\rtf}');
});

test('text of RTF', (t) => {
  const text = (rtf: string) => rtfText(Buffer.from(rtf, 'latin1'));
  const head = '{\\rtf1\\ansi\\ansicpg1251{\\fonttbl{\\f0 Arial;}}{\\colortbl;\\red0;}{\\*\\generator Word;}';
  t.is(text(`${head}\\pard one\\par two\\tab{\\b three}\\line\r\nfour}`), 'one\ntwo\tthree\nfour');
  t.is(text(`${head}\\'cf\\'f0\\'e8 \\u1055?\\uc2\\u-10179??\\u-9074?? {\\uc0\\u8364}x}`), 'При П💎 €x');
  t.is(text(`${head}a\\\\b\\{c\\}\\~d{\\pict 0102}{\\*\\htmltag64 <p>}e}`), 'a\\b{c}\u00a0d' + 'e');
  t.is(text('{\\bin5 }}}}}x}'), 'x');
  t.is(text('no rtf'), 'no rtf');
});

test('any octets are read in bounded time and size', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (octets, isCompressed) => {
      const data = Buffer.concat([
        hex('ff ff ff ff ff ff ff ff'),
        Buffer.from(isCompressed ? 'LZFu' : 'MELA'),
        Buffer.alloc(4),
        octets,
      ]);
      const rtf = decompressedRtf(data);
      t.true(rtf.length <= 9 * data.length);
      t.true(rtfText(rtf).length <= rtf.length);
      t.true(rtfText(octets).length <= octets.length);
    }),
    { numRuns: runs(1000) },
  );
  t.is(rtfText(Buffer.from('{'.repeat(300_000))), '');
  t.is(rtfText(Buffer.from('\\'.repeat(300_001))).length, 150_000);
});
