// Tests SEARCH, SORT and THREAD: keys, charsets, return options; printed commands are read back as the same.

import fc from 'fast-check';
import { type ResultPage, resultPage } from '../../../../src/gateways/imap/grammar/result-page.js';
import {
  type SearchArguments,
  type SearchKey,
  type SearchReturn,
  type SortArguments,
  searchArguments,
  sortArguments,
  type ThreadArguments,
  threadArguments,
} from '../../../../src/gateways/imap/grammar/search.js';
import { CommandSyntaxError, createReader } from '../../../../src/gateways/imap/wire/command-reader.js';
import { quoted } from '../../../../src/gateways/imap/wire/format.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { printedSet, sets } from './generators.js';
import { readWhole } from './reading.js';
import { reads, refuses } from './tables.js';

const all: SearchKey = { type: 'all' };
const none: SearchKey = { type: 'not', key: all };
const flag = (name: string, isSet: boolean): SearchKey => ({ type: 'flag', name, isSet });
const header = (name: string, text: string): SearchKey => ({ type: 'header', name, text });
const day = { year: 2026, month: 2, day: 1 };

reads<SearchKey>('a search program', (reader) => searchArguments(reader).key, [
  ['ALL', all],
  ['new', none],
  ['Recent', none],
  ['OLD', all],
  ['SEEN', flag('\\Seen', true)],
  ['unseen', flag('\\Seen', false)],
  ['ANSWERED UNANSWERED', { type: 'and', keys: [flag('\\Answered', true), flag('\\Answered', false)] }],
  ['DELETED UNDELETED', { type: 'and', keys: [flag('\\Deleted', true), flag('\\Deleted', false)] }],
  ['FLAGGED UNFLAGGED', { type: 'and', keys: [flag('\\Flagged', true), flag('\\Flagged', false)] }],
  ['DRAFT UNDRAFT', { type: 'and', keys: [flag('\\Draft', true), flag('\\Draft', false)] }],
  ['KEYWORD $Junk', flag('$Junk', true)],
  ['UNKEYWORD x', flag('x', false)],
  [
    '1:3,7',
    {
      type: 'set',
      set: [
        [1, 3],
        [7, 7],
      ],
      isByUid: false,
    },
  ],
  ['$', { type: 'set', set: '$', isByUid: false }],
  ['UID $', { type: 'set', set: '$', isByUid: true }],
  ['*', { type: 'set', set: [[Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]], isByUid: false }],
  ['UID 5', { type: 'set', set: [[5, 5]], isByUid: true }],
  ['FROM ann', header('from', 'ann')],
  ['TO "a b"', header('to', 'a b')],
  ['CC {3}\r\na\r\n', header('cc', 'a\r\n')],
  ['BCC ""', header('bcc', '')],
  ['SUBJECT "Zoë 💌"', header('subject', 'Zoë 💌')],
  ['HEADER X-Foo bar', header('x-foo', 'bar')],
  ['HEADER "Message-ID" ""', header('message-id', '')],
  [
    'BODY x TEXT y',
    {
      type: 'and',
      keys: [
        { type: 'body', text: 'x' },
        { type: 'text', text: 'y' },
      ],
    },
  ],
  ['LARGER 0', { type: 'larger', octets: 0 }],
  ['SMALLER 4294967296', { type: 'smaller', octets: 4_294_967_296 }],
  ['BEFORE 1-Feb-2026', { type: 'day', of: 'received', compare: 'before', day }],
  ['ON "01-feb-2026"', { type: 'day', of: 'received', compare: 'on', day }],
  ['SINCE 1-FEB-2026', { type: 'day', of: 'received', compare: 'since', day }],
  ['SENTBEFORE 1-Feb-2026', { type: 'day', of: 'sent', compare: 'before', day }],
  ['SENTON 1-Feb-2026', { type: 'day', of: 'sent', compare: 'on', day }],
  ['SENTSINCE 1-Feb-2026', { type: 'day', of: 'sent', compare: 'since', day }],
  ['SAVEDBEFORE 1-Feb-2026', { type: 'day', of: 'saved', compare: 'before', day }],
  ['SAVEDON 1-Feb-2026', { type: 'day', of: 'saved', compare: 'on', day }],
  ['SAVEDSINCE 1-Feb-2026', { type: 'day', of: 'saved', compare: 'since', day }],
  ['SAVEDATESUPPORTED', { type: 'saveDateSupported' }],
  ['OLDER 86400', { type: 'older', seconds: 86_400 }],
  ['YOUNGER 1', { type: 'younger', seconds: 1 }],
  ['MODSEQ 620162338', { type: 'modseq', atLeast: 620_162_338 }],
  ['MODSEQ "/flags/\\\\Draft" All 5', { type: 'modseq', atLeast: 5 }],
  ['MODSEQ 0', { type: 'modseq', atLeast: 0 }],
  ['EMAILID M6d99', { type: 'emailId', id: 'M6d99' }],
  ['THREADID T1', { type: 'threadId', id: 'T1' }],
  ['NOT SEEN', { type: 'not', key: flag('\\Seen', true) }],
  ['NOT NOT ALL', { type: 'not', key: none }],
  [
    'OR SEEN (FROM x TO y)',
    { type: 'or', left: flag('\\Seen', true), right: { type: 'and', keys: [header('from', 'x'), header('to', 'y')] } },
  ],
  ['((ALL))', all],
  ['( ALL )', all],
  ['( ALL SEEN )', { type: 'and', keys: [all, flag('\\Seen', true)] }],
]);

refuses('a search program', searchArguments, [
  '',
  ' ALL',
  'ALL ',
  'ALL  SEEN',
  '()',
  '( )',
  '(  ALL)',
  '(ALL  )',
  'ALL )',
  '(ALL',
  '(ALL SEEN',
  'ALL)',
  'NOT',
  'NOT ',
  'OR SEEN',
  'OR SEEN ',
  'X',
  'FROM',
  'FROM ',
  'HEADER x',
  'KEYWORD \\Seen',
  'KEYWORD',
  'LARGER',
  'LARGER x',
  'LARGER -1',
  'ON',
  'ON 30-Feb-2026',
  'ON 1-Foo-2026',
  'ON 1-Feb-26',
  'ON 001-Feb-2026',
  'ON 0-Jan-2026',
  'ON "1-Feb-2026',
  'OLDER 0',
  'MODSEQ "/flags/x" 5',
  'MODSEQ "/flags/x" some 5',
  'UID',
  'UID x',
  'UID 0',
  '0',
  '1:',
  '$x',
  'RETURN ALL',
  'RETURN (ALL)',
  'RETURN (X) ALL',
  'RETURN (PARTIAL 1:2 ALL) ALL',
  'RETURN (PARTIAL 1:2 PARTIAL 1:2) ALL',
  'RETURN (PARTIAL) ALL',
  'RETURN (MIN,MAX) ALL',
  'CHARSET UTF-8',
  'CHARSET UTF-8 ',
  'CHARSET',
]);

const returning = (...returns: SearchReturn[]): Pick<SearchArguments, 'returns'> => ({ returns });
reads<Pick<SearchArguments, 'returns'>>('SEARCH', (reader) => ({ returns: searchArguments(reader).returns }), [
  ['ALL', { returns: undefined }],
  ['RETURN () ALL', returning('ALL')],
  ['return (min Max COUNT all save) ALL', returning('MIN', 'MAX', 'COUNT', 'ALL', 'SAVE')],
  ['RETURN (SAVE) CHARSET UTF-8 ALL', returning('SAVE')],
  ['RETURN (UPDATE CONTEXT COUNT COUNT) ALL', returning('UPDATE', 'CONTEXT', 'COUNT')],
  ['RETURN (PARTIAL 1:500) ALL', returning({ partial: { from: 1, to: 500 } })],
  ['RETURN (PARTIAL -100:-1 MIN) ALL', returning('MIN', { partial: { from: -1, to: -100 } })],
]);
reads<ResultPage>('a page', resultPage, [
  ['1:1', { from: 1, to: 1 }],
  ['500:1', { from: 1, to: 500 }],
  ['-1:-4294967295', { from: -1, to: -4_294_967_295 }],
]);
refuses('a page', resultPage, ['', '1', '1:', '0:1', '1:0', '-1:1', '1:-1', '1:4294967296', '*:1', '--1:-1']);

reads<SortArguments>('SORT', sortArguments, [
  [
    '(SUBJECT REVERSE SUBJECT DATE SUBJECT) UTF-8 ALL',
    {
      returns: undefined,
      order: [
        { by: 'SUBJECT', isReverse: false },
        { by: 'DATE', isReverse: false },
      ],
      charset: 'UTF-8',
      key: all,
    },
  ],
  [
    '(REVERSE DATE subject) utf-8 ALL',
    {
      returns: undefined,
      order: [
        { by: 'DATE', isReverse: true },
        { by: 'SUBJECT', isReverse: false },
      ],
      charset: 'UTF-8',
      key: all,
    },
  ],
  [
    'RETURN (COUNT) (ARRIVAL CC FROM SIZE TO DISPLAYFROM REVERSE DISPLAYTO) US-ASCII SEEN',
    {
      returns: ['COUNT'],
      order: (['ARRIVAL', 'CC', 'FROM', 'SIZE', 'TO', 'DISPLAYFROM', 'DISPLAYTO'] as const).map((by) => ({
        by,
        isReverse: by === 'DISPLAYTO',
      })),
      charset: 'US-ASCII',
      key: flag('\\Seen', true),
    },
  ],
]);
refuses('SORT', sortArguments, [
  '',
  '() UTF-8 ALL',
  '(REVERSE) UTF-8 ALL',
  '(X) UTF-8 ALL',
  '(DATE) UTF-8',
  'DATE UTF-8 ALL',
  '(REVERSE REVERSE DATE) UTF-8 ALL',
]);
reads<ThreadArguments>('THREAD', threadArguments, [
  ['references UTF-8 ALL', { algorithm: 'REFERENCES', charset: 'UTF-8', key: all }],
  [
    'ORDEREDSUBJECT "us-ascii" 1',
    { algorithm: 'ORDEREDSUBJECT', charset: 'US-ASCII', key: { type: 'set', set: [[1, 1]], isByUid: false } },
  ],
]);
refuses('THREAD', threadArguments, ['', 'X UTF-8 ALL', 'REFERENCES', 'REFERENCES UTF-8']);

test('texts are in the charset that the client names', (t) => {
  const search = (charset: string, octets: number[]) => {
    const text = Buffer.concat([Buffer.from(`CHARSET ${charset} SUBJECT {${octets.length}}\r\n`), Buffer.from(octets)]);
    const { key } = searchArguments(createReader(text));
    return key.type === 'header' ? key.text : '';
  };
  t.is(search('iso-8859-1', [0xe4]), 'ä');
  t.is(search('WINDOWS-1251', [0xc4, 0xe0]), 'Да');
  t.is(search('utf-8', [0xc3, 0xa4]), 'ä');
  t.is(search('US-ASCII', [0x61]), 'a');
  t.throws(() => search('utf-8', [0xe4]), { instanceOf: CommandSyntaxError });
});

test('an unknown charset is read, and its texts are not refused', (t) => {
  t.is(readWhole(searchArguments, 'CHARSET X-NONE SUBJECT {2+}\r\n\xe4').charset, 'X-NONE');
  t.is(readWhole(sortArguments, '(DATE) X-NONE ALL').charset, 'X-NONE');
  t.is(readWhole(threadArguments, 'REFERENCES X-NONE ALL').charset, 'X-NONE');
  t.throws(() => readWhole(searchArguments, 'CHARSET X-NONE BOGUS'), { instanceOf: CommandSyntaxError });
});

test('search keys and their nesting are bounded', (t) => {
  const limits = { nesting: 4, searchKeys: 6, sequenceRanges: 9 };
  const search = (text: string) => readWhole(searchArguments, text, { limits });
  t.notThrows(() => search('ALL ALL ALL ALL ALL ALL'));
  t.throws(() => search('ALL ALL ALL ALL ALL ALL ALL'), { message: /6 search keys/ });
  t.throws(() => search('OR OR ALL ALL OR OR ALL ALL ALL'), { message: /6 search keys/ });
  t.notThrows(() => search('NOT (NOT (ALL))'));
  t.throws(() => search('NOT (NOT (NOT ALL))'), { message: /4 levels/ });
  for (const deep of ['NOT ', '(', 'OR ALL (', 'OR NOT ']) {
    t.throws(() => readWhole(searchArguments, deep.repeat(10_000)), { message: /50 levels/ });
  }
  for (const long of ['OR ALL ', 'OR ']) {
    t.throws(() => readWhole(searchArguments, long.repeat(10_000)), { message: /2000 search keys/ });
  }
});

test('a key may be one of many, whichever way the client puts them together', (t) => {
  const ofUids = (program: string) => {
    const uids: number[] = [];
    const open = [readWhole(searchArguments, program).key];
    for (let key = open.pop(); key !== undefined; key = open.pop()) {
      if (key.type === 'or') open.push(key.right, key.left);
      else if (key.type === 'set' && key.set !== '$') uids.push(key.set[0]![0]);
    }
    return uids;
  };
  const uids = Array.from({ length: 1000 }, (_, i) => i + 1);
  const texts = uids.map((uid) => `UID ${uid}`);
  t.deepEqual(ofUids(`${texts.slice(0, -1).join(' OR ').replace(/^/, 'OR ')} ${texts.at(-1)}`), uids);
  t.deepEqual(ofUids(`${'OR '.repeat(999)}${texts.join(' ')}`), uids);
  t.deepEqual(ofUids('or OR UID 1 Or UID 2 UID 3 OR UID 4 (OR UID 5 UID 6)'), [1, 2, 3, 4, 5, 6]);
});

const texts = fc.string({ unit: 'grapheme', maxLength: 8 }).filter((text) => !text.includes('\0'));
const days = fc.record({
  year: fc.integer({ min: 1, max: 9999 }),
  month: fc.integer({ min: 1, max: 12 }),
  day: fc.integer({ min: 1, max: 28 }),
});
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const leaf: fc.Arbitrary<SearchKey> = fc.oneof(
  fc.constant(all),
  fc.record({
    type: fc.constant('flag'),
    name: fc.constantFrom('\\Seen', '\\Deleted', '\\Draft'),
    isSet: fc.boolean(),
  }),
  fc.record({ type: fc.constant('flag'), name: fc.constantFrom('$Junk', 'x'), isSet: fc.boolean() }),
  fc.record({ type: fc.constant('header'), name: fc.constantFrom('from', 'subject', 'x-foo', 'a b'), text: texts }),
  fc.record({ type: fc.constantFrom('body' as const, 'text' as const), text: texts }),
  fc.record({ type: fc.constantFrom('larger' as const, 'smaller' as const), octets: fc.maxSafeNat() }),
  fc.record({
    type: fc.constant('day'),
    of: fc.constantFrom('received' as const, 'sent' as const, 'saved' as const),
    compare: fc.constantFrom('before' as const, 'on' as const, 'since' as const),
    day: days,
  }),
  fc.record({
    type: fc.constantFrom('older' as const, 'younger' as const),
    seconds: fc.integer({ min: 1, max: 0xffff_ffff }),
  }),
  fc.record({ type: fc.constant('modseq'), atLeast: fc.maxSafeNat() }),
  fc.record({ type: fc.constantFrom('emailId' as const, 'threadId' as const), id: fc.constantFrom('M1', 'T_2') }),
  fc.record({ type: fc.constant('set'), set: sets, isByUid: fc.boolean() }),
  fc.constant<SearchKey>({ type: 'saveDateSupported' }),
);
const { key: keys } = fc.letrec<{ key: SearchKey }>((tie) => ({
  key: fc.oneof(
    { maxDepth: 5, depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.record({ type: fc.constant('and'), keys: fc.array(tie('key'), { minLength: 2, maxLength: 3 }) }),
    fc.record({ type: fc.constant('or'), left: tie('key'), right: tie('key') }),
    fc.record({ type: fc.constant('not'), key: tie('key') }),
  ),
}));

/** Prints a key; one character is one octet. */
function printed(key: SearchKey): string {
  switch (key.type) {
    case 'all':
      return 'ALL';
    case 'saveDateSupported':
      return 'SAVEDATESUPPORTED';
    case 'and':
      return `(${key.keys.map(printed).join(' ')})`;
    case 'or':
      return `OR ${printed(key.left)} ${printed(key.right)}`;
    case 'not':
      return `NOT ${printed(key.key)}`;
    case 'set':
      return `${key.isByUid ? 'UID ' : ''}${printedSet(key.set)}`;
    case 'flag':
      if (!key.name.startsWith('\\')) return `${key.isSet ? '' : 'UN'}KEYWORD ${key.name}`;
      return `${key.isSet ? '' : 'UN'}${key.name.slice(1)}`;
    case 'header':
      return ['from', 'subject'].includes(key.name)
        ? `${key.name} ${quoted(key.text)}`
        : `HEADER ${quoted(key.name)} ${quoted(key.text)}`;
    case 'body':
    case 'text':
      return `${key.type} ${quoted(key.text)}`;
    case 'larger':
    case 'smaller':
      return `${key.type} ${key.octets}`;
    case 'day':
      return `${{ received: '', sent: 'SENT', saved: 'SAVED' }[key.of]}${key.compare} ${key.day.day}-${MONTHS[key.day.month - 1]}-${String(key.day.year).padStart(4, '0')}`;
    case 'older':
    case 'younger':
      return `${key.type} ${key.seconds}`;
    case 'modseq':
      return `MODSEQ ${key.atLeast}`;
    case 'emailId':
    case 'threadId':
      return `${key.type} ${key.id}`;
  }
}

test('every search program is read as it was printed', (t) => {
  fc.assert(
    fc.property(keys, (key) => {
      const reader = createReader(printed(key));
      t.deepEqual(searchArguments(reader).key, key);
      t.true(reader.isAtEnd);
    }),
    { numRuns: runs(500) },
  );
});

test('no damage to a search program makes it fail in another way', (t) => {
  fc.assert(
    fc.property(
      keys,
      fc.nat(),
      fc.nat(),
      fc.constantFrom('', ' ', '(', ')', '"', '{3}\r\n', 'NOT ', '\0', '9', ':'),
      (key, at, length, put) => {
        const text = printed(key);
        const from = at % (text.length + 1);
        const damaged = text.slice(0, from) + put + text.slice(from + (length % 4));
        try {
          searchArguments(createReader(damaged));
        } catch (error) {
          if (!(error instanceof CommandSyntaxError)) throw error;
        }
        t.pass();
      },
    ),
    { numRuns: runs(1_000) },
  );
});
