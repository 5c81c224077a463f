// Tests FETCH: attributes, sections, modifiers; printed commands are read back as the same.

import fc from 'fast-check';
import {
  type FetchArguments,
  type FetchAttribute,
  fetchArguments,
} from '../../../../src/gateways/imap/grammar/fetch.js';
import type { PartialRange, Section } from '../../../../src/gateways/imap/grammar/section.js';
import { LAST, type SequenceSet, sequenceSet } from '../../../../src/gateways/imap/grammar/sequence-set.js';
import { CommandSyntaxError } from '../../../../src/gateways/imap/wire/command-reader.js';
import { quoted } from '../../../../src/gateways/imap/wire/format.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { printedSet, sets } from './generators.js';
import { readWhole } from './reading.js';
import { reads, refuses } from './tables.js';

reads<SequenceSet>('a set', sequenceSet, [
  ['1', [[1, 1]]],
  ['1:*', [[1, LAST]]],
  [
    '*:4,7',
    [
      [LAST, 4],
      [7, 7],
    ],
  ],
  ['*', [[LAST, LAST]]],
  ['9:3', [[9, 3]]],
  ['4294967295', [[4_294_967_295, 4_294_967_295]]],
  ['$', '$'],
]);
refuses('a set', sequenceSet, [
  '',
  '0',
  '1,',
  ',1',
  '1:',
  ':1',
  '1::2',
  '1:2:3',
  '4294967296',
  '$,1',
  '1,$',
  'a',
  '-1',
  '1 ',
  '**',
  '01',
]);

test('the ranges of a set are bounded', (t) => {
  const limits = { nesting: 9, searchKeys: 9, sequenceRanges: 3 };
  t.is(readWhole(sequenceSet, '1,2,3', { limits }).length, 3);
  t.throws(() => readWhole(sequenceSet, '1,2,3,4', { limits }), {
    instanceOf: CommandSyntaxError,
    message: /3 ranges/,
  });
});

const fetching = (text: string): FetchArguments => readWhole(fetchArguments, text);
const attributesOf = (text: string): string[] => fetching(`1 ${text}`).attributes.map((attribute) => attribute.type);

for (const [text, types] of [
  ['FAST', ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE']],
  ['all', ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE']],
  ['FULL', ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE', 'BODY']],
  ['flags', ['FLAGS']],
  ['(UID Flags uid RFC822.SIZE)', ['UID', 'FLAGS', 'RFC822.SIZE']],
  [
    '(RFC822 RFC822.HEADER RFC822.TEXT BODY BODYSTRUCTURE)',
    ['RFC822', 'RFC822.HEADER', 'RFC822.TEXT', 'BODY', 'BODYSTRUCTURE'],
  ],
  [
    '(MODSEQ EMAILID THREADID SAVEDATE ENVELOPE INTERNALDATE)',
    ['MODSEQ', 'EMAILID', 'THREADID', 'SAVEDATE', 'ENVELOPE', 'INTERNALDATE'],
  ],
  ['(BODY[] body[] BODY.PEEK[])', ['BODY[]', 'BODY[]']],
] as const) {
  test(`FETCH ${text} is of ${types.join(', ')}`, (t) => t.deepEqual(attributesOf(text), [...types]));
}

const whole: Section = { part: [], text: null, fields: [] };
reads<FetchAttribute | undefined>('FETCH', (reader) => fetchArguments(reader).attributes[0], [
  ['1 BODY[]', { type: 'BODY[]', section: whole, partial: undefined, isPeek: false }],
  ['1 body.peek[]<0.100>', { type: 'BODY[]', section: whole, partial: { offset: 0, length: 100 }, isPeek: true }],
  ['1 BODY[1.2.3]', { type: 'BODY[]', section: { ...whole, part: [1, 2, 3] }, partial: undefined, isPeek: false }],
  [
    '1 BODY[4.mime]',
    { type: 'BODY[]', section: { part: [4], text: 'MIME', fields: [] }, partial: undefined, isPeek: false },
  ],
  ['1 BODY[Text]', { type: 'BODY[]', section: { ...whole, text: 'TEXT' }, partial: undefined, isPeek: false }],
  [
    '1 BODY[2.HEADER]',
    { type: 'BODY[]', section: { part: [2], text: 'HEADER', fields: [] }, partial: undefined, isPeek: false },
  ],
  [
    '1 (BODY.PEEK[HEADER.FIELDS (Date "x y")])',
    {
      type: 'BODY[]',
      section: { part: [], text: 'HEADER.FIELDS', fields: ['Date', 'x y'] },
      partial: undefined,
      isPeek: true,
    },
  ],
  [
    '1 BODY[1.HEADER.FIELDS.NOT ({4}\r\nDate)]<4294967296.1>',
    {
      type: 'BODY[]',
      section: { part: [1], text: 'HEADER.FIELDS.NOT', fields: ['Date'] },
      partial: { offset: 4_294_967_296, length: 1 },
      isPeek: false,
    },
  ],
  ['1 BINARY[1]<5.6>', { type: 'BINARY[]', part: [1], partial: { offset: 5, length: 6 }, isPeek: false }],
  ['1 binary.peek[]', { type: 'BINARY[]', part: [], partial: undefined, isPeek: true }],
  ['1 BINARY.SIZE[2.1]', { type: 'BINARY.SIZE', part: [2, 1] }],
  ['1 PREVIEW', { type: 'PREVIEW', isLazy: false }],
  ['1 (preview (lazy))', { type: 'PREVIEW', isLazy: true }],
  ['1 PREVIEW (CHANGEDSINCE 5)', { type: 'PREVIEW', isLazy: false }],
]);

reads<Pick<FetchArguments, 'changedSince' | 'withVanished' | 'page'>>(
  'FETCH with modifiers',
  (reader) => {
    const { changedSince, withVanished, page } = fetchArguments(reader);
    return { changedSince, withVanished, page };
  },
  [
    ['1 FLAGS', { changedSince: undefined, withVanished: false, page: undefined }],
    ['1:* (FLAGS) (CHANGEDSINCE 5)', { changedSince: 5, withVanished: false, page: undefined }],
    [
      '1:* FLAGS (changedsince 9007199254740991 VANISHED)',
      { changedSince: Number.MAX_SAFE_INTEGER, withVanished: true, page: undefined },
    ],
    ['1:* FLAGS (CHANGEDSINCE 0)', { changedSince: 0, withVanished: false, page: undefined }],
    ['1:* FLAGS (VANISHED CHANGEDSINCE 1)', { changedSince: 1, withVanished: true, page: undefined }],
    ['1:* FLAGS (PARTIAL -1:-10)', { changedSince: undefined, withVanished: false, page: { from: -1, to: -10 } }],
    ['1:* FAST (PARTIAL 20:11 CHANGEDSINCE 7)', { changedSince: 7, withVanished: false, page: { from: 11, to: 20 } }],
  ],
);

refuses('FETCH', fetchArguments, [
  '',
  '1',
  '1 ',
  '1 ()',
  '1 FLAGS UID',
  '1 (ALL)',
  '1 (FLAGS ALL)',
  '1 X',
  '1 BODY[',
  '1 BODY[]<',
  '1 BODY[]<0>',
  '1 BODY[]<0.0>',
  '1 BODY[]<.5>',
  '1 BODY[MIME]',
  '1 BODY[1.]',
  '1 BODY[.1]',
  '1 BODY[0]',
  '1 BODY[1..2]',
  '1 BODY[1 2]',
  '1 BODY[HEADER.FIELDS]',
  '1 BODY[HEADER.FIELDS ()]',
  '1 BODY[HEADER.FIELDS (a)',
  '1 BODY[TEXT.1]',
  '1 BODY[X]',
  '1 BINARY[TEXT]',
  '1 BINARY.SIZE[1]<0.1>',
  '1 FLAGS[]',
  '1 RFC822.PEEK',
  '1 PREVIEW (FUZZY)',
  '1 FLAGS ()',
  '1 FLAGS (VANISHED)',
  '1 FLAGS (CHANGEDSINCE)',
  '1 FLAGS (PARTIAL 0:1)',
  '1 FLAGS (PARTIAL 1:-1)',
  '1 FLAGS (PARTIAL -1:1)',
  '1 FLAGS (PARTIAL 1)',
  '1 FLAGS (X 1)',
  '1 FLAGS  (CHANGEDSINCE 5)',
  `1 BODY[${'1.'.repeat(101)}1]`,
  `1 (${Array.from({ length: 501 }, (_, i) => `BODY[${i + 1}]`).join(' ')})`,
]);

const parts = fc.array(fc.integer({ min: 1, max: 99 }), { maxLength: 4 });
const partials = fc.option(
  fc.record({ offset: fc.maxSafeNat(), length: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }) }),
  { nil: undefined },
);
const fields = fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1, maxLength: 3 });
const noFields = fc.constant([]);
const sections: fc.Arbitrary<Section> = fc.oneof(
  fc.record({ part: parts, text: fc.constantFrom(null, 'HEADER' as const, 'TEXT' as const), fields: noFields }),
  fc.record({ part: parts, text: fc.constantFrom('HEADER.FIELDS' as const, 'HEADER.FIELDS.NOT' as const), fields }),
  fc.record({ part: parts.map((part) => [1, ...part]), text: fc.constant('MIME' as const), fields: noFields }),
);
const attributes: fc.Arbitrary<FetchAttribute> = fc.oneof(
  fc.record({ type: fc.constantFrom('UID', 'FLAGS', 'BODY', 'BODYSTRUCTURE', 'RFC822', 'MODSEQ', 'SAVEDATE') }),
  fc.record({ type: fc.constant('PREVIEW'), isLazy: fc.boolean() }),
  fc.record({ type: fc.constant('BODY[]'), section: sections, partial: partials, isPeek: fc.boolean() }),
  fc.record({ type: fc.constant('BINARY[]'), part: parts, partial: partials, isPeek: fc.boolean() }),
  fc.record({ type: fc.constant('BINARY.SIZE'), part: parts }),
);

const printedPartial = (partial: PartialRange | undefined) =>
  partial === undefined ? '' : `<${partial.offset}.${partial.length}>`;

function printedSection({ part, text, fields: names }: Section): string {
  const list = names.length === 0 ? '' : ` (${names.map(quoted).join(' ')})`;
  const spec = text === null ? [] : [`${text}${list}`];
  return `[${[...part, ...spec].join('.')}]`;
}

function printedAttribute(attribute: FetchAttribute): string {
  switch (attribute.type) {
    case 'BODY[]':
      return `BODY${attribute.isPeek ? '.PEEK' : ''}${printedSection(attribute.section)}${printedPartial(attribute.partial)}`;
    case 'BINARY[]':
      return `BINARY${attribute.isPeek ? '.PEEK' : ''}[${attribute.part.join('.')}]${printedPartial(attribute.partial)}`;
    case 'BINARY.SIZE':
      return `BINARY.SIZE[${attribute.part.join('.')}]`;
    case 'PREVIEW':
      return attribute.isLazy ? 'PREVIEW (LAZY)' : 'PREVIEW';
    default:
      return attribute.type;
  }
}

const pages = fc
  .tuple(fc.constantFrom(1, -1), fc.integer({ min: 1, max: 0xffff_ffff }), fc.integer({ min: 1, max: 0xffff_ffff }))
  .map(([sign, a, b]) => ({ from: sign * Math.min(a, b), to: sign * Math.max(a, b) }));

test('every FETCH is read as it was printed', (t) => {
  const commands: fc.Arbitrary<FetchArguments> = fc.record({
    set: sets,
    attributes: fc.uniqueArray(attributes, {
      minLength: 1,
      maxLength: 5,
      selector: (each) => printedAttribute(each).toUpperCase(),
    }),
    changedSince: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    withVanished: fc.boolean(),
    page: fc.option(pages, { nil: undefined }),
  });
  fc.assert(
    fc.property(commands, (command) => {
      const { page, changedSince } = command;
      const modifiers = [
        `CHANGEDSINCE ${changedSince}`,
        ...(command.withVanished ? ['VANISHED'] : []),
        ...(page === undefined ? [] : [`PARTIAL ${page.from}:${page.to}`]),
      ];
      const list = command.attributes.map(printedAttribute).join(' ');
      // The printed fields are octets already.
      const text = Buffer.from(`${printedSet(command.set)} (${list}) (${modifiers.join(' ')})`, 'latin1');
      t.deepEqual(readWhole(fetchArguments, text.toString('utf8')), command);
    }),
    { numRuns: runs(400) },
  );
});
