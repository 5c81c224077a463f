// Tests METADATA, QUOTA, ID, ENABLE, NOTIFY, and the texts of APPEND.

import { Refused } from '../../../../src/gateways/imap/completion.js';
import {
  type CatenatePart,
  catenatePart,
  type MessageOptions,
  messageOptions,
} from '../../../../src/gateways/imap/grammar/append.js';
import { enableArguments, idArguments } from '../../../../src/gateways/imap/grammar/id.js';
import { type MessageUrl, messageUrl } from '../../../../src/gateways/imap/grammar/message-url.js';
import {
  type GetMetadataArguments,
  getMetadataArguments,
  type SetMetadataArguments,
  setMetadataArguments,
} from '../../../../src/gateways/imap/grammar/metadata.js';
import { type NotifyArguments, notifyArguments } from '../../../../src/gateways/imap/grammar/notify.js';
import { type SetQuotaArguments, setQuotaArguments } from '../../../../src/gateways/imap/grammar/quota.js';
import test from '../../../support/test.js';
import { readWhole } from './reading.js';
import { reads, refuses } from './tables.js';

const get = { mailbox: '', entries: ['/shared/comment'], maxSize: undefined, depth: 0 } as const;
reads<GetMetadataArguments>('GETMETADATA', getMetadataArguments, [
  ['"" /shared/comment', get],
  [
    'inbox (/Shared/Comment "/private/x y")',
    { ...get, mailbox: 'INBOX', entries: ['/shared/comment', '/private/x y'] },
  ],
  ['(MAXSIZE 1024) "" /shared/comment', { ...get, maxSize: 1024 }],
  ['(depth 1 maxsize 0) "" (/shared/comment)', { ...get, maxSize: 0, depth: 1 }],
  ['(DEPTH infinity) "" /shared/comment', { ...get, depth: 'infinity' }],
  ['"" (DEPTH 0) /shared/comment', get],
  ['"" (MAXSIZE 5) (/shared/comment)', { ...get, maxSize: 5 }],
]);
refuses('GETMETADATA', getMetadataArguments, [
  '',
  '""',
  '"" ()',
  '"" shared',
  '"" /',
  '"" /a/',
  '"" //a',
  '"" "/a*"',
  '"" "/a%"',
  '"" "/ä"',
  '() "" /a',
  '(X 1) "" /a',
  '(DEPTH 2) "" /a',
  '(MAXSIZE x) "" /a',
  '(MAXSIZE 1) "" (MAXSIZE 1) /a',
  '"" (MAXSIZE 1)',
  '"" /a /b',
  `"" (${Array(1001).fill('/a').join(' ')})`,
]);
reads<SetMetadataArguments>('SETMETADATA', setMetadataArguments, [
  ['INBOX (/private/comment NIL)', { mailbox: 'INBOX', entries: [{ name: '/private/comment', value: null }] }],
  [
    '"" (/A "x" /b {2}\r\ny\n /c ~{3}\r\na\0b)',
    {
      mailbox: '',
      entries: [
        { name: '/a', value: Buffer.from('x') },
        { name: '/b', value: Buffer.from('y\n') },
        { name: '/c', value: Buffer.from('a\0b') },
      ],
    },
  ],
]);
refuses('SETMETADATA', setMetadataArguments, ['""', '"" ()', '"" (/a)', '"" (/a x)', '"" /a "x"', '"" (/a "x" /b)']);

reads<SetQuotaArguments>('SETQUOTA', setQuotaArguments, [
  [
    '"" (STORAGE 512 message 4294967296)',
    {
      root: '',
      resources: [
        { name: 'STORAGE', limit: 512 },
        { name: 'MESSAGE', limit: 4_294_967_296 },
      ],
    },
  ],
  ['x ()', { root: 'x', resources: [] }],
]);
refuses('SETQUOTA', setQuotaArguments, ['""', '"" (STORAGE)', '"" (STORAGE -1)', '"" STORAGE 1']);

reads('ID', (reader) => [...(idArguments(reader) ?? [['NIL', null]])], [
  ['NIL', [['NIL', null]]],
  ['()', []],
  [
    '("Name" "x" "os" NIL)',
    [
      ['name', 'x'],
      ['os', null],
    ],
  ],
]);
refuses('ID', idArguments, [
  '',
  'x',
  '("a")',
  '(a "b")',
  '("a" b)',
  `("${'a'.repeat(31)}" "x")`,
  `("a" "${'x'.repeat(1025)}")`,
  `(${Array.from({ length: 31 }, (_, i) => `"${i}" "x"`).join(' ')})`,
]);
reads('ENABLE', enableArguments, [['condstore UTF8=ACCEPT CONDSTORE', ['CONDSTORE', 'UTF8=ACCEPT']]]);
refuses('ENABLE', enableArguments, ['', 'a ', 'a  b', '(a)']);

const messages = new Set(['MessageNew', 'MessageExpunge'] as const);
reads<NotifyArguments>('NOTIFY', notifyArguments, [
  ['none', { groups: [], withStatus: false }],
  [
    'SET (selected (MessageNew MessageExpunge))',
    { groups: [{ filter: { type: 'selected' }, events: messages, attributes: [] }], withStatus: false },
  ],
  [
    'set status (SELECTED-DELAYED (messagenew (FLAGS UID) MESSAGEEXPUNGE FlagChange)) (personal none)',
    {
      groups: [
        {
          filter: { type: 'selected-delayed' },
          events: new Set(['MessageNew', 'MessageExpunge', 'FlagChange'] as const),
          attributes: [{ type: 'FLAGS' }, { type: 'UID' }],
        },
        { filter: { type: 'personal' }, events: new Set(), attributes: [] },
      ],
      withStatus: true,
    },
  ],
  [
    'SET (subtree Lists (MailboxName SubscriptionChange)) (mailboxes (inbox "a b") (MailboxMetadataChange ServerMetadataChange)) (inboxes NONE) (subscribed NONE)',
    {
      groups: [
        {
          filter: { type: 'subtree', mailboxes: ['Lists'] },
          events: new Set(['MailboxName', 'SubscriptionChange'] as const),
          attributes: [],
        },
        {
          filter: { type: 'mailboxes', mailboxes: ['INBOX', 'a b'] },
          events: new Set(['MailboxMetadataChange', 'ServerMetadataChange'] as const),
          attributes: [],
        },
        { filter: { type: 'inboxes' }, events: new Set(), attributes: [] },
        { filter: { type: 'subscribed' }, events: new Set(), attributes: [] },
      ],
      withStatus: false,
    },
  ],
]);
refuses('NOTIFY', notifyArguments, [
  '',
  'SET',
  'SET STATUS',
  'SET ()',
  'SET (selected)',
  'SET (selected ())',
  'SET (everything NONE)',
  'SET (mailboxes () NONE)',
  'SET (selected (MessageNew))',
  'SET (selected (MessageExpunge))',
  'SET (selected (FlagChange))',
  'SET (selected (MessageNew () MessageExpunge))',
  'SET (selected (MessageNew (X) MessageExpunge))',
  'SET (selected NONE',
  `SET ${Array(101).fill('(selected NONE)').join(' ')}`,
]);
test('an unknown event of NOTIFY is refused with NO and the events that are known', (t) => {
  const error = t.throws(() => readWhole(notifyArguments, 'SET (personal (AnnotationChange MailboxName))'), {
    instanceOf: Refused,
  });
  t.is(error?.completion.status, 'NO');
  t.regex(error?.completion.code ?? '', /^BADEVENT \(MessageNew .*ServerMetadataChange\)$/);
});

const message: MessageOptions = { flags: [], receivedAt: undefined, data: 'literal' };
reads<MessageOptions>('the options of a message', messageOptions, [
  [' ', message],
  [' (\\Seen x) ', { ...message, flags: ['\\Seen', 'x'] }],
  [' "17-Jul-1996 02:44:25 -0700" ', { ...message, receivedAt: Date.UTC(1996, 6, 17, 9, 44, 25) }],
  [' () " 1-Jan-2026 00:00:00 +0000" utf8 (', { flags: [], receivedAt: Date.UTC(2026, 0, 1), data: 'utf8' }],
  [' CATENATE (', { ...message, data: 'catenate' }],
]);
refuses('the options of a message', messageOptions, [
  '',
  '  ',
  ' (\\Seen)',
  ' x',
  ' UTF8 ',
  ' UTF8 (x',
  ' CATENATE ',
  ' CATENATE (x',
]);
reads<CatenatePart | undefined>('the first part of CATENATE', (reader) => catenatePart(reader, true), [
  ['URL "/INBOX/;UID=1"', { type: 'url', url: '/INBOX/;UID=1' }],
  ['text ', { type: 'text' }],
  ['utf8 (', { type: 'utf8' }],
]);
refuses('the first part of CATENATE', (reader) => catenatePart(reader, true), [
  '',
  ')',
  ' URL x',
  'UTF8 ',
  'UTF8 (x',
  'URL',
  'TEXT',
  'TEXT x',
  'X',
]);
reads<CatenatePart | undefined>('the next part of CATENATE', (reader) => catenatePart(reader, false), [
  [')', undefined],
  [' URL x', { type: 'url', url: 'x' }],
  [' TEXT ', { type: 'text' }],
]);
refuses('the next part of CATENATE', (reader) => catenatePart(reader, false), ['', 'URL x', ' )', ') ']);

const url: MessageUrl = {
  server: undefined,
  mailbox: 'INBOX',
  uidValidity: undefined,
  uid: 20,
  section: undefined,
  partial: undefined,
};
for (const [text, value] of [
  ['/INBOX/;UID=20', url],
  ['/INBOX;UIDVALIDITY=785799047/;uid=20', { ...url, uidValidity: 785_799_047 }],
  [
    '/a/b%20%C3%AB;UIDVALIDITY=1/;UID=20/;SECTION=1.2',
    { ...url, mailbox: 'a/b ë', uidValidity: 1, section: { part: [1, 2], text: null, fields: [] } },
  ],
  [
    '/INBOX/;UID=20/;section=HEADER.FIELDS%20(Date%20To)',
    { ...url, section: { part: [], text: 'HEADER.FIELDS', fields: ['Date', 'To'] } },
  ],
  [
    '/INBOX/;UID=20/;SECTION=TEXT/;PARTIAL=5.10',
    { ...url, section: { part: [], text: 'TEXT', fields: [] }, partial: { offset: 5, length: 10 } },
  ],
  ['/INBOX/;UID=20/;PARTIAL=5', { ...url, partial: { offset: 5, length: undefined } }],
  [';UID=20', { ...url, mailbox: undefined }],
  ['/;UID=20', { ...url, mailbox: undefined }],
  ['imap://ann@mail.example/INBOX/;UID=20', { ...url, server: { user: 'ann', host: 'mail.example' } }],
  [
    'IMAP://ann%40example.org;AUTH=*@mail.example:143/INBOX/;UID=20',
    { ...url, server: { user: 'ann@example.org', host: 'mail.example:143' } },
  ],
  ['imap://mail.example/INBOX/;UID=20', { ...url, server: { user: undefined, host: 'mail.example' } }],
] as const) {
  test(`${text} is the URL of a message`, (t) => t.deepEqual(messageUrl(text), value));
}
for (const text of [
  '',
  '/INBOX',
  '/INBOX/;UID=0',
  '/INBOX/;UID=4294967296',
  '/INBOX/;UID=x',
  '/INBOX;UIDVALIDITY=0/;UID=1',
  '/%FF/;UID=1',
  '/%zz/;UID=1',
  '/ë/;UID=1',
  '/INBOX/;UID=1/;SECTION=',
  '/INBOX/;UID=1/;SECTION=X',
  '/INBOX/;UID=1/;SECTION=1]x',
  '/INBOX/;UID=1/;PARTIAL=0.0',
  '/INBOX/;UID=1/;PARTIAL=x',
  '/INBOX/;UID=1;URLAUTH=anonymous:internal:00',
  'http://mail.example/INBOX/;UID=1',
  'imap://mail.example/;UID=1',
  'imap://mail.example',
]) {
  test(`${JSON.stringify(text)} is no URL of a message`, (t) => t.is(messageUrl(text), undefined));
}
