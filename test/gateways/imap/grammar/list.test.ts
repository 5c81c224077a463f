// Tests LIST, LSUB, STATUS, SELECT, CREATE and RENAME.

import fc from 'fast-check';
import {
  type ListArguments,
  type LsubArguments,
  listArguments,
  lsubArguments,
  type StatusArguments,
  statusArguments,
} from '../../../../src/gateways/imap/grammar/list.js';
import {
  type CreateArguments,
  createArguments,
  type RenameArguments,
  renameArguments,
} from '../../../../src/gateways/imap/grammar/mailboxes.js';
import { type SelectArguments, selectArguments } from '../../../../src/gateways/imap/grammar/select.js';
import {
  CommandSyntaxError,
  createReader,
  type NamedMailbox,
} from '../../../../src/gateways/imap/wire/command-reader.js';
import { mailboxName } from '../../../../src/gateways/imap/wire/format.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { readWhole } from './reading.js';
import { reads, refuses } from './tables.js';

const named = (name: string, written = name): NamedMailbox => ({ name, written });

const list: ListArguments = {
  selection: [],
  reference: named(''),
  patterns: [named('*')],
  withSubscribed: false,
  withChildren: false,
  withSpecialUse: false,
  status: undefined,
  metadata: undefined,
  isExtended: false,
};
const extended: ListArguments = { ...list, isExtended: true };

reads<ListArguments>('LIST', listArguments, [
  ['"" *', list],
  ['"" ""', { ...list, patterns: [named('')] }],
  ['"Zo&AOs-/" "a %"', { ...list, reference: named('Zoë/'), patterns: [named('a %')] }],
  ['inbox %', { ...list, reference: named('INBOX'), patterns: [named('%')] }],
  ['"" ("INBOX" "Drafts" Sent/%)', { ...extended, patterns: [named('INBOX'), named('Drafts'), named('Sent/%')] }],
  ['() "" *', extended],
  ['(SUBSCRIBED) "" *', { ...extended, selection: ['SUBSCRIBED'] }],
  [
    '(recursivematch subscribed remote SPECIAL-USE SUBSCRIBED) "" *',
    { ...extended, selection: ['RECURSIVEMATCH', 'SUBSCRIBED', 'REMOTE', 'SPECIAL-USE'] },
  ],
  ['"" * RETURN ()', extended],
  [
    '"" * return (Children SUBSCRIBED special-use)',
    { ...extended, withSubscribed: true, withChildren: true, withSpecialUse: true },
  ],
  [
    '"" * RETURN (STATUS (MESSAGES UNSEEN messages) CHILDREN)',
    { ...extended, withChildren: true, status: ['MESSAGES', 'UNSEEN'] },
  ],
  [
    '"" * RETURN (METADATA ("/shared/Vendor/x" /private/comment))',
    { ...extended, metadata: ['/shared/vendor/x', '/private/comment'] },
  ],
]);
refuses('LIST', listArguments, [
  '',
  '""',
  '"" ',
  '"" * *',
  '"" ()',
  '(X) "" *',
  '(RECURSIVEMATCH) "" *',
  '(RECURSIVEMATCH REMOTE) "" *',
  '(SUBSCRIBED "" *',
  '(SUBSCRIBED)"" *',
  '"" * RETURN',
  '"" * RETURN (X)',
  '"" * RETURN (STATUS)',
  '"" * RETURN (STATUS ())',
  '"" * RETURN (METADATA (x))',
  '"" * RETURN () x',
  '% *',
  `"" (${Array(101).fill('a').join(' ')})`,
]);
reads<LsubArguments>('LSUB', lsubArguments, [['"#news." "comp.%"', { reference: '#news.', pattern: 'comp.%' }]]);
refuses('LSUB', lsubArguments, ['""', '"" (a)', '() "" *']);

reads<StatusArguments>('STATUS', statusArguments, [
  [
    'inbox (messages RECENT UIDNEXT UIDVALIDITY UNSEEN DELETED SIZE HIGHESTMODSEQ MAILBOXID APPENDLIMIT DELETED-STORAGE UNSEEN)',
    {
      mailbox: 'INBOX',
      items: [
        'MESSAGES',
        'RECENT',
        'UIDNEXT',
        'UIDVALIDITY',
        'UNSEEN',
        'DELETED',
        'SIZE',
        'HIGHESTMODSEQ',
        'MAILBOXID',
        'APPENDLIMIT',
        'DELETED-STORAGE',
      ],
    },
  ],
]);
refuses('STATUS', statusArguments, [
  '',
  'INBOX',
  'INBOX ()',
  'INBOX (X)',
  'INBOX MESSAGES',
  'INBOX (MESSAGES',
  '* (MESSAGES)',
]);

const selected: SelectArguments = { mailbox: named('INBOX'), condstore: false, qresync: undefined };
const resync = { uidValidity: 67_890_007, modseq: 20_050_715, knownUids: undefined, seqMatch: undefined };
reads<SelectArguments>('SELECT', selectArguments, [
  ['inbox', selected],
  ['"Zo&AOs-"', { ...selected, mailbox: named('Zoë') }],
  ['INBOX (condstore)', { ...selected, condstore: true }],
  ['INBOX (QRESYNC (67890007 20050715))', { ...selected, qresync: resync }],
  ['INBOX (QRESYNC (67890007 0))', { ...selected, qresync: { ...resync, modseq: 0 } }],
  [
    'INBOX (CONDSTORE QRESYNC (67890007 20050715 41,43:211))',
    {
      mailbox: named('INBOX'),
      condstore: true,
      qresync: {
        ...resync,
        knownUids: [
          [41, 41],
          [43, 211],
        ],
      },
    },
  ],
  [
    'INBOX (QRESYNC (67890007 20050715 1:9 (1,2 5:6)))',
    {
      ...selected,
      qresync: {
        ...resync,
        knownUids: [[1, 9]],
        seqMatch: {
          sequenceNumbers: [
            [1, 1],
            [2, 2],
          ],
          uids: [[5, 6]],
        },
      },
    },
  ],
  [
    'INBOX (QRESYNC (67890007 20050715 (1 5)))',
    { ...selected, qresync: { ...resync, seqMatch: { sequenceNumbers: [[1, 1]], uids: [[5, 5]] } } },
  ],
]);
refuses('SELECT', selectArguments, [
  '',
  'INBOX ',
  'INBOX ()',
  'INBOX (X)',
  'INBOX (QRESYNC)',
  'INBOX (QRESYNC (1))',
  'INBOX (QRESYNC (0 1))',
  'INBOX (QRESYNC (1 2 *))',
  'INBOX (QRESYNC (1 2 1:*))',
  'INBOX (QRESYNC (1 2 $))',
  'INBOX (QRESYNC (1 2 ))',
  'INBOX (QRESYNC (1 2 3 ))',
  'INBOX (QRESYNC (1 2 3 4))',
  'INBOX (QRESYNC (1 2 3(4 5)))',
  'INBOX (QRESYNC (1 2 3 (4)))',
  'INBOX (QRESYNC (1 2)',
  '*',
]);

reads<CreateArguments>('CREATE', createArguments, [
  ['a', { mailbox: named('a'), uses: [] }],
  ['"cafe\u0301"', { mailbox: named('caf\u00e9', 'cafe\u0301'), uses: [] }],
  ['a/b/', { mailbox: named('a/b/'), uses: [] }],
  ['a (use (\\Sent \\drafts))', { mailbox: named('a'), uses: ['\\Sent', '\\drafts'] }],
  ['a (USE ())', { mailbox: named('a'), uses: [] }],
]);
refuses('CREATE', createArguments, ['', 'a ()', 'a (X)', 'a (USE \\Sent)', 'a (USE (Sent))', 'a b', 'a*']);
reads<RenameArguments>('RENAME', renameArguments, [['inbox "a b"', { from: 'INBOX', to: named('a b') }]]);
refuses('RENAME', renameArguments, ['a', 'a ', 'a b c', 'a %']);

test('every SELECT with QRESYNC is read as it was printed', (t) => {
  const number = fc.integer({ min: 1, max: 0xffff_ffff });
  const known = fc.array(fc.tuple(number, number), { minLength: 1, maxLength: 3 });
  const commands = fc.record({
    uidValidity: number,
    modseq: fc.maxSafeNat(),
    knownUids: fc.option(known, { nil: undefined }),
    seqMatch: fc.option(fc.record({ sequenceNumbers: known, uids: known }), { nil: undefined }),
  });
  const shown = (set: readonly (readonly number[])[]) => set.map((range) => range.join(':')).join(',');
  fc.assert(
    fc.property(commands, (qresync) => {
      const { uidValidity, modseq, knownUids, seqMatch } = qresync;
      const parts = [
        `${uidValidity} ${modseq}`,
        ...(knownUids === undefined ? [] : [shown(knownUids)]),
        ...(seqMatch === undefined ? [] : [`(${shown(seqMatch.sequenceNumbers)} ${shown(seqMatch.uids)})`]),
      ];
      t.deepEqual(readWhole(selectArguments, `x (QRESYNC (${parts.join(' ')}))`), {
        mailbox: named('x'),
        condstore: false,
        qresync,
      });
    }),
  );
});

test('every LIST is read as it was printed', (t) => {
  const name = fc.string({ unit: fc.constantFrom('a', '/', '*', '%', ' ', 'ë', '&', '"', '\\', ']') });
  const commands = fc.record({
    selection: fc.uniqueArray(fc.constantFrom('SUBSCRIBED' as const, 'REMOTE' as const, 'SPECIAL-USE' as const)),
    reference: name,
    patterns: fc.array(name, { minLength: 1, maxLength: 3 }),
    withSubscribed: fc.boolean(),
    withChildren: fc.boolean(),
    withSpecialUse: fc.boolean(),
    status: fc.option(fc.constant(['MESSAGES', 'SIZE'] as const), { nil: undefined }),
    metadata: fc.option(fc.constant(['/private/comment'] as const), { nil: undefined }),
  });
  fc.assert(
    fc.property(commands, fc.boolean(), (command, isUtf8) => {
      const options = [
        ...(command.withSubscribed ? ['SUBSCRIBED'] : []),
        ...(command.withChildren ? ['CHILDREN'] : []),
        ...(command.withSpecialUse ? ['SPECIAL-USE'] : []),
        ...(command.status === undefined ? [] : [`STATUS (${command.status.join(' ')})`]),
        ...(command.metadata === undefined ? [] : [`METADATA (${command.metadata.join(' ')})`]),
      ];
      const patterns = command.patterns.map((pattern) => mailboxName(pattern, isUtf8)).join(' ');
      const reference = mailboxName(command.reference, isUtf8);
      const text = `(${command.selection.join(' ')}) ${reference} (${patterns}) RETURN (${options.join(' ')})`;
      const reader = createReader(text, { isUtf8 });
      const { reference: prefix, patterns: read, ...rest } = listArguments(reader);
      t.deepEqual(
        { ...rest, reference: prefix.name, patterns: read.map(({ name }) => name) },
        { ...command, isExtended: true },
      );
      t.true(reader.isAtEnd);
    }),
    { numRuns: runs(300) },
  );
});

test('the limits of the reader hold in every list', (t) => {
  const limits = { nesting: 2, searchKeys: 9, sequenceRanges: 9 };
  t.throws(() => readWhole(listArguments, '"" * RETURN (STATUS (SIZE))', { limits: { ...limits, nesting: 1 } }), {
    instanceOf: CommandSyntaxError,
    message: /1 levels/,
  });
  t.notThrows(() => readWhole(listArguments, '"" * RETURN (STATUS (SIZE))', { limits }));
});
