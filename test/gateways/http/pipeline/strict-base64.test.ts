// Tests base64 within JSON strings: every form that encoders of JSON write, and text that is no base64.

import fc from 'fast-check';
import { StrictBase64 } from '../../../../src/gateways/http/pipeline/strict-base64.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

function decoded(text: string, cuts: readonly number[] = []): string | undefined {
  const decoder = new StrictBase64();
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const cut of [...cuts.map((n) => n % (text.length + 1)).sort((a, b) => a - b), text.length]) {
    const piece = decoder.push(Buffer.from(text.slice(from, cut), 'latin1'));
    if (piece === undefined) return undefined;
    pieces.push(piece);
    from = cut;
  }
  const last = decoder.finish();
  return last && Buffer.concat([...pieces, last]).toString('hex');
}

/** Forms of encoders: escaped slashes (PHP), escaped plus signs (.NET), lines of 76, no padding. */
const FORMS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replaceAll('/', '\\/'),
  (text) => text.replaceAll('+', '\\u002B').replaceAll('=', '\\u003d'),
  (text) => text.replace(/.{76}/g, '$&\\r\\n'),
  (text) => text.replace(/.{5}/g, '$&\\u000a'),
  (text) => text.replace(/=+$/, ''),
];

test('whatever the octets, however they are written and cut', (t) => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.nat()),
      fc.constantFrom(...FORMS),
      (octets, cuts, form) => {
        const text = form(Buffer.from(octets).toString('base64'));
        t.is(decoded(text, cuts), Buffer.from(octets).toString('hex'));
      },
    ),
    { seed: 10, numRuns: runs(500) },
  );
});

for (const text of [
  'A',
  'AAAAA',
  '=',
  'AA=A',
  'AAA=AAAA',
  'AAAA=',
  'AAAA==',
  'AA===',
  'AA AA',
  'AA-_',
  'é',
  '*',
  'AA\\tAA',
  'AA\\"A',
  'AAA\\',
  'AAAA\\u00',
  'AAA\\u00e9',
  'data:text/plain;base64,AAAA',
]) {
  test(`no base64: ${text}`, (t) => {
    for (let cut = 0; cut <= text.length; cut++) t.is(decoded(text, [cut]), undefined);
  });
}
