// Tests the rules that all commands share, with one table per rule.

import fc from 'fast-check';
import { Refused } from '../../../../src/gateways/imap/completion.js';
import {
  type CommandReader,
  CommandSyntaxError,
  createReader,
  type ReaderOptions,
} from '../../../../src/gateways/imap/wire/command-reader.js';
import { astring, mailboxName, quoted } from '../../../../src/gateways/imap/wire/format.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

type Rule = (reader: CommandReader) => unknown;

const octets = (text: string) => Buffer.from(text, 'utf8');

function holds(
  name: string,
  rule: Rule,
  accepted: Readonly<Record<string, unknown>>,
  refused: readonly string[],
): void {
  for (const [text, value] of Object.entries(accepted)) {
    test(`${name} reads ${JSON.stringify(text)}`, (t) => {
      const reader = createReader(octets(text));
      t.deepEqual(rule(reader), value);
      t.true(reader.isAtEnd);
    });
  }
  for (const text of refused) {
    test(`${name} refuses ${JSON.stringify(text)}`, (t) => {
      t.throws(
        () => {
          const reader = createReader(octets(text));
          rule(reader);
          reader.end();
        },
        { instanceOf: CommandSyntaxError, message: /^expected .+ at octet \d+$/ },
      );
    });
  }
}

holds(
  'atom',
  (reader) => reader.atom(),
  { a: 'a', 'A1!#$&+,-./:;<=>?@[^_`|}~': 'A1!#$&+,-./:;<=>?@[^_`|}~', NIL: 'NIL' },
  ['', ' ', 'a ', '(', ')', '{', '%', '*', '"a"', 'a"', '\\a', 'a]', 'ä', '\x7f', '\0'],
);
holds('word', (reader) => reader.word(), { body: 'BODY', 'Rfc822.Size': 'RFC822.SIZE' }, ['', 'BODY[', 'x<', 'x]']);
holds('flag', (reader) => reader.flag(), { '\\Seen': '\\Seen', $Junk: '$Junk', '\\x-Y': '\\x-Y' }, [
  '',
  '\\',
  '\\*',
  '\\\\a',
]);
holds(
  'astring',
  (reader) => reader.astring(),
  {
    a: 'a',
    'a]': 'a]',
    '""': '',
    '"a b"': 'a b',
    '"\\"\\\\"': '"\\',
    '"ä💌"': 'ä💌',
    '{3}\r\na\r\n': 'a\r\n',
    '{2+}\r\nä': 'ä',
    '{0}\r\n': '',
    NIL: 'NIL',
  },
  [
    '',
    '"',
    '"a',
    '"\\a"',
    '"\\"',
    '"a\rb"',
    '"a\nb"',
    '"a\0b"',
    '{3}\r\nab',
    '{3}ab',
    '{3}\nabc',
    '{x}\r\n',
    '{}\r\n',
    '{-1}\r\n',
    '{1}\r\n\0',
    '~{1}\r\na',
    'ä',
    '(a)',
    '{99999999999999999999}\r\na',
  ],
);
holds('string', (reader) => reader.string(), { '"a"': 'a', '{1}\r\na': 'a' }, ['a', 'NIL', '']);
holds('nstring', (reader) => reader.nstring(), { NIL: null, nil: null, '"NIL"': 'NIL' }, ['a', 'NILL', 'NI']);
holds(
  'nstring or literal8',
  (reader) => reader.nstringOctets()?.toString('latin1') ?? null,
  { NIL: null, '"a"': 'a', '~{3}\r\na\0b': 'a\0b', '~{1+}\r\nb': 'b' },
  ['~"a"', '{1}\r\n\0', '~{2}\r\na', '~'],
);
holds('number', (reader) => reader.number(), { 0: 0, 7: 7, '007': 7, 4294967295: 4_294_967_295 }, [
  '4294967296',
  '99999999999999999999999',
  '-1',
  '+1',
  '',
  'a',
  '1.5',
]);
holds(
  'number64',
  (reader) => reader.number64(),
  { 0: 0, 4294967296: 4_294_967_296, 9007199254740991: Number.MAX_SAFE_INTEGER },
  ['9007199254740992', '18446744073709551616', ''],
);
holds('nz-number', (reader) => reader.nzNumber(), { 1: 1, 4294967295: 4_294_967_295 }, ['0', '01', '4294967296', '']);
holds('nz-number64', (reader) => reader.nzNumber64(), { 1: 1, 4294967296: 4_294_967_296 }, [
  '0',
  '01',
  '9007199254740992',
]);
holds(
  'list',
  (reader) => reader.list(() => reader.atom()),
  { '()': [], '(a)': ['a'], '(a b)': ['a', 'b'], '( )': [], '( a)': ['a'], '(a b )': ['a', 'b'] },
  ['', '(', '( ', '(a', '(a ', '(  a)', '(a  )', '(a  b)', '(  )', 'a', ')', '(a (b))', '(a"b")'],
);
holds('list of one or more', (reader) => reader.list(() => reader.atom(), 1), { '(a)': ['a'] }, ['()', '( )', '(  a)']);
holds('space', (reader) => reader.space(), { ' ': undefined }, ['', '  ', '\t', 'a']);
holds('the word', (reader) => reader.expect('CHARSET '), { 'CHARSET ': undefined, 'charSet ': undefined }, [
  'CHARSET',
  'charse ',
  '',
]);
holds(
  'mailbox',
  (reader) => reader.mailbox(),
  {
    inbox: 'INBOX',
    '"iNbOx"': 'INBOX',
    'InBox/a': 'INBOX/a',
    Inboxes: 'Inboxes',
    '""': '',
    'Zo&AOs-/&2D3cjA-': 'Zoë/💌',
    '"Zo&AOs- &2D3cjA-"': 'Zoë 💌',
    '"Zoë 💌"': 'Zoë 💌',
    'R&-D': 'R&D',
    // The name is composed (NFC), in either encoding.
    'Zoe&Awg-': 'Zoë',
    '"Zoe\u0308"': 'Zoë',
    '{5+}\r\nINBOX': 'INBOX',
  },
  ['', '%', '*', 'a*', '(a)', '\\a'],
);
holds(
  'a pattern of mailboxes',
  (reader) => reader.mailboxPattern().name,
  {
    '%': '%',
    '*': '*',
    'a*]%': 'a*]%',
    '"a %"': 'a %',
    'Entw&APw-rfe*': 'Entwürfe*',
    'inbox/%': 'INBOX/%',
    '&AO*': '&AO*',
    '""': '',
  },
  ['', '(', '{', '\\'],
);

test('a name of a mailbox that is not modified UTF-7 is refused with NO', (t) => {
  for (const text of ['R&D', '&AGE-', '"&AO-"']) {
    const error = t.throws(() => createReader(text).mailbox(), { instanceOf: Refused });
    t.like(error?.completion, { status: 'NO', code: 'CANNOT' });
  }
});

test('names of mailboxes are UTF-8 once the client has enabled that', (t) => {
  const name = (text: string) => createReader(octets(text), { isUtf8: true }).mailbox();
  t.is(name('R&D'), 'R&D');
  t.is(name('R&-D'), 'R&-D');
  t.is(name('"Zoë 💌"'), 'Zoë 💌');
  t.throws(() => createReader(Buffer.from([34, 0xff, 34]), { isUtf8: true }).mailbox(), {
    instanceOf: CommandSyntaxError,
  });
});

test('strings that are not UTF-8 are refused, but as octets', (t) => {
  const wire = Buffer.from([34, 0xe4, 34]);
  t.throws(() => createReader(wire).astring(), { instanceOf: CommandSyntaxError });
  t.throws(() => createReader(wire).mailbox(), { instanceOf: CommandSyntaxError });
  t.deepEqual(createReader(wire).astringOctets(), Buffer.from([0xe4]));
});

test('nesting is bounded, in lists and elsewhere', (t) => {
  const limits: ReaderOptions['limits'] = { nesting: 3, searchKeys: 1, sequenceRanges: 1 };
  const deep = (reader: CommandReader): unknown =>
    reader.isListNext ? reader.list(() => deep(reader)) : reader.atom();
  t.deepEqual(deep(createReader('(((a) b) ((c)))', { limits })), [[['a'], 'b'], [['c']]]);
  t.throws(() => deep(createReader('((((a))))', { limits })), { instanceOf: CommandSyntaxError, message: /3 levels/ });
  t.throws(() => deep(createReader('('.repeat(100_000))), { instanceOf: CommandSyntaxError, message: /50 levels/ });
});

test('the message says where the command is wrong', (t) => {
  const reader = createReader('a1 FETCH x', {}, 9);
  t.throws(() => reader.number(), { message: 'expected a number at octet 10' });
});

const names = fc.string({
  unit: fc.oneof(
    fc.constantFrom('&', '-', '/', ' ', '"', '\\', 'é', '💌', 'a'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  ),
});

test('what is formatted as a string is read as the same string', (t) => {
  fc.assert(
    fc.property(names, (text) => {
      for (const format of [quoted, astring]) {
        const reader = createReader(format(text));
        t.is(reader.astring(), text);
        t.true(reader.isAtEnd);
      }
    }),
    { numRuns: runs(500) },
  );
});

test('names of mailboxes are read as they were written, in either encoding', (t) => {
  fc.assert(
    fc.property(names, fc.boolean(), (text, isUtf8) => {
      const name = text
        .normalize('NFC')
        .replace(/^inbox(?=$|\/)/i, 'INBOX')
        .replaceAll('\0', '');
      const reader = createReader(mailboxName(name, isUtf8), { isUtf8 });
      t.is(reader.mailbox(), name);
      t.true(reader.isAtEnd);
    }),
    { numRuns: runs(500) },
  );
});

test('no octets make a rule read past the end, or fail in another way', (t) => {
  const rules: readonly Rule[] = [
    (reader) => reader.atom(),
    (reader) => reader.astring(),
    (reader) => reader.string(),
    (reader) => reader.nstring(),
    (reader) => reader.nstringOctets(),
    (reader) => reader.number64(),
    (reader) => reader.mailbox(),
    (reader) => reader.mailboxPattern(),
    (reader) => reader.flag(),
    (reader) => reader.space(),
    (reader) => reader.list(() => reader.list(() => reader.astring())),
  ];
  const text = fc.string({
    unit: fc.constantFrom(...'ab01 "\\(){}~+\r\n*%]&-\0\xff\xc3\xa4{3}'.split(''), '{1}\r\n', 'NIL'),
  });
  fc.assert(
    fc.property(text, fc.array(fc.nat(rules.length - 1), { minLength: 1, maxLength: 8 }), (octetText, picked) => {
      const reader = createReader(octetText);
      try {
        for (const rule of picked) rules[rule]!(reader);
      } catch (error) {
        if (!(error instanceof CommandSyntaxError) && !(error instanceof Refused)) throw error;
      }
      t.true(reader.position <= octetText.length);
    }),
    { numRuns: runs(3_000) },
  );
});
