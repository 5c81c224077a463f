// Compares modified UTF-7 with a model that works bit by bit, as RFC 2152 and RFC 3501 §5.1.3 describe it.

import fc from 'fast-check';
import { decodeModifiedUtf7, encodeModifiedUtf7 } from '../../src/mail-format/modified-utf7.js';
import { runs } from '../support/amounts.js';
import test from '../support/test.js';

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,';
const isPrintable = (unit: number) => unit >= 0x20 && unit <= 0x7e;

function modelEncode(name: string): string {
  let encoded = '';
  let bits = '';
  const close = () => {
    if (bits === '') return;
    while (bits.length % 6 !== 0) bits += '0';
    encoded += `&${bits.replace(/.{6}/g, (six) => BASE64[Number.parseInt(six, 2)]!)}-`;
    bits = '';
  };
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    if (!isPrintable(unit)) bits += unit.toString(2).padStart(16, '0');
    else {
      close();
      encoded += name[i] === '&' ? '&-' : name[i];
    }
  }
  close();
  return encoded;
}

/** Checks every rule; undefined when one is broken. */
function modelDecode(text: string): string | undefined {
  let name = '';
  for (let i = 0; i < text.length; i++) {
    if (!isPrintable(text.charCodeAt(i))) return undefined;
    if (text[i] !== '&') {
      name += text[i];
      continue;
    }
    const end = text.indexOf('-', i);
    if (end < 0) return undefined;
    if (end === i + 1) name += '&';
    else {
      let bits = '';
      for (const digit of text.slice(i + 1, end)) {
        if (!BASE64.includes(digit)) return undefined;
        bits += BASE64.indexOf(digit).toString(2).padStart(6, '0');
      }
      const units = bits.match(/.{16}/g) ?? [];
      name += units.map((unit) => String.fromCharCode(Number.parseInt(unit, 2))).join('');
    }
    i = end;
  }
  const isWhole = Buffer.from(name, 'utf8').toString('utf8') === name;
  return isWhole && modelEncode(name) === text ? name : undefined;
}

for (const [name, encoded] of [
  ['Zoë 💌', 'Zo&AOs- &2D3cjA-'],
  ['~peter/mail/台北/日本語', '~peter/mail/&U,BTFw-/&ZeVnLIqe-'],
  ['R&D', 'R&-D'],
  ['&&', '&-&-'],
  ['', ''],
  ['Entwürfe', 'Entw&APw-rfe'],
  ['a\u0000b', 'a&AAA-b'],
] as const) {
  test(`"${name}" is ${encoded}`, (t) => {
    t.is(encodeModifiedUtf7(name), encoded);
    t.is(decodeModifiedUtf7(encoded), name);
  });
}

for (const [text, why] of [
  ['R&D', 'no end of the run'],
  ['&AGE-', 'a printable character in a run'],
  ['&AOs', 'no end of the run'],
  ['&AO-', 'bits left over'],
  ['&AOt-', 'bits behind the character that are not 0'],
  ['&2D0-', 'half of a surrogate pair'],
  ['&AOs-&AOs-', 'two runs where one will do'],
  ['&AO/s-', 'a digit of plain base64'],
  ['Zoë', 'not ASCII'],
  ['&&-', 'an ampersand in a run'],
] as const) {
  test(`${text} is the encoding of no name: ${why}`, (t) => t.is(decodeModifiedUtf7(text), undefined));
}

test('every name is encoded as the model does, and comes back', (t) => {
  const names = fc.string({ unit: fc.oneof(fc.constantFrom('&', '-', ' ', 'é', '💌'), fc.string({ unit: 'binary' })) });
  fc.assert(
    fc.property(names, (name) => {
      const encoded = encodeModifiedUtf7(name);
      t.is(encoded, modelEncode(name));
      t.is(decodeModifiedUtf7(encoded), name);
    }),
    { numRuns: runs(500) },
  );
});

test('every text is decoded or refused as the model does', (t) => {
  const texts = fc.array(
    fc.constantFrom('&', '-', 'A', 'O', 's', 'U', ',', '2', 'D', '3', 'c', 'j', 'AOs', '&AOs-', ' '),
  );
  fc.assert(
    fc.property(texts, (pieces) => {
      const text = pieces.join('');
      t.is(decodeModifiedUtf7(text), modelDecode(text));
    }),
    { numRuns: runs(2_000) },
  );
});
