import fc from 'fast-check';
import { type TextBlock, textBlocks } from '../../../../web/src/message/text/text-blocks.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

const lines = (text: string): TextBlock => ({ kind: 'lines', text });
const signature = (text: string): TextBlock => ({ kind: 'signature', text });
const quote = (blocks: TextBlock[], isFolded = false): TextBlock => ({ kind: 'quote', blocks, isFolded });

const CASES: readonly (readonly [name: string, text: string, blocks: readonly TextBlock[]])[] = [
  ['text alone', 'a\n\nb\n', [lines('a\n\nb')]],
  ['an empty text', '', [lines('')]],
  ['line ends of other systems', 'a\r\nb\rc', [lines('a\nb\nc')]],
  ['a quotation below an answer is folded', 'a\n> b\n>c', [lines('a'), quote([lines('b\nc')], true)]],
  [
    'its introduction is folded with it',
    'a\n\nOn Monday\nAnn wrote:\n\n> b',
    [lines('a\n'), quote([lines('On Monday\nAnn wrote:\n'), lines('b')], true)],
  ],
  ['an introduction alone is no answer', 'Ann wrote:\n> b', [lines('Ann wrote:'), quote([lines('b')], true)]],
  ['a quotation above an answer is not folded', '> a\nb', [quote([lines('a')]), lines('b')]],
  ['answers between', 'a\n> b\nc\n> d\n', [lines('a'), quote([lines('b')]), lines('c'), quote([lines('d')], true)]],
  ['a quotation alone is not folded', '> a\n> b', [quote([lines('a\nb')])]],
  ['quotations within', 'a\n>> b\n> > c\n> d', [lines('a'), quote([quote([lines('b\nc')]), lines('d')], true)]],
  ['a signature', 'a\n-- \nAnn', [lines('a'), signature('-- \nAnn')]],
  ['a signature below a quotation', 'a\n> b\n-- \nAnn', [lines('a'), quote([lines('b')], true), signature('-- \nAnn')]],
  [
    'a signature in a quotation',
    'a\n> b\n> -- \n> Ann',
    [lines('a'), quote([lines('b'), signature('-- \nAnn')], true)],
  ],
  ['dashes without a space are no signature', 'a\n--\nb', [lines('a\n--\nb')]],
  [
    'a message below a line',
    'a\n\n-----Original Message-----\nFrom: b\n> c',
    [lines('a\n'), quote([lines('-----Original Message-----\nFrom: b\n> c')], true)],
  ],
];

for (const [name, text, blocks] of CASES) {
  test(`text blocks: ${name}`, (t) => t.deepEqual(textBlocks(text), blocks));
}

const shown = (blocks: readonly TextBlock[]): string[] =>
  blocks.flatMap((block) => (block.kind === 'quote' ? shown(block.blocks) : block.text.split('\n')));
const depth = (blocks: readonly TextBlock[]): number =>
  Math.max(0, ...blocks.map((block) => (block.kind === 'quote' ? 1 + depth(block.blocks) : 0)));

test('every line of a text is shown once, in order', (t) => {
  const line = fc.oneof(
    fc.constantFrom(
      '',
      '> ',
      '>',
      '>>> a',
      '-- ',
      '> -- ',
      'a',
      'Ann wrote:',
      '-----Original Message-----',
      '>'.repeat(50),
    ),
    fc.string({ maxLength: 8 }),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), (all) => {
      const text = all.join('\n').replace(/\r\n?/g, '\n').replace(/\n+$/, '');
      const blocks = textBlocks(text);
      const marked = text.split('\n');
      const found = shown(blocks);
      t.is(found.length, marked.length);
      for (const [i, one] of marked.entries())
        t.true(one.endsWith(found[i]!) && /^[> \t]*$/.test(one.slice(0, one.length - found[i]!.length)));
      t.true(depth(blocks) <= 7);
    }),
    { numRuns: runs(2000, 200) },
  );
});

test('a text that is quoted very deeply is shown', (t) => {
  t.true(depth(textBlocks(`a\n${'>'.repeat(100_000)} b`)) <= 7);
});
