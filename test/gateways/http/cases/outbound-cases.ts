// Says what the routes of outbound mail reply, case by case, in the order in which endpoints.test.ts runs them. The messages that
// they compose are tested in outbound.test.ts.

import { ALICE } from '../fakes.js';
import { ONE_TOO_MANY, RESTLESS, RESTLESS_TWICE } from '../fault-injection.js';
import type { TestMailboxes } from '../mailboxes.js';
import { outboundIdOf } from './aliases.js';
import { BOBS_ID, NO_ID, READ_ID, type Step, UNREAD_ID } from './endpoint-case.js';

const O = '/api/outbound';
const D = `${O}/drafts`;
const TRIED_AT = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

const bob = { address: 'bob@remote.test', displayName: 'Bob', type: 'To' };
const mail = { fromAddress: 'alice@example.test', subject: 'Hi', textBody: 'Hello', recipients: [bob] };

const ATTEMPT = {
  id: outboundIdOf(999),
  at: TRIED_AT,
  durationMs: 12.5,
  domain: 'remote.test',
  host: 'mx.remote.test',
  remoteAddress: '127.0.0.1',
  tls: null,
  reply: '450 4.2.0 Later',
};

/** Makes one delivery attempt of the first queued email, which fails. */
async function tried(mailboxes: TestMailboxes): Promise<void> {
  const mailbox = mailboxes.actors.of(ALICE);
  const queued = await mailbox.ask('outboundPage', { statuses: ['Queued'], page: 1, pageSize: 100 });
  const { id: outboundId, recipients } = queued.reply!.items.at(-1)!;
  const attempt = { id: outboundIdOf(998), by: 'node' };
  await mailbox.ask('startDelivery', { outboundId, attempt, supersedes: null });
  const answer = { kind: 'temporary' as const, text: ATTEMPT.reply, statusCode: '4.2.0', host: ATTEMPT.host };
  const attempts = [
    { ...ATTEMPT, recipients: recipients.map(({ id }) => ({ id, outcome: answer.kind, statusCode: '4.2.0' })) },
  ];
  const outcomes = recipients.map(({ id: recipientId }) => ({ ...answer, recipientId }));
  const report = { outboundId, attemptId: attempt.id, outcomes, attempts, isOver: true, isInterrupted: false };
  await mailbox.ask('reportDelivery', report);
}

const badSend = (changes: object, ...fields: readonly string[]): Step => ({
  route: `POST ${O}/send`,
  json: { ...mail, ...changes },
  status: 400,
  fields,
});

const badRecipient = (recipient: unknown, ...fields: readonly string[]): Step =>
  badSend({ recipients: [bob, recipient] }, ...fields.map((field) => `recipients[1]${field}`));

const sends: readonly Step[] = [
  {
    route: `POST ${O}/send`,
    json: mail,
    status: 200,
    check: (t, body) => t.deepEqual(body, { id: outboundIdOf(1), status: 'Queued', createdAt: body.createdAt }),
  },
  {
    route: `GET ${O}/{id}`,
    path: `${O}/${outboundIdOf(1).toUpperCase()}`,
    status: 200,
    check: (t, body) => {
      t.regex(body.messageId, /^<[0-9a-f-]{36}@mail\.example\.test>$/);
      t.deepEqual(body, {
        id: outboundIdOf(1),
        fromAddress: 'alice@example.test',
        subject: 'Hi',
        textBody: 'Hello',
        htmlBody: null,
        status: 'Queued',
        createdAt: body.createdAt,
        sendAt: null,
        sentAt: null,
        messageId: body.messageId,
        inReplyTo: null,
        references: null,
        retryCount: 0,
        lastError: null,
        recipients: [
          {
            id: body.recipients[0].id,
            address: 'bob@remote.test',
            displayName: 'Bob',
            type: 'To',
            status: 'Pending',
            deliveredAt: null,
            lastError: null,
            statusCode: null,
          },
        ],
        attachments: [],
        replyTo: null,
        headers: [],
        sentEmailId: body.sentEmailId,
        queuePosition: 0,
      });
    },
  },
  {
    route: `POST ${O}/send`,
    json: {
      ...mail,
      fromAddress: ' Sales+x@EXAMPLE.test ',
      textBody: null,
      htmlBody: '<p>Hello',
      recipients: [
        bob,
        { address: ' BOB@remote.TEST ', type: 'Bcc', displayName: null },
        { address: 'jürgen@bücher.test', type: 'Cc', displayName: ' ' },
        { address: 'carol@remote.test', type: 'Bcc' },
      ],
    },
    status: 200,
  },
  {
    route: `GET ${O}/{id}`,
    path: `${O}/${outboundIdOf(2)}`,
    status: 200,
    check: (t, body) => {
      t.is(body.fromAddress, 'Sales+x@example.test');
      t.deepEqual([body.textBody, body.htmlBody], [null, '<p>Hello']);
      t.deepEqual(
        body.recipients.map(({ address, type }: { address: string; type: string }) => [address, type]),
        [
          ['bob@remote.test', 'To'],
          ['jürgen@bücher.test', 'Cc'],
          ['carol@remote.test', 'Bcc'],
        ],
      );
      t.false('displayName' in body.recipients[1]);
    },
  },
  { route: `GET ${O}/{id}`, path: `${O}/${NO_ID}`, status: 404 },
  { route: `GET ${O}/{id}`, path: `${O}/x`, status: 404 },
  badSend({ fromAddress: 'bob@example.test' }, 'fromAddress'),
  badSend({ fromAddress: 'not an address' }, 'fromAddress'),
  badSend(
    { fromAddress: undefined, subject: undefined, recipients: undefined },
    'fromAddress',
    'subject',
    'recipients',
  ),
  badSend({ subject: ' ' }, 'subject'),
  badSend({ subject: 'a\r\nBcc: evil@remote.test' }, 'subject'),
  badSend({ subject: 'a\nb' }, 'subject'),
  badSend({ subject: 'a\0b' }, 'subject'),
  badSend({ subject: 'a\u2028b' }, 'subject'),
  badSend({ subject: 'x'.repeat(999) }, 'subject'),
  badSend({ textBody: undefined }, 'textBody', 'htmlBody'),
  badSend({ textBody: '', htmlBody: null }, 'textBody', 'htmlBody'),
  badSend({ textBody: 'a\0' }, 'textBody'),
  badSend({ htmlBody: '\ud800' }, 'htmlBody'),
  badSend({ textBody: { path: '/etc/passwd' } }, 'textBody'),
  badSend({ recipients: [] }, 'recipients'),
  badSend({ recipients: Array(101).fill(bob) }, 'recipients'),
  badSend({ recipients: 'bob@remote.test' }, 'recipients'),
  badSend(
    { fromAddress: 'bob@example.test', subject: '', textBody: '' },
    'fromAddress',
    'subject',
    'textBody',
    'htmlBody',
  ),
  badRecipient({}, '.address', '.type'),
  badRecipient({ ...bob, address: 'nobody' }, '.address'),
  badRecipient({ ...bob, address: 'a@b\r\nRCPT TO:<c@d>' }, '.address'),
  badRecipient({ ...bob, address: 'a@b.test, c@d.test' }, '.address'),
  badRecipient({ ...bob, address: { toString: 1 } }, '.address'),
  badRecipient({ ...bob, displayName: 'a\r\nBcc: c@d.test' }, '.displayName'),
  badRecipient({ ...bob, displayName: 'x'.repeat(201) }, '.displayName'),
  badRecipient({ ...bob, displayName: 1 }, '.displayName'),
  badRecipient({ ...bob, type: 'to' }, '.type'),
  badRecipient(null, ''),
  {
    route: `POST ${O}/send`,
    json: { ...mail, htmlBody: '€'.repeat(520_000) },
    status: 413,
    check: (t, body) => t.regex(body.detail, /larger than 2097152 octets/),
  },
  { route: `POST ${O}/send`, json: { ...mail, recipients: Array(100).fill(bob) }, status: 200 },
  { route: `POST ${O}/send`, as: ['api:write'], json: mail, status: 200 },
  { route: `POST ${O}/send`, as: ['api:read', 'smtp'], json: mail, status: 403 },
  {
    route: `GET ${O}/outbox`,
    as: ['api:read'],
    path: `${O}/outbox?pageSize=1&page=2`,
    status: 200,
    check: (t, body) => {
      t.deepEqual([body.totalCount, body.page, body.pageSize, body.items.length], [4, 2, 1, 1]);
      t.like(body.items[0], { id: outboundIdOf(3), status: 'Queued' });
      t.false('unreadCount' in body);
    },
  },
  { route: `GET ${O}/outbox`, path: `${O}/outbox?page=0`, status: 400, fields: ['page'] },
  {
    route: `GET ${O}/sent`,
    status: 200,
    check: (t, body) => t.deepEqual(body, { items: [], totalCount: 0, page: 1, pageSize: 20 }),
  },
  {
    route: `GET ${O}/{id}/timeline`,
    path: `${O}/${outboundIdOf(1)}/timeline`,
    before: tried,
    status: 200,
    check: (t, body) =>
      t.deepEqual(body, [
        {
          id: ATTEMPT.id,
          at: '2026-01-01T00:00:00.000Z',
          durationMs: 13,
          domain: 'remote.test',
          host: 'mx.remote.test',
          remoteAddress: '127.0.0.1',
          tls: null,
          reply: '450 4.2.0 Later',
          recipients: [{ id: body[0].recipients[0].id, outcome: 'temporary', statusCode: '4.2.0' }],
        },
      ]),
  },
  { route: `GET ${O}/{id}/timeline`, path: `${O}/${NO_ID}/timeline`, status: 404 },
  {
    route: `GET ${O}/{id}/attachments/{attachmentId}`,
    path: `${O}/${outboundIdOf(1)}/attachments/${NO_ID}`,
    status: 404,
  },
  { route: `GET ${O}/{id}/attachments/{attachmentId}`, path: `${O}/${NO_ID}/attachments/${NO_ID}`, status: 404 },
  {
    route: `DELETE ${O}/{id}`,
    path: `${O}/${outboundIdOf(1)}`,
    status: 409,
    check: (t, body) => t.is(body.detail, 'It is under way; cancel it first.'),
  },
  badSend({ sendAt: 'tomorrow' }, 'sendAt'),
  badSend({ sendAt: '2026-01-01T00:00:00' }, 'sendAt'),
  badSend({ sendAt: '2026-13-01T00:00:00Z' }, 'sendAt'),
  badSend({ sendAt: '2026-02-31T00:00:00Z' }, 'sendAt'),
  badSend({ sendAt: new Date(Date.now() + 400 * DAY).toISOString() }, 'sendAt'),
  {
    route: `POST ${O}/{id}/cancel`,
    path: `${O}/${outboundIdOf(1)}/cancel`,
    status: 200,
    check: (t, body) => t.deepEqual(body, { cancelled: true, status: 'Failed', draftId: null }),
  },
  {
    route: `POST ${O}/{id}/cancel`,
    path: `${O}/${outboundIdOf(1)}/cancel`,
    status: 200,
    check: (t, body) => t.deepEqual(body, { cancelled: false, status: 'Failed', draftId: null }),
  },
  { route: `POST ${O}/{id}/cancel`, path: `${O}/${NO_ID}/cancel`, status: 404 },
  { route: `POST ${O}/{id}/cancel`, path: `${O}/${outboundIdOf(1)}/cancel`, as: ['api:read'], status: 403 },
  {
    route: `GET ${O}/failed`,
    as: ['api:read'],
    path: `${O}/failed?pageSize=1`,
    status: 200,
    check: (t, body) => {
      t.deepEqual([body.totalCount, body.page, body.pageSize, body.items.length], [1, 1, 1, 1]);
      t.like(body.items[0], { id: outboundIdOf(1), status: 'Failed', lastError: 'Cancelled by the sender.' });
      t.is(body.items[0].recipients[0].lastError, ATTEMPT.reply);
    },
  },
  { route: `GET ${O}/failed`, path: `${O}/failed?page=0`, status: 400, fields: ['page'] },
  {
    route: `POST ${O}/{id}/retry`,
    path: `${O}/${outboundIdOf(1)}/retry`,
    status: 200,
    check: (t, body) => t.deepEqual(body, { retried: true, status: 'Queued' }),
  },
  { route: `POST ${O}/{id}/retry`, path: `${O}/${NO_ID}/retry`, status: 404 },
  { route: `POST ${O}/{id}/cancel`, path: `${O}/${outboundIdOf(1)}/cancel`, status: 200 },
  { route: `DELETE ${O}/{id}`, path: `${O}/${outboundIdOf(1)}`, as: ['api:read'], status: 403 },
  { route: `DELETE ${O}/{id}`, path: `${O}/${outboundIdOf(1)}`, status: 204 },
  { route: `DELETE ${O}/{id}`, path: `${O}/${outboundIdOf(1)}`, status: 404 },
  { route: `GET ${O}/{id}`, path: `${O}/${outboundIdOf(1)}`, status: 404 },
];

const [first, second, third, fourth] = [5, 6, 7, 8].map(outboundIdOf);
const at = (id: string | undefined, rest = '') => ({ path: `${D}/${id}${rest}` });
const put = (json: object): Step => ({ route: `PUT ${D}/{id}`, ...at(second), json, status: 204 });
const unfit = (json: object, ...fields: readonly string[]): readonly Step[] => [
  put(json),
  { route: `POST ${D}/{id}/send`, ...at(second, '/send'), status: 400, fields },
];

const drafts: readonly Step[] = [
  { route: `GET ${D}`, status: 200, check: (t, body) => t.is(body.totalCount, 0) },
  {
    route: `POST ${D}`,
    json: {},
    status: 201,
    check: (t, body) =>
      t.deepEqual(body, {
        id: first,
        fromAddress: 'alice@example.test',
        subject: '',
        textBody: null,
        htmlBody: null,
        recipients: [],
        attachments: [],
        replyTo: null,
        headers: [],
        createdAt: body.createdAt,
        updatedAt: body.createdAt,
      }),
  },
  {
    route: `POST ${D}`,
    json: { ...mail, fromAddress: 'sales@example.test', recipients: [bob, bob] },
    status: 201,
    check: (t, body) => {
      t.like(body, { id: second, fromAddress: 'sales@example.test', subject: 'Hi', textBody: 'Hello' });
      t.like(body.recipients, [{ address: 'bob@remote.test', displayName: 'Bob', type: 'To', status: 'Pending' }]);
    },
  },
  { route: `POST ${D}`, json: { ...mail, subject: ONE_TOO_MANY }, status: 400, fields: ['drafts'] },
  { route: `POST ${D}`, json: { fromAddress: 'bob@remote.test' }, status: 400, fields: ['fromAddress'] },
  { route: `POST ${D}`, json: { recipients: Array(101).fill(bob) }, status: 400, fields: ['recipients'] },
  {
    route: `POST ${D}`,
    json: { subject: 'a\nb', textBody: 1, recipients: [{ address: 'x', type: 'To' }] },
    status: 400,
    fields: ['subject', 'textBody', 'recipients[0].address'],
  },
  {
    route: `GET ${D}`,
    path: `${D}?pageSize=1`,
    status: 200,
    check: (t, body) =>
      t.deepEqual(body, {
        items: [
          {
            id: second,
            fromAddress: 'sales@example.test',
            subject: 'Hi',
            createdAt: body.items[0].createdAt,
            updatedAt: body.items[0].createdAt,
            to: [{ address: bob.address, displayName: bob.displayName }],
          },
        ],
        totalCount: 2,
        page: 1,
        pageSize: 1,
      }),
  },
  { route: `GET ${D}/{id}`, ...at(first), status: 200, check: (t, body) => t.is(body.id, first) },
  { route: `GET ${D}/{id}`, ...at(NO_ID), status: 404 },
  { route: `GET ${D}/{id}`, ...at(outboundIdOf(1)), status: 404 },
  { route: `GET ${O}/{id}`, path: `${O}/${first}`, status: 200, check: (t, body) => t.is(body.status, 'Draft') },
  {
    route: `GET ${O}/{id}/timeline`,
    path: `${O}/${first}/timeline`,
    status: 200,
    check: (t, body) => t.deepEqual(body, []),
  },
  put({ subject: 'New' }),
  {
    route: `GET ${D}/{id}`,
    ...at(second),
    status: 200,
    check: (t, body) =>
      t.like(body, { subject: 'New', textBody: null, recipients: [], fromAddress: 'alice@example.test' }),
  },
  { route: `PUT ${D}/{id}`, ...at(NO_ID), json: mail, status: 404 },
  { route: `PUT ${D}/{id}`, ...at(outboundIdOf(1)), json: mail, status: 404 },
  { route: `PUT ${D}/{id}`, ...at(second), json: { fromAddress: 'x@y.test' }, status: 400, fields: ['fromAddress'] },
  ...unfit({ ...mail, recipients: [] }, 'recipients'),
  ...unfit({ ...mail, subject: ' ' }, 'subject'),
  ...unfit({}, 'recipients', 'subject'),
  // docs/interface/mail.md, "Outbound email": it needs no body.
  put({ ...mail, textBody: '' }),
  {
    route: `POST ${D}/{id}/send`,
    ...at(second, '/send'),
    status: 200,
    check: (t, body) => t.deepEqual(body, { id: second, status: 'Queued', createdAt: body.createdAt }),
  },
  {
    route: `POST ${O}/{id}/retry`,
    path: `${O}/${first}/retry`,
    status: 200,
    check: (t, body) => t.deepEqual(body, { retried: false, status: 'Draft' }),
  },
  { route: `GET ${D}/{id}`, ...at(second), status: 404 },
  { route: `PUT ${D}/{id}`, ...at(second), json: mail, status: 404 },
  { route: `DELETE ${D}/{id}`, ...at(second), status: 404 },
  { route: `POST ${D}/{id}/send`, ...at(second, '/send'), status: 404 },
  { route: `GET ${O}/{id}`, path: `${O}/${second}`, status: 200, check: (t, body) => t.is(body.status, 'Queued') },
  { route: `POST ${D}`, json: { ...mail, subject: RESTLESS }, status: 201 },
  { route: `POST ${D}/{id}/send`, ...at(third, '/send'), status: 503 },
  { route: `POST ${D}`, json: { ...mail, subject: RESTLESS_TWICE }, status: 201 },
  // The creation of the draft has read it once, so its sending meets one edit.
  { route: `POST ${D}/{id}/send`, ...at(fourth, '/send'), status: 200 },
  { route: `DELETE ${D}/{id}`, ...at(first), status: 204 },
  { route: `DELETE ${D}/{id}`, ...at(first), status: 404 },
];

const answer = (id: string, json: object, status: number, ...fields: readonly string[]): Step => ({
  route: `POST ${O}/reply/{emailId}`,
  path: `${O}/reply/${id}`,
  json,
  status,
  ...(fields.length > 0 && { fields }),
});

const pass = (id: string, json: object, status: number, ...fields: readonly string[]): Step => ({
  ...answer(id, json, status, ...fields),
  route: `POST ${O}/forward/{emailId}`,
  path: `${O}/forward/${id}`,
});

/** Id of an attachment that the previous step has read. */
let forwardedFile = '';

const answers: readonly Step[] = [
  answer(READ_ID, { textBody: 'Thanks' }, 200),
  answer(READ_ID.toUpperCase(), { htmlBody: '<p>Thanks', replyAll: null }, 200),
  answer(UNREAD_ID, { textBody: 'Thanks', replyAll: true }, 200),
  answer(READ_ID, {}, 400, 'textBody', 'htmlBody'),
  answer(READ_ID, { textBody: '', replyAll: 'yes' }, 400, 'replyAll'),
  answer(NO_ID, { textBody: 'Thanks' }, 404),
  answer(BOBS_ID, { textBody: 'Thanks' }, 404),
  answer('x', { textBody: 'Thanks' }, 404),
  pass(READ_ID, { textBody: 'Look', recipients: [bob] }, 200),
  pass(UNREAD_ID, { recipients: [bob] }, 200),
  pass(READ_ID, { textBody: 'Look' }, 400, 'recipients'),
  pass(READ_ID, { recipients: [] }, 400, 'recipients'),
  pass(READ_ID, { recipients: [{ ...bob, address: '@' }] }, 400, 'recipients[0].address'),
  pass(BOBS_ID, { recipients: [bob] }, 404),
  // This is the first forwarded email; outbound-attachments.test.ts has the other cases of attachments.
  {
    route: `GET ${O}/{id}`,
    path: `${O}/${outboundIdOf(12)}`,
    status: 200,
    check: (t, body) => {
      forwardedFile = body.attachments[0].id;
      t.truthy(forwardedFile);
    },
  },
  {
    route: `GET ${O}/{id}/attachments/{attachmentId}`,
    get path() {
      return `${O}/${outboundIdOf(12)}/attachments/${forwardedFile}`;
    },
    status: 200,
  },
];

export const OUTBOUND: readonly Step[] = [...sends, ...drafts, ...answers];
