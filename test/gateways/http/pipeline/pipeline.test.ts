// Tests the decisions of the pipeline over real sockets: which credential is admitted where, in which order a request is
// refused, and what errors and log lines say.
import test from '../../../support/test.js';
import { ALICE, type Scopes } from '../fakes.js';
import { exchangeBytes, OWN_NAMES, startGateway } from '../gateway.js';
import { addMail } from '../mail-fixture.js';
import type { Document } from '../schema-check.js';

const ID = '018f0000-0000-7000-8000-000000000001';

test('both header forms, any case of the scheme', async (t) => {
  const gateway = await startGateway(t);
  for (const scheme of ['Bearer', 'bearer', 'ApiKey', 'apikey', 'APIKEY', 'Bearer  ']) {
    const response = await gateway.fetch('/api/emails', { headers: { authorization: `${scheme} ${gateway.key}` } });
    t.is(response.status, 200, scheme);
  }
});

test('a missing or bad credential is 401 with a challenge', async (t) => {
  const gateway = await startGateway(t);
  const missing = await gateway.fetch('/api/emails', { key: null });
  t.is(missing.status, 401);
  t.is(missing.headers.get('www-authenticate'), 'Bearer');
  t.is(missing.headers.get('content-type'), 'application/problem+json');
  const bad = ['Bearer nonsense', 'Bearer', 'Basic YTpi', `Bearer ${gateway.key} x`, '', `Bearer ${'a'.repeat(9000)}`];
  for (const authorization of bad) {
    const response = await gateway.fetch('/api/emails', { headers: { authorization } });
    t.is(response.status, 401, authorization);
    t.is(response.headers.get('www-authenticate'), 'Bearer error="invalid_token"', authorization);
  }
});

test('a store that hangs makes a request 503, not hang too', async (t) => {
  const gateway = await startGateway(t, { deadlineMs: 30 });
  gateway.directory.gate = new Promise(() => {});
  const response = await gateway.fetch('/api/emails');
  t.is(response.status, 503);
  t.regex(response.headers.get('retry-after')!, /^\d+$/);
});

test('a revoked key fails at once', async (t) => {
  const gateway = await startGateway(t);
  t.is((await gateway.fetch('/api/emails')).status, 200);
  gateway.directory.revoke(gateway.key);
  t.is((await gateway.fetch('/api/emails')).status, 401);
});

test('the anonymous account serves requests without a credential only', async (t) => {
  const gateway = await startGateway(t);
  gateway.directory.guest = {
    accountId: ALICE,
    email: 'a@example.test',
    scopes: ['app'],
    keyId: null,
    serviceWide: false,
  };
  t.is((await gateway.fetch('/api/emails', { key: null })).status, 200);
  t.is((await gateway.fetch('/api/emails', { key: 'nonsense' })).status, 401);
});

test('the anonymous account acts under our own names alone, and writes for no foreign page', async (t) => {
  const gateway = await startGateway(t);
  const { key, port } = gateway;
  const status = async (line: string, ...fields: string[]): Promise<number> => {
    const head = [line, 'Connection: close', 'Content-Length: 15', 'Content-Type: application/json', ...fields];
    const got = await exchangeBytes(port, `${head.join('\r\n')}\r\n\r\n{"emailIds":[]}`, (text: string) =>
      text.endsWith('}'),
    );
    return Number(got.slice(9, 12));
  };
  const read = 'GET /api/emails HTTP/1.1';
  const write = 'POST /api/emails/bulk/delete HTTP/1.1';
  t.is(await status(read, 'Host: rebound.evil.example'), 401, 'without an anonymous account');
  gateway.directory.guest = { accountId: ALICE, email: 'a@x.test', scopes: ['app'], keyId: null, serviceWide: false };
  for (const host of ['localhost', 'LOCALHOST:1', '127.9.9.9', '[::1]:8080', OWN_NAMES.hostname, 'app.example.test'])
    t.is(await status(read, `Host: ${host}`), 200, host);
  for (const host of [
    'rebound.evil.example',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
    '192.168.0.1',
    '::1',
  ]) {
    t.is(await status(read, `Host: ${host}`), 403, host);
    t.is(await status(read, `Host: ${host}`, `Authorization: Bearer ${key}`), 200, host);
  }
  const page = (origin: string) => ['Host: localhost:8080', `Origin: ${origin}`];
  t.is(await status(write, ...page('http://localhost:8080')), 200);
  t.is(await status(write, ...page('https://app.example.test')), 200);
  for (const origin of ['https://evil.example', 'http://localhost:3000', 'null']) {
    t.is(await status(write, ...page(origin)), 403, origin);
    t.is(await status(write, ...page(origin), `Authorization: Bearer ${key}`), 200, origin);
    t.is(await status(read, ...page(origin)), 200, 'CORS keeps the answer from it');
  }
});

test('scopes decide what a key reaches', async (t) => {
  const gateway = await startGateway(t);
  const table: readonly [Scopes, read: number, write: number][] = [
    [['app'], 200, 200],
    [['api:read'], 200, 403],
    [['api:write'], 403, 200],
    [['api:read', 'api:write'], 200, 200],
    [['internal'], 403, 403],
    [['smtp', 'imap', 'pop3'], 403, 403],
    [[], 403, 403],
  ];
  for (const base of ['/api/emails', '/api/external/emails']) {
    for (const [scopes, read, write] of table) {
      const key = gateway.directory.key(ALICE, ...scopes);
      const where = `${base} ${scopes}`;
      const list = await gateway.fetch(base, { key });
      t.is(list.status, read, where);
      const bulk = await gateway.fetch(`${base}/bulk/delete`, { method: 'POST', key, json: { emailIds: [] } });
      t.is(bulk.status, write, where);
      if (read === 403) t.regex(list.headers.get('www-authenticate') ?? '', /insufficient_scope/, where);
    }
  }
});

test('refused in order: path, method, credential, scope, form', async (t) => {
  const gateway = await startGateway(t);
  const key = gateway.directory.key(ALICE, 'api:read');
  const bad = { method: 'PATCH', json: { isRead: 'x' } };
  t.is((await gateway.fetch('/api/nothing', { ...bad, key: null })).status, 404);
  t.is((await gateway.fetch('/api/emails', { ...bad, key: null })).status, 405);
  t.is((await gateway.fetch('/api/emails/x', { ...bad, key: null })).status, 401);
  t.is((await gateway.fetch('/api/emails/x', { ...bad, key })).status, 403);
  t.is((await gateway.fetch('/api/emails/x', bad)).status, 404);
  t.is((await gateway.fetch(`/api/emails/${ID}`, bad)).status, 400);
});

test('paths are matched as sent', async (t) => {
  const gateway = await startGateway(t);
  const absent = [
    '/api/emails/',
    '/api/emails/sent/',
    '/API/emails',
    '/api//emails',
    '/api/emails/a/b',
    '/api/emails%2Fsent',
  ];
  for (const path of absent) t.is((await gateway.fetch(path)).status, 404, path);
});

test('another method is 405 with Allow; OPTIONS tells the same', async (t) => {
  const gateway = await startGateway(t);
  const put = await gateway.fetch(`/api/emails/${ID}`, { method: 'PUT', json: {} });
  t.is(put.status, 405);
  t.is(put.headers.get('allow'), 'GET, HEAD, PATCH, DELETE, OPTIONS');
  const remove = await gateway.fetch('/api/emails/sent', { method: 'DELETE' });
  t.is(remove.status, 405);
  t.is(remove.headers.get('allow'), 'GET, HEAD, OPTIONS');
  const options = await gateway.fetch('/api/emails/bulk/delete', { method: 'OPTIONS', key: null });
  t.is(options.status, 204);
  t.is(options.headers.get('allow'), 'POST, OPTIONS');
});

test('HEAD is GET without the content', async (t) => {
  const gateway = await startGateway(t);
  const get = await gateway.fetch('/api/emails');
  const head = await gateway.fetch('/api/emails', { method: 'HEAD' });
  t.is(head.status, 200);
  t.is(head.headers.get('content-length'), String((await get.text()).length));
  t.is(await head.text(), '');
  t.is((await gateway.fetch('/api/emails', { method: 'HEAD', key: null })).status, 401);
});

test('bodies that are not JSON, or too much of it', async (t) => {
  const gateway = await startGateway(t);
  const post = async (body: string | Uint8Array, type?: string) => {
    const response = await gateway.fetch('/api/emails/bulk/delete', {
      method: 'POST',
      body,
      headers: type === undefined ? {} : { 'content-type': type },
    });
    return { status: response.status, body: (await response.json()) as Document };
  };
  const ok = '{"emailIds":[]}';
  t.is((await post(ok, 'application/json')).status, 200);
  t.is((await post(ok, 'Application/JSON; charset=utf-8')).status, 200);
  t.is((await post(ok, 'application/merge-patch+json')).status, 200);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/jsonx']) {
    t.is((await post(ok, type)).status, 415, type);
  }
  t.is((await post(ok)).status, 415);
  for (const malformed of ['', '{', '{"emailIds":[}', '{emailIds:[]}', 'null', '3', '"x"', '[]', '\ufeff[']) {
    const { status, body } = await post(malformed, 'application/json');
    t.is(status, 400, malformed);
    t.deepEqual(Object.keys(body.errors), ['body'], malformed);
  }
  t.is((await post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'application/json')).status, 400);
  t.is((await post(`{"emailIds":["${'x'.repeat(1024 * 1024)}"]}`, 'application/json')).status, 413);
  const fits = `{"emailIds":["${'x'.repeat(1024 * 1024 - 17)}"]}`;
  t.is(fits.length, 1024 * 1024);
  t.is((await post(fits, 'application/json')).status, 200);
});

test('hostile JSON does no harm', async (t) => {
  const gateway = await startGateway(t);
  const post = async (body: string) =>
    (
      await gateway.fetch('/api/emails/bulk/mark-read', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
    ).status;
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  const objects = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
  t.is(await post(`{"emailIds":${deep},"isRead":true}`), 400);
  t.is(await post(`{"emailIds":[],"isRead":${deep}}`), 400);
  t.is(await post(`{"emailIds":[],"isRead":true,"more":${objects}}`), 400);
  t.is(await post(`{"emailIds":[],"isRead":true,"more":${'['.repeat(30)}${']'.repeat(30)}}`), 200);
  t.is(await post(deep), 400);
  t.is(
    await post('{"emailIds":[],"isRead":true,"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
    200,
  );
  t.is(await post('{"__proto__":{"emailIds":[],"isRead":true}}'), 400);
  t.is(await post('{"emailIds":[],"isRead":{"__proto__":null,"toString":null}}'), 400);
  t.is(({} as Record<string, unknown>)['polluted'], undefined);
});

test('faults of ours are 503 or 500, without their insides', async (t) => {
  const gateway = await startGateway(t);
  const ask = async () => {
    const response = await gateway.fetch('/api/emails');
    return {
      status: response.status,
      retry: response.headers.get('retry-after'),
      text: await response.text(),
      response,
    };
  };
  for (const fault of ['unreachable', 'overloaded', 'store-unavailable'] as const) {
    gateway.mailboxes.fault = fault;
    const { status, retry } = await ask();
    t.is(status, 503, fault);
    t.regex(retry ?? '', /^\d+$/, fault);
  }
  gateway.mailboxes.fault = 'no-such-account';
  t.is((await ask()).status, 401);
  gateway.mailboxes.fault = 'failed';
  t.is((await ask()).status, 500);
  gateway.mailboxes.fault = 'bug';
  const errors = () => gateway.log.lines.filter(({ level }) => level === 'error');
  const before = errors().length;
  const { status, text, response } = await ask();
  t.is(status, 500);
  t.notRegex(text, /secret|TypeError/);
  t.is(errors().length, before + 1);
  t.is(errors().at(-1)?.fields['requestId'], response.headers.get('x-request-id'));
  gateway.mailboxes.fault = undefined;
  gateway.directory.down = true;
  const key = gateway.directory.key(ALICE, 'app');
  t.is((await gateway.fetch('/api/emails', { key })).status, 503);
});

test('a stream that fails before its first octet is an error reply', async (t) => {
  const gateway = await startGateway(t);
  addMail(gateway.mailboxes, gateway.blobs, ALICE, { id: ID });
  gateway.blobs.failAfter = 0;
  t.is((await gateway.fetch(`/api/emails/${ID}/export/eml`)).status, 503);
});

test('log lines name the route, never a query or a credential', async (t) => {
  const gateway = await startGateway(t);
  await gateway.fetch('/api/emails/sent?fromAddress=hidden');
  await gateway.fetch('/api/emails/sent?access_token=hidden');
  gateway.mailboxes.fault = 'failed';
  await gateway.fetch('/api/emails');
  const lines = gateway.log.lines.filter(({ text }) => text === 'request');
  t.like(lines[0], {
    level: 'debug',
    fields: { method: 'GET', route: '/api/emails/sent', status: 200, accountId: ALICE },
  });
  t.like(lines[1], { level: 'debug', fields: { route: '/api/emails/sent', status: 400 } });
  t.like(lines[2], { level: 'info', fields: { route: '/api/emails', status: 500 } });
  t.notRegex(JSON.stringify(gateway.log.lines), new RegExp(`hidden|${gateway.key}`));
});

test('health: side by side, shared for a moment, 503 when Unhealthy', async (t) => {
  const gateway = await startGateway(t);
  let runs = 0;
  gateway.checks.push(
    { name: 'database', tags: ['infrastructure'], run: async () => ({ status: runs++ > 0 ? 'Healthy' : 'Degraded' }) },
    { name: 'signalr', tags: ['api'], run: () => Promise.reject(new RangeError('password of host')) },
  );
  const [first, second] = await Promise.all([gateway.fetch('/healthz'), gateway.fetch('/healthz')]);
  t.is(first?.status, 503);
  const body: Document = await first?.json();
  t.deepEqual(body, await second?.json());
  t.is(runs, 1);
  t.is(body.status, 'Unhealthy');
  t.like(body.checks[0], { name: 'database', status: 'Degraded', description: null, exception: null, data: null });
  t.like(body.checks[1], { name: 'signalr', status: 'Unhealthy', exception: 'RangeError', tags: ['api'] });
  t.notRegex(JSON.stringify(body), /password/);
});
