// Tests TNEF: files are read in any pieces, truncated ones as far as they are whole; garbage is refused or read, and never causes
// an exception.

import fc from 'fast-check';
import { type TnefContents, TnefReader } from '../../../src/mail-format/tnef/reader.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { piecesOf } from '../pieces.js';
import { binary, fixed, long, named, string8, unicode, variable, writtenTnef } from './written-tnef.js';

function read(octets: Buffer, cuts: readonly number[] = [], mostFiles = 100): TnefContents | undefined {
  const reader = new TnefReader(mostFiles);
  for (const piece of piecesOf(octets, cuts)) {
    reader.push(piece);
    // The caller may use its buffer again.
    piece.fill(0xff);
  }
  return reader.finish();
}

const textOf = (octets: Buffer, { start, end }: { start: number; end: number }) =>
  octets.toString('latin1', start, end);

test('files: names, media types, data in either place', (t) => {
  const octets = writtenTnef({
    codepage: 1251,
    files: [
      {
        title: 'SHORT~1.TXT',
        data: Buffer.from('one'),
        properties: [unicode(0x3707, 'Привет.txt'), string8(0x370e, 'text/plain')],
      },
      { title: '\xcf\xf0\xe8.doc', data: Buffer.from('two') },
      {
        properties: [
          long(0x3705, 1),
          named('X', long(1, 2)),
          binary(0x3701, Buffer.from('three')),
          string8(0x3712, '<cid@x>'),
        ],
      },
      {
        properties: [
          long(0x3705, 5),
          variable(0x000d, 0x3701, Buffer.from(`${'i'.repeat(16)}nested`)),
          unicode(0x3001, 'A message'),
        ],
      },
      { title: 'empty', data: Buffer.alloc(0) },
      { title: 'no data' },
    ],
  });
  const { files } = read(octets)!;
  t.deepEqual(
    files.map(({ name, mediaType, contentId, range }) => [name, mediaType, contentId, textOf(octets, range)]),
    [
      ['Привет.txt', 'text/plain', '', 'one'],
      ['При.doc', '', '', 'two'],
      ['', '', 'cid@x', 'three'],
      ['A message', 'application/ms-tnef', '', 'nested'],
      ['empty', '', '', ''],
    ],
  );
  t.is(read(octets, [], 2)!.files.length, 2);
});

test('texts: of the attribute, or properties of every type around them', (t) => {
  const around = [
    fixed(0x0002, 0x1, Buffer.alloc(4)),
    fixed(0x0005, 0x2, Buffer.alloc(8)),
    fixed(0x0048, 0x3, Buffer.alloc(16)),
    variable(0x101e, 0x4, Buffer.from('a'), Buffer.from('bcdef')),
    variable(0x1102, 0x5),
    fixed(0x1003, 0x6, Buffer.from('0200000001000000ffffffff', 'hex')),
    named(7, long(0x8000, 1)),
    named('Keywords', variable(0x101f, 0x8001, Buffer.from('x\0', 'utf16le'))),
  ];
  const octets = writtenTnef({
    body: 'plain words',
    properties: [
      ...around,
      binary(0x1013, Buffer.from('<p>Gr\xfc\xdfe', 'latin1')),
      ...around,
      binary(0x1009, Buffer.from('rtf')),
      long(0x3fde, 28591),
    ],
  });
  const { texts } = read(octets)!;
  t.deepEqual(
    texts.map(({ subtype, charset, range, sample }) => [
      subtype,
      charset,
      textOf(octets, range),
      sample.toString('latin1'),
    ]),
    [
      ['plain', 'windows-1252', 'plain words\0', 'plain words\0'],
      ['html', 'iso-8859-1', '<p>Gr\xfc\xdfe', '<p>Gr\xfc\xdfe'],
      ['rtf', '', 'rtf', 'rtf'],
    ],
  );
  const wide = read(writtenTnef({ properties: [unicode(0x1000, 'words'), variable(0x0001, 0x1013)] }))!.texts;
  t.deepEqual(
    wide.map(({ subtype, charset }) => [subtype, charset]),
    [['plain', 'utf-16le']],
  );
});

const file = fc.record(
  {
    title: fc.stringMatching(/^[a-z .]{0,20}$/),
    data: fc.uint8Array({ maxLength: 60 }),
    properties: fc.array(
      fc.oneof(
        fc.constant(long(0x3705, 1)),
        fc.string({ maxLength: 12 }).map((text) => unicode(0x3707, text)),
        fc.uint8Array({ maxLength: 40 }).map((octets) => binary(0x3701, octets)),
        fc.string({ maxLength: 9 }).map((text) => named(text, long(0x8001, 3))),
      ),
      { maxLength: 4 },
    ),
  },
  { requiredKeys: [] },
);
const tnef = fc.record(
  { body: fc.string({ maxLength: 40 }), files: fc.array(file, { maxLength: 4 }) },
  { requiredKeys: ['files'] },
);
const cuts = fc.array(fc.nat(2000), { maxLength: 10 });

test('what is written comes back, in any pieces, and is a prefix of it when it is cut', (t) => {
  fc.assert(
    fc.property(tnef, cuts, fc.nat(), (written, at, cut) => {
      const octets = writtenTnef(written);
      const whole = read(octets)!;
      t.is(
        whole.files.length,
        written.files.filter((one) => one.data ?? one.properties?.some((own) => own.readUInt16LE(2) === 0x3701)).length,
      );
      for (const { range } of whole.files) t.true(range.start <= range.end && range.end <= octets.length);
      t.deepEqual(read(octets, at), whole);
      const part = read(octets.subarray(0, cut % octets.length));
      for (const [i, { range }] of (part?.files ?? []).entries()) {
        t.true(range.end <= cut % octets.length);
        t.is(whole.files[i] === undefined, false);
      }
    }),
    { numRuns: runs(500) },
  );
});

test('garbage is refused, and damage never throws and never names what is not there', (t) => {
  t.is(read(Buffer.alloc(0)), undefined);
  t.is(read(Buffer.from('%PDF-1.7 not a TNEF')), undefined);
  t.deepEqual(read(Buffer.from('789f3e220100', 'hex')), { files: [], texts: [] });
  const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(tnef, damage, cuts, (written, changes, at) => {
      const octets = writtenTnef(written);
      for (const [place, value] of changes) octets[6 + (place % (octets.length - 6))] = value;
      const found = read(octets)!;
      for (const { range } of [...found.files, ...found.texts])
        t.true(range.start <= range.end && range.end <= octets.length);
      t.deepEqual(read(octets, at), found);
    }),
    { numRuns: runs(2000) },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (rest) => {
      const found = read(Buffer.concat([Buffer.from('789f3e220100', 'hex'), rest]))!;
      for (const { range } of found.files) t.true(range.end <= rest.length + 6);
    }),
    { numRuns: runs(1000) },
  );
});

test('lengths that lie', (t) => {
  const head = writtenTnef({});
  const huge = Buffer.from('02056906ff', 'hex');
  t.deepEqual(read(Buffer.concat([head, huge])), { files: [], texts: [] });
  // An attribute of eight octets claims four thousand million properties.
  const lying = Buffer.concat([
    Buffer.from('0103900600', 'hex'),
    Buffer.from('08000000', 'hex'),
    Buffer.alloc(8, 0xff),
    Buffer.alloc(2),
  ]);
  t.deepEqual(read(Buffer.concat([head, lying, lying])), { files: [], texts: [] });
});
