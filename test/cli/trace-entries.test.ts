// Tests what entries records of a log make: moves, deletions, outcomes of recipients, bounces, and who may have done it.
import { entriesOf, idsIn, refusedEntry } from '../../src/cli/trace-entries.js';
import type { TracedChange } from '../../src/store/traces/traces.js';
import test from '../support/test.js';

const AT = Date.UTC(2026, 0, 1);
const account = { id: 'account', email: 'ann@here.test' };
const folders = new Map([
  ['f1', 'INBOX'],
  ['f2', 'Work'],
]);

function traced(changes: readonly object[], headers: Readonly<Record<string, string>> = {}) {
  const records = changes.map((change, i) => ({ at: AT + i, ...change })) as unknown as readonly TracedChange[];
  const texts = new Map(Object.entries(headers).map(([blob, text]) => [blob, Buffer.from(text)]));
  const node = { id: 'one', since: AT + 1 };
  return entriesOf({ account, ids: new Set(['e1', 'o1']), changes: records, headers: texts, folders, node });
}

const email = (more: object = {}) => ({
  id: 'e1',
  blob: 'b1',
  messageId: '<m@there.test>',
  fromAddress: 'zoe@there.test',
  subject: 'Hi',
  size: 7,
  receivedAt: AT - 5,
  ...more,
});
const added = (more: object = {}) => ({
  type: 'EmailAdded',
  payload: { email: email(more), placements: [{ folderId: 'f1', uid: 1 }], isNew: true },
});
const HEADER =
  'Return-Path: <zoe@there.test>\r\nAuthentication-Results: mx.here.test;\r\n\tspf=pass smtp.mailfrom=zoe@there.test;\r\n\tdkim=none;\r\n\tdmarc=none\r\n' +
  'Received: from c.test ([192.0.2.7]) by mx.here.test with ESMTPS id 0190-af;\r\n\tThu, 01 Jan 2026 00:00:00 +0000\r\n\r\nbody\r\n';

test('a message that came in has its way, its checks and its folders', (t) => {
  const [received, accepted, filed, ...none] = traced([added({ hasAuthenticationResults: true })], { b1: HEADER });
  t.deepEqual(none, []);
  t.like(received, { at: new Date(AT - 5).toISOString(), event: 'received', node: null, listener: 'mx', tls: true });
  t.like(received, { peer: '192.0.2.7', helo: 'c.test', transaction: '0190-af', sender: 'zoe@there.test', bytes: 7 });
  t.like(accepted, { event: 'accepted', checks: { spf: { result: 'pass', domain: 'there.test' } } });
  t.like(filed, { event: 'filed', folders: ['INBOX'], account: 'ann@here.test' });
});

test('what a client appended, or another server has received, was not received here', (t) => {
  for (const [origin, header] of [
    ['appended', HEADER],
    [null, `X-First: x\r\n${HEADER.slice(HEADER.indexOf('Received'))}`],
    [null, 'Received: from a.test (a.test [192.0.2.1]) by b.test (Postfix) with ESMTP id 4F; now\r\n\r\n'],
  ] as const)
    t.deepEqual(
      traced([added({ origin })], { b1: header }).map(({ event }) => event),
      ['filed'],
      header,
    );
});

test('moves and deletions of this email alone', (t) => {
  const entries = traced([
    added(),
    { type: 'EmailPlaced', payload: { emailId: 'other', folderId: 'f2', uid: 1, others: ['e1', 'more'] } },
    { type: 'EmailExpunged', payload: { emailId: 'e1', folderId: 'f1', uid: 1 } },
    {
      type: 'FolderDeleted',
      payload: { folderId: 'f2', role: 'label', placed: { folderId: 'f1', emails: [{ emailId: 'e1', uid: 2 }] } },
    },
    { type: 'FolderDeleted', payload: { folderId: 'f3', role: 'label', placed: null } },
    { type: 'EmailRemoved', payload: { emailId: 'other', placements: [], others: [{ emailId: 'e1', uids: [] }] } },
  ]);
  t.deepEqual(
    entries.map(({ event, folders: named, node }) => [event, named, node]),
    [
      ['filed', ['INBOX'], null],
      ['filed', ['Work'], 'one'],
      ['filed', ['INBOX'], 'one'],
      ['deleted', undefined, 'one'],
    ],
  );
});

test('an outbound email is queued once; recipients are delivered, fail or bounce', (t) => {
  const outbound = (status: string, before: string | null, passed: readonly string[] = []) => ({
    type: 'OutboundChanged',
    payload: {
      outbound: { id: 'o1', status, messageId: '<o@here.test>', sender: 'ann@here.test', subject: 's' },
      before,
      passed,
    },
  });
  const recipient = (id: string, status: string, more: object = {}) => ({
    type: 'RecipientChanged',
    payload: {
      outboundId: 'o1',
      position: 0,
      recipient: {
        id,
        address: `${id}@there.test`,
        status,
        lastError: null,
        statusCode: null,
        deliveredAt: null,
        ...more,
      },
    },
  });
  const changes = [
    outbound('Draft', null),
    outbound('Sending', 'Draft', ['Queued', 'Sending']),
    recipient('r1', 'Pending'),
    recipient('r2', 'Pending'),
    {
      type: 'DeliveryAttempted',
      payload: {
        outboundId: 'o1',
        attempt: { id: 'a', at: AT + 2, host: 'mx.there.test', reply: '250 ok', node: 'two' },
      },
    },
    recipient('r1', 'Delivered', { deliveredAt: AT }),
    recipient('r2', 'Failed', { lastError: '550 no', statusCode: '5.1.1' }),
    outbound('Queued', 'Sending', ['Queued']),
    recipient('r1', 'Failed', { deliveredAt: AT, lastError: 'returned' }),
    recipient('r1', 'Failed', { deliveredAt: AT, lastError: 'returned' }),
  ];
  t.deepEqual(
    traced(changes).map(({ event, recipient: to, reply }) => [event, to ?? reply]),
    [
      ['queued', undefined],
      ['attempted', '250 ok'],
      ['delivered', 'r1@there.test'],
      ['failed', 'r2@there.test'],
      ['bounced', 'r1@there.test'],
    ],
  );
  t.is(traced(changes)[1]!.node, 'two');
  const records = [...changes, added()].map((change) => ({ at: AT, ...change })) as unknown as readonly TracedChange[];
  t.deepEqual([...new Set(idsIn(records, '<o@here.test>'))], ['o1']);
  t.deepEqual(idsIn(records, '<m@there.test>'), ['e1']);
});

test('a refusal says who refused whom', (t) => {
  const refused = {
    at: AT,
    node: 'two',
    listener: 'mx',
    remoteAddress: '192.0.2.7',
    sender: null,
    recipients: ['ann@here.test'],
    transaction: null,
    messageId: null,
    code: 550,
    reason: 'unknown',
  } as const;
  t.like(refusedEntry(refused), {
    event: 'refused',
    node: 'two',
    peer: '192.0.2.7',
    code: 550,
    at: '2026-01-01T00:00:00.000Z',
  });
});
