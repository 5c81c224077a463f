// Says what the routes that send and list outbound mail reply.
import { ALICE } from '../fakes.js';
import type { TestMailboxes } from '../mailboxes.js';
import { outboundIdOf } from './aliases.js';
import { NO_ID, type Step } from './endpoint-case.js';
import { bob, mail, O } from './outbound-request.js';

const TRIED_AT = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

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

export const sends: readonly Step[] = [
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
        nextRetryAt: body.createdAt,
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
