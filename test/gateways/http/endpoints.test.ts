// Every route of the table, over real sockets: what it replies when all is well and each way it may refuse, all held
// against the OpenAPI document. A route without cases here fails the first test.
import test, { type ExecutionContext } from 'ava';
import { ACCOUNT } from './account-cases.js';
import { BOBS_ID, type Case, NO_ID, READ_ID } from './endpoint-case.js';
import { KEY_ID } from './fake-desk.js';
import { ALICE, BOB, type Scopes } from './fakes.js';
import { type Gateway, startGateway, VAPID_KEY } from './gateway.js';
import { addMail } from './mail-fixture.js';
import { organisingCases } from './organising-cases.js';
import { type Document, violations } from './schema-check.js';

const UNREAD_ID = '018f0000-0000-7000-8000-000000000002';
const SENT_ID = '018f0000-0000-7000-8000-000000000003';
const PDF = Buffer.from('%PDF-1.4 not really\n'.repeat(5000));

function fill(gateway: Gateway): void {
  const { mailboxes, blobs } = gateway;
  addMail(mailboxes, blobs, ALICE, {
    id: READ_ID,
    isRead: true,
    subject: 'Grüße\r\nX-Evil: 1 "quoted" / path',
    text: 'Body text.\r\n',
    cc: [
      { name: 'A group', address: '' },
      { name: '', address: 'cc@remote.test' },
    ],
    references: ['<a@remote.test>', '<b@remote.test>'],
    attachments: [
      { fileName: 'résumé "1".pdf', contentType: 'application/pdf', content: PDF },
      { fileName: 'plain.txt', contentType: 'text/html\r\nX-Evil: 1', content: Buffer.from('hi') },
      { fileName: 'empty.bin', contentType: 'application/octet-stream', content: Buffer.alloc(0) },
      { fileName: 'liar.bin', contentType: 'application/octet-stream', content: PDF, claimedSize: PDF.length + 1 },
      { fileName: 'liar2.bin', contentType: 'application/octet-stream', content: PDF, claimedSize: PDF.length - 1 },
    ],
  });
  addMail(mailboxes, blobs, ALICE, { id: UNREAD_ID, messageId: null, truncated: ['parts'] });
  addMail(mailboxes, blobs, ALICE, { id: SENT_ID, folder: 'sent', from: 'alice@example.test' });
  addMail(mailboxes, blobs, BOB, { id: BOBS_ID });
}

/** Cases by `METHOD path`, relative to the base of emails; `{id}` stands for the read email's id. */
const EMAILS: Readonly<Record<string, readonly Case[]>> = {
  'GET ': [
    {
      status: 200,
      check: (t, body) => {
        t.is(body.totalCount, 2);
        t.is(body.unreadCount, 1);
        t.is(body.page, 1);
        t.is(body.pageSize, 20);
        t.is(body.items[0].receivedAt, '2026-01-02T03:04:05.006Z');
        t.is(body.items[0].labels[0].color, '#aabbcc');
        t.is(body.items[1].messageId, '');
        t.is(body.items[0].attachmentCount, 5);
      },
    },
    { path: '?page=2&pageSize=1', status: 200, check: (t, body) => t.is(body.items[0].id, UNREAD_ID) },
    { path: '?pageSize=5000', status: 200, check: (t, body) => t.is(body.pageSize, 100) },
    { path: '?pageSize=99999999999999999999999', status: 200, check: (t, body) => t.is(body.pageSize, 100) },
    { path: '?other=1&__proto__=1', status: 200 },
    { path: '?page=0', status: 400, check: (t, body) => t.deepEqual(Object.keys(body.errors), ['page']) },
    { path: '?page=1.5', status: 400, check: (t, body) => t.deepEqual(Object.keys(body.errors), ['page']) },
    { path: '?page=', status: 400, check: (t, body) => t.deepEqual(Object.keys(body.errors), ['page']) },
    { path: '?page=99999999999999999999', status: 400 },
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
  'PATCH /{id}': [
    { json: { isRead: false }, status: 204 },
    { json: { isRead: true, other: 1, constructor: { prototype: 1 } }, status: 204 },
    {
      json: { isRead: 'true' },
      status: 400,
      check: (t, body) => t.deepEqual(body.errors, { isRead: ['must be true or false'] }),
    },
    { json: {}, status: 400, check: (t, body) => t.deepEqual(body.errors, { isRead: ['is required'] }) },
    { json: { isRead: { toString: 1, valueOf: 1 } }, status: 400 },
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
  'GET /sent': [
    { status: 200, check: (t, body) => t.is(body.items[0].id, SENT_ID) },
    { path: '/sent?fromAddress=alice', status: 200, check: (t, body) => t.is(body.totalCount, 1) },
    { path: '/sent?fromAddress=bob', status: 200, check: (t, body) => t.is(body.totalCount, 0) },
    { path: '/sent?fromAddress=', status: 200, check: (t, body) => t.is(body.totalCount, 1) },
    { path: '/sent?page=a', status: 400 },
  ],
  'GET /sent/addresses': [{ status: 200, check: (t, body) => t.deepEqual(body, ['alice@example.test']) }],
  'GET /{id}/attachments/{attachmentId}': [
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
        t.is(body[0].labels[0].name, 'Work');
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
  'POST /bulk/delete': [
    {
      json: { emailIds: [UNREAD_ID, UNREAD_ID, NO_ID, BOBS_ID, 'nonsense'] },
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

const SERVICE: Readonly<Record<string, readonly Case[]>> = {
  'GET /api/discovery': [
    {
      status: 200,
      check: (t, body) =>
        t.deepEqual([body.smtp.enabled, body.features], [false, { oidc: false, pushNotifications: true }]),
    },
  ],
  'GET /api/config': [
    { status: 200, check: (t, body) => t.deepEqual(body, { oidc: { authority: '', clientId: '', enabled: false } }) },
  ],
  'GET /api/push-subscriptions/vapid-public-key': [
    { status: 200, check: (t, body) => t.deepEqual(body, { publicKey: VAPID_KEY }) },
  ],
  'GET /healthz': [{ status: 200, check: (t, body) => t.is(body.status, 'Healthy') }],
  'GET /api/openapi.json': [{ status: 200, check: (t, body) => t.is(body.openapi, '3.1.0') }],
};

const BASES = ['/api/emails', '/api/external/emails'];

test('every route has cases', async (t) => {
  const gateway = await startGateway(t);
  const known = new Set([...Object.keys(SERVICE), ...Object.keys(ACCOUNT)]);
  for (const base of BASES) {
    for (const key of Object.keys(EMAILS)) known.add(key.replace(' ', ` ${base}`));
  }
  for (const { method, route } of organisingCases(READ_ID, NO_ID)) known.add(`${method} ${route}`);
  const mounted = gateway.routes.map(({ method, path }) => `${method} ${path}`);
  t.deepEqual(mounted.sort(), [...known].sort());
});

for (const base of BASES) {
  test(`replies of ${base}`, async (t) => {
    const gateway = await startGateway(t);
    fill(gateway);
    for (const [key, cases] of Object.entries(EMAILS)) {
      const [method = '', pattern = ''] = key.split(' ');
      for (const { path, ...rest } of cases) {
        const target = path?.startsWith('?') ? pattern + path : (path ?? pattern);
        await run(t, gateway, method, base + pattern, base + target.replace('{id}', READ_ID), rest);
      }
    }
  });
}

test('replies about the account itself', async (t) => {
  const gateway = await startGateway(t);
  fill(gateway);
  const keys = new Map<string, string>();
  for (const [key, cases] of Object.entries(ACCOUNT)) {
    const [method = '', pattern = ''] = key.split(' ');
    const anonymous = await gateway.fetch(pattern.replaceAll(/\{\w+\}/g, KEY_ID), { method, key: null });
    t.is(anonymous.status, 401, key);
    for (const { path = pattern.replaceAll(/\{\w+\}/g, KEY_ID), as = ['app'], ...rest } of cases) {
      const name = as.join();
      const { directory } = gateway;
      if (!keys.has(name)) {
        keys.set(name, name === 'service' ? directory.serviceKey(ALICE) : directory.key(ALICE, ...(as as Scopes)));
      }
      await run(t, gateway, method, pattern, path, rest, keys.get(name));
    }
  }
});

test('replies of labels and filters', async (t) => {
  const gateway = await startGateway(t);
  fill(gateway);
  for (const { method, route, path = route, json, status, fields, check } of organisingCases(READ_ID, NO_ID)) {
    await run(t, gateway, method, route, path, {
      ...(json === undefined ? {} : { json }),
      status,
      check: (_, body) => {
        if (fields) t.deepEqual(Object.keys(body.errors).sort(), [...fields].sort(), JSON.stringify(json));
        check?.(t, body);
      },
    });
  }
});

test('labels and filters are read with api:read and written with api:write', async (t) => {
  const gateway = await startGateway(t);
  fill(gateway);
  const reader = gateway.directory.key(ALICE, 'api:read');
  const writer = gateway.directory.key(ALICE, 'api:write');
  for (const { method, route, path = route, json } of organisingCases(READ_ID, NO_ID)) {
    const refusedKey = method === 'GET' ? writer : reader;
    const response = await gateway.fetch(path, { method, key: refusedKey, ...(json === undefined ? {} : { json }) });
    t.is(response.status, 403, `${method} ${path}`);
  }
});

test('replies of the service endpoints, without a credential', async (t) => {
  const gateway = await startGateway(t);
  for (const [key, cases] of Object.entries(SERVICE)) {
    const [method = '', path = ''] = key.split(' ');
    for (const one of cases) await run(t, gateway, method, path, path, one, null);
  }
});

async function run(
  t: ExecutionContext,
  gateway: Gateway,
  method: string,
  pattern: string,
  path: string,
  { json, status, check }: Omit<Case, 'path'>,
  key?: string | null,
): Promise<void> {
  const response = await gateway.fetch(path, {
    method,
    ...(json === undefined ? {} : { json }),
    ...(key === undefined ? {} : { key }),
  });
  const where = `${method} ${path} ${JSON.stringify(json)?.slice(0, 80) ?? ''}`;
  t.is(response.status, status, where);
  const text = await response.text();
  t.is(response.headers.get('x-content-type-options'), 'nosniff', where);
  if (key !== null && status < 300 && status !== 204) t.is(response.headers.get('cache-control'), 'no-store', where);
  const type = response.headers.get('content-type');
  const isJson = type?.startsWith('application/json') || type === 'application/problem+json';
  const body: Document = isJson ? JSON.parse(text) : undefined;
  if (status === 204) t.is(text, '', where);
  if (status >= 400 && pattern !== '/healthz') {
    t.is(type, 'application/problem+json', where);
    t.is(body.status, status, where);
    t.regex(body.type, /^https:\/\/www\.rfc-editor\.org\/rfc\/rfc\d+#section-/, where);
    t.is(status === 400, typeof body.errors === 'object', where);
  }
  const document: Document = await documentOf(gateway);
  const described = document.paths[pattern][method.toLowerCase()].responses[status];
  t.truthy(described, `${where}: ${status} is not in the document`);
  const schema = described?.content?.[type?.split(';')[0] ?? '']?.schema;
  if (schema !== undefined) t.deepEqual(violations(schema, body, document), [], where);
  else t.falsy(isJson, `${where}: JSON without a schema`);
  check?.(t, body, response);
}

const documents = new WeakMap<Gateway, Promise<Document>>();

function documentOf(gateway: Gateway): Promise<Document> {
  const known = documents.get(gateway) ?? gateway.fetch('/api/openapi.json', { key: null }).then((r) => r.json());
  documents.set(gateway, known);
  return known;
}

test('attachments are decoded, inert and safe to name', async (t) => {
  const gateway = await startGateway(t);
  fill(gateway);
  const detail: Document = await (await gateway.fetch(`/api/emails/${READ_ID}`)).json();
  const again: Document = await (await gateway.fetch(`/api/external/emails/${READ_ID}`)).json();
  t.deepEqual(detail, again);
  const get = (i: number, init?: RequestInit) =>
    gateway.fetch(`/api/emails/${READ_ID}/attachments/${detail.attachments[i].id}`, init);
  const first = await get(0);
  t.is(first.status, 200);
  t.is(first.headers.get('content-type'), 'application/pdf');
  t.is(first.headers.get('content-length'), String(PDF.length));
  t.is(
    first.headers.get('content-disposition'),
    `attachment; filename="r_sum_ _1_.pdf"; filename*=UTF-8''r%C3%A9sum%C3%A9%20%221%22.pdf`,
  );
  t.is(first.headers.get('content-security-policy'), "sandbox; default-src 'none'");
  t.is(first.headers.get('x-content-type-options'), 'nosniff');
  t.is(first.headers.get('cache-control'), 'no-store');
  t.deepEqual(Buffer.from(await first.arrayBuffer()), PDF);
  const hostile = await get(1);
  t.is(hostile.headers.get('content-type'), 'application/octet-stream');
  t.is(await hostile.text(), 'hi');
  const empty = await get(2);
  t.is(empty.headers.get('content-length'), '0');
  t.is((await empty.arrayBuffer()).byteLength, 0);
  const head = await get(0, { method: 'HEAD' });
  t.is(head.headers.get('content-length'), String(PDF.length));
  t.is((await head.arrayBuffer()).byteLength, 0);
  // A size that is not true must not look like a whole reply.
  await t.throwsAsync(async () => (await get(3)).arrayBuffer());
  await t.throwsAsync(async () => (await get(4)).arrayBuffer());
  t.is(gateway.log.lines.filter(({ text }) => text === 'reply broken off').length, 2);
});

test('the exported message is the message', async (t) => {
  const gateway = await startGateway(t);
  fill(gateway);
  const response = await gateway.fetch(`/api/emails/${READ_ID}/export/eml`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const email = gateway.mailboxes.emails.get(ALICE)!.find(({ id }) => id === READ_ID)!;
  t.is(response.headers.get('content-length'), String(email.sizeBytes));
  t.deepEqual(bytes, Buffer.from(gateway.blobs.blobs.get(email.blob)!.bytes));
});
