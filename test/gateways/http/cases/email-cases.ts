// Says how the routes of emails reply, by `METHOD path` below both of their bases; `{id}` stands for the id of the read email.

import { INBOX_ID, NO_FOLDER_ID } from '../mailboxes.js';
import type { Document } from '../schema-check.js';
import { BOBS_ID, type Case, LABEL_ID, NO_ID, PDF, PDF_ID, READ_ID, SENT_ID, UNREAD_ID } from './endpoint-case.js';
import { SEARCH } from './search-cases.js';

export const EMAILS: Readonly<Record<string, readonly Case[]>> = {
  'GET ': [
    {
      status: 200,
      check: (t, body) => {
        t.is(body.totalCount, 2);
        t.is(body.unreadCount, 1);
        t.is(body.page, 1);
        t.is(body.pageSize, 20);
        t.is(body.items[0].receivedAt, '2026-01-02T03:04:05.006Z');
        t.is(body.items[1].labels[0].color, '#aabbcc');
        t.is(body.items[0].messageId, '');
        t.is(body.items[1].attachmentCount, 5);
      },
    },
    { path: '?page=2&pageSize=1', status: 200, check: (t, body) => t.is(body.items[0].id, READ_ID) },
    { path: '?pageSize=5000', status: 200, check: (t, body) => t.is(body.pageSize, 100) },
    { path: '?pageSize=99999999999999999999999', status: 200, check: (t, body) => t.is(body.pageSize, 100) },
    {
      path: '?other=1&__proto__=1&page=x&other=2',
      status: 400,
      check: (t, body) => t.deepEqual(Object.keys(body.errors).sort(), ['__proto__', 'other', 'page']),
    },
    {
      path: `?${'x'.repeat(1_000)}=1`,
      status: 400,
      check: (t, body) => t.deepEqual(body.errors, { ['x'.repeat(100)]: ['is no parameter of this endpoint'] }),
    },
    {
      path: '?page=99999999999999999999',
      status: 200,
      check: (t, body) => t.like(body, { items: [], page: 1_000_000_000 }),
    },
    {
      path: '?isRead=false',
      status: 200,
      check: (t, body) => t.deepEqual([body.totalCount, body.unreadCount], [1, 1]),
    },
    { path: '?isFlagged=true', status: 200, check: (t, body) => t.is(body.totalCount, 0) },
    {
      path: '?sort=-date',
      status: 200,
      check: (t, body) => t.like(body.items[0], { isFlagged: false, isAnswered: false }),
    },
    {
      path: '?sort=size&groupByThread=true',
      status: 400,
      fields: ['groupByThread'],
    },
    {
      path: '?groupByThread=true',
      status: 200,
      check: (t, body) => t.deepEqual([body.totalCount, body.items[0].thread.emails.length], [1, 2]),
    },
    { path: '?sort=size', status: 200, check: (t, body) => t.is(body.items[0].id, UNREAD_ID) },
    {
      path: '?sort=newest&isRead=yes&isFlagged=0',
      status: 400,
      check: (t, body) => t.deepEqual(Object.keys(body.errors).sort(), ['isFlagged', 'isRead', 'sort']),
    },
    { path: '?page=0', status: 400, check: (t, body) => t.deepEqual(Object.keys(body.errors), ['page']) },
    { path: '?page=1.5', status: 400, check: (t, body) => t.deepEqual(Object.keys(body.errors), ['page']) },
    { path: '?page=', status: 400, check: (t, body) => t.deepEqual(Object.keys(body.errors), ['page']) },
    { path: '?pageSize=-1&page=x', status: 400, check: (t, body) => t.is(Object.keys(body.errors).length, 2) },
    {
      path: '?page=1&page=2',
      status: 400,
      check: (t, body) => t.deepEqual(body.errors, { page: ['must be given once'] }),
    },
  ],
  'GET /{id}': [
    {
      status: 200,
      check: (t, body) => {
        t.is(body.textBody, 'Body text.\r\n');
        t.is(body.htmlBody, '');
        t.deepEqual(body.toAddresses, ['alice@example.test']);
        t.deepEqual(body.ccAddresses, ['cc@remote.test']);
        t.is(body.references, '<a@remote.test> <b@remote.test>');
        t.is(body.inReplyTo, '<b@remote.test>');
        t.is(body.attachments[0].size, PDF.length);
        t.deepEqual(
          body.recipients.map(({ type, address }: Document) => [type, address]),
          [
            ['To', 'alice@example.test'],
            ['Cc', 'cc@remote.test'],
          ],
        );
        t.false('isPartial' in body);
      },
    },
    { path: `/${READ_ID.toUpperCase()}`, status: 200, check: (t, body) => t.is(body.id, READ_ID) },
    {
      path: `/${UNREAD_ID}`,
      status: 200,
      check: (t, body) => {
        t.is(body.messageId, '');
        t.is(body.inReplyTo, '');
        t.true(body.isPartial);
      },
    },
    { path: `/${NO_ID}`, status: 404 },
    { path: `/${BOBS_ID}`, status: 404 },
    { path: '/not-a-uuid', status: 404 },
    { path: '/%zz', status: 404 },
    { path: '/bulk', status: 404 },
  ],
  'POST /{id}/images': [
    { status: 200, check: (t, body) => t.deepEqual(body, {}) },
    { path: `/${NO_ID}/images`, status: 404 },
    { path: `/${BOBS_ID}/images`, status: 404 },
    { as: ['api:read'], status: 200 },
    { as: ['api:write'], status: 403 },
  ],
  'PATCH /{id}': [
    { json: { isRead: false }, status: 204 },
    { json: { isRead: true, other: 1, constructor: { prototype: 1 } }, status: 204 },
    {
      json: { isRead: 'true' },
      status: 400,
      check: (t, body) => t.deepEqual(body.errors, { isRead: ['must be true or false'] }),
    },
    {
      json: {},
      status: 400,
      check: (t, body) => t.deepEqual(Object.keys(body.errors), ['isRead', 'isFlagged']),
    },
    { json: { isRead: { toString: 1, valueOf: 1 } }, status: 400 },
    { json: { isFlagged: true }, status: 204 },
    { json: { isRead: true, isFlagged: false }, status: 204 },
    { json: { isRead: true, isFlagged: null }, status: 400 },
    { json: [], status: 400, check: (t, body) => t.deepEqual(Object.keys(body.errors), ['body']) },
    { path: `/${NO_ID}`, json: { isRead: true }, status: 404 },
    { path: `/${BOBS_ID}`, json: { isRead: true }, status: 404 },
    { path: '/x', json: { isRead: true }, status: 404 },
  ],
  'POST /bulk/mark-read': [
    {
      json: { emailIds: [UNREAD_ID, UNREAD_ID.toUpperCase(), NO_ID, BOBS_ID, 'nonsense'], isRead: true },
      status: 200,
      check: (t, body) => t.deepEqual(body, { count: 1 }),
    },
    { json: { emailIds: [], isRead: true }, status: 200, check: (t, body) => t.deepEqual(body, { count: 0 }) },
    {
      json: { emailIds: [UNREAD_ID] },
      status: 400,
      check: (t, body) => t.deepEqual(Object.keys(body.errors), ['isRead']),
    },
    { json: { emailIds: 'x', isRead: true }, status: 400 },
    {
      json: { emailIds: [1], isRead: true },
      status: 400,
      check: (t, body) => t.deepEqual(Object.keys(body.errors), ['emailIds']),
    },
    {
      json: { emailIds: Array(1001).fill(NO_ID), isRead: true },
      status: 400,
      check: (t, body) => t.truthy(body.errors.emailIds),
    },
    { json: { emailIds: Array(1000).fill(NO_ID), isRead: true }, status: 200 },
  ],
  'POST /bulk/copy': [
    {
      json: { emailIds: [UNREAD_ID, UNREAD_ID.toUpperCase(), NO_ID, BOBS_ID, 'nonsense'], folderId: 'archive' },
      status: 200,
      check: (t, body) => t.deepEqual(body, { count: 1 }),
    },
    {
      json: { emailIds: [UNREAD_ID], folderId: 'inbox' },
      status: 200,
      check: (t, body) => t.deepEqual(body, { count: 0 }),
    },
    { json: { emailIds: [UNREAD_ID], folderId: NO_FOLDER_ID }, status: 400, fields: ['folderId'] },
    { json: {}, status: 400, fields: ['emailIds', 'folderId'] },
  ],
  'POST /bulk/move': [
    {
      json: { emailIds: [UNREAD_ID, UNREAD_ID.toUpperCase(), NO_ID, BOBS_ID, 'nonsense'], folderId: 'Junk' },
      status: 200,
      check: (t, body) => t.deepEqual(body, { count: 1 }),
    },
    {
      json: { emailIds: [UNREAD_ID], folderId: 'inbox', fromFolderId: 'sent' },
      status: 200,
      check: (t, body) => t.deepEqual(body, { count: 0 }),
    },
    {
      json: { emailIds: [UNREAD_ID], folderId: INBOX_ID.toUpperCase(), fromFolderId: 'junk' },
      status: 200,
      check: (t, body) => t.deepEqual(body, { count: 1 }),
    },
    { json: { emailIds: [], folderId: 'inbox' }, status: 200, check: (t, body) => t.deepEqual(body, { count: 0 }) },
    ...[NO_FOLDER_ID, 'folder', 'label', '', '__proto__'].map((folderId) => ({
      json: { emailIds: [UNREAD_ID], folderId },
      status: 400,
      fields: ['folderId'],
    })),
    {
      json: { emailIds: [UNREAD_ID], folderId: 'inbox', fromFolderId: NO_FOLDER_ID },
      status: 400,
      fields: ['fromFolderId'],
    },
    { json: { emailIds: Array(1001).fill(NO_ID), folderId: 7 }, status: 400, fields: ['emailIds', 'folderId'] },
    { json: {}, status: 400, fields: ['emailIds', 'folderId'] },
  ],
  'GET /sent': [
    { status: 200, check: (t, body) => t.is(body.items[0].id, SENT_ID) },
    { path: '/sent?fromAddress=alice', status: 200, check: (t, body) => t.is(body.totalCount, 1) },
    { path: '/sent?fromAddress=bob', status: 200, check: (t, body) => t.is(body.totalCount, 0) },
    { path: '/sent?fromAddress=', status: 200, check: (t, body) => t.is(body.totalCount, 1) },
    { path: '/sent?page=a', status: 400 },
    {
      path: '/sent?fromAddress=a%00',
      status: 400,
      check: (t, body) => t.deepEqual(Object.keys(body.errors), ['fromAddress']),
    },
  ],
  ...SEARCH,
  'GET /export/mbox': [
    {
      status: 200,
      check: (t, _body, response) => {
        t.is(response.headers.get('content-type'), 'application/mbox');
        t.is(response.headers.get('content-disposition'), 'attachment; filename="mail.mbox"');
        t.is(response.headers.get('x-export-truncated'), null);
      },
    },
    { path: '/export/mbox?fromDate=2026-01-01T00:00:00Z&toDate=2026-12-31', status: 200 },
    {
      path: '/export/mbox?fromDate=yesterday',
      status: 400,
      check: (t, body) => t.deepEqual(Object.keys(body.errors), ['fromDate']),
    },
  ],
  'GET /sent/addresses': [{ status: 200, check: (t, body) => t.deepEqual(body, ['alice@example.test']) }],
  'GET /{id}/attachments/{attachmentId}': [
    {
      path: `/{id}/attachments/${PDF_ID}`,
      status: 200,
      check: (t, _body, response) => t.is(response.headers.get('content-type'), 'application/pdf'),
    },
    { path: `/{id}/attachments/${NO_ID}`, status: 404 },
    { path: '/{id}/attachments/1', status: 404 },
    { path: `/${NO_ID}/attachments/${NO_ID}`, status: 404 },
  ],
  'GET /threads/{threadId}': [
    {
      path: '/threads/018F0000-0000-7000-8000-0000000000ff',
      status: 200,
      check: (t, body) => {
        t.is(body.length, 3);
        t.is(body[0].id, READ_ID);
        t.is(body[0].textBody, 'Body text.\r\n');
        t.is(body[0].labels[0].name, 'Paid');
      },
    },
    { path: `/threads/${NO_ID}`, status: 404 },
    { path: '/threads/x', status: 404 },
    { path: '/threads', status: 404 },
  ],
  'GET /{id}/export/eml': [
    {
      status: 200,
      check: (t, _body, response) => {
        t.is(response.headers.get('content-type'), 'message/rfc822');
        t.is(
          response.headers.get('content-disposition'),
          `attachment; filename="Gr__e X-Evil: 1 _quoted_ _ path.eml"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20X-Evil%3A%201%20%22quoted%22%20_%20path.eml`,
        );
        t.is(response.headers.get('x-evil'), null);
        t.is(response.headers.get('content-security-policy'), "sandbox; default-src 'none'");
      },
    },
    { path: `/${NO_ID}/export/eml`, status: 404 },
    { path: '/x/export/eml', status: 404 },
  ],
  'POST /bulk/flag': [
    {
      json: { emailIds: [UNREAD_ID, UNREAD_ID.toUpperCase(), NO_ID, BOBS_ID, 'nonsense'], isFlagged: true },
      status: 200,
      check: (t, body) => t.deepEqual(body, { count: 1 }),
    },
    { json: { emailIds: [UNREAD_ID], isFlagged: false }, status: 200 },
    { json: { emailIds: [], isFlagged: true }, status: 200, check: (t, body) => t.deepEqual(body, { count: 0 }) },
    {
      json: { emailIds: [UNREAD_ID] },
      status: 400,
      check: (t, body) => t.deepEqual(Object.keys(body.errors), ['isFlagged']),
    },
    { json: { emailIds: 'x', isFlagged: true }, status: 400 },
    { json: { emailIds: Array(1001).fill(NO_ID), isFlagged: true }, status: 400 },
  ],
  'POST /bulk/label': [
    {
      json: { emailIds: [READ_ID, UNREAD_ID, NO_ID, 'nonsense'], labelId: LABEL_ID.toUpperCase(), isLabelled: true },
      status: 200,
      check: (t, body) => t.deepEqual(body, { count: 1 }),
    },
    {
      json: { emailIds: [UNREAD_ID], labelId: LABEL_ID, isLabelled: false },
      status: 200,
      check: (t, body) => t.deepEqual(body, { count: 1 }),
    },
    { json: { emailIds: [UNREAD_ID], labelId: INBOX_ID, isLabelled: true }, status: 400, fields: ['labelId'] },
    { json: { emailIds: Array(1001).fill(NO_ID), labelId: LABEL_ID }, status: 400, fields: ['emailIds', 'isLabelled'] },
  ],
  'POST /bulk/delete': [
    {
      json: { emailIds: [UNREAD_ID], folderIds: ['trash', 'junk', NO_ID] },
      status: 200,
      check: (t, body) => t.deepEqual(body, { count: 0 }, 'it is in the inbox'),
    },
    { json: { emailIds: [UNREAD_ID], folderIds: 'trash' }, status: 400, fields: ['folderIds'] },
    { json: { emailIds: [UNREAD_ID], folderIds: [] }, status: 400, fields: ['folderIds'] },
    { json: { emailIds: [UNREAD_ID], folderIds: Array(21).fill('inbox') }, status: 400, fields: ['folderIds'] },
    {
      json: { emailIds: [UNREAD_ID, UNREAD_ID, NO_ID, BOBS_ID, 'nonsense'], folderIds: ['trash', 'inbox'] },
      status: 200,
      check: (t, body) => t.deepEqual(body, { count: 1 }),
    },
    { json: { emailIds: Array(1001).fill(NO_ID) }, status: 400 },
    { json: { emailIds: null }, status: 400 },
    { json: {}, status: 400, check: (t, body) => t.deepEqual(body.errors, { emailIds: ['is required'] }) },
  ],
  'DELETE /{id}': [
    { path: `/${NO_ID}`, status: 404 },
    { path: `/${BOBS_ID}`, status: 404 },
    { path: '/x', status: 404 },
    { status: 204 },
    { status: 404 },
  ],
};
