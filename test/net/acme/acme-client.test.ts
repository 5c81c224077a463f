// Tests the ACME client against servers that are hostile or broken: each failure is one fault with its type, in bounded time and memory. A real
// server is in test/node/certificates.

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import pino from 'pino';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { AccountKey, newAccountKey } from '../../../src/net/acme/account-key.js';
import { AcmeClient, type AcmeLimits } from '../../../src/net/acme/acme-client.js';
import { AcmeFault } from '../../../src/net/acme/acme-fault.js';
import { selfSigned } from '../../../src/node/tls/tls-certificate.js';
import test from '../../support/test.js';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const TYPE = 'urn:ietf:params:acme:error:';
const JSON_TYPE = { 'content-type': 'application/json' };

const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, { ...JSON_TYPE, 'replay-nonce': 'abc', ...headers }).end(JSON.stringify(value));

const problem = (name: string, status = 400, headers: Record<string, string> = {}, more: object = {}): Answer =>
  json({ type: `${TYPE}${name}`, detail: `about ${name}`, ...more }, status, {
    ...headers,
    'content-type': 'application/problem+json',
  });

interface Fake {
  /** The URL of the directory. */
  readonly url: string;
  readonly asked: string[];
  readonly client: AcmeClient;
  /** The type and text of the fault of an order. */
  fault(): Promise<AcmeFault>;
}

/** A server whose order goes well until `answers` say otherwise, by path. */
async function fake(
  t: ExecutionContext,
  answers: Readonly<Record<string, Answer>>,
  limits: Partial<AcmeLimits> = {},
): Promise<Fake> {
  const files = await selfSigned(temporaryDirectory('mansio-acme-'), 'acme.test', pino({ level: 'silent' }));
  const ca = readFileSync(files.cert, 'utf8');
  const asked: string[] = [];
  let base = '';
  const usual: Record<string, () => Answer> = {
    '/dir': () =>
      json({
        newNonce: `${base}/nonce`,
        newAccount: `${base}/account`,
        newOrder: `${base}/order`,
        renewalInfo: `${base}/ari`,
      }),
    '/nonce': () => (response) => void response.writeHead(200, { 'replay-nonce': 'abc' }).end(),
    '/account': () => json({ status: 'valid' }, 201, { location: `${base}/account/1` }),
    '/order': () =>
      json({ status: 'pending', authorizations: [`${base}/authz`], finalize: `${base}/finalize` }, 201, {
        location: `${base}/order/1`,
      }),
    '/authz': () =>
      json({
        status: 'pending',
        identifier: { type: 'dns', value: 'a.test' },
        challenges: [{ type: 'http-01', url: `${base}/challenge`, token: 'token' }],
      }),
    '/challenge': () => json({ status: 'processing' }),
  };
  const server = createTlsServer({ cert: ca, key: readFileSync(files.key) }, (request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const answer = answers[path] ?? usual[path]?.();
    request.resume().on('end', () => (answer ?? json({}, 404))(response, request));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  base = `https://localhost:${(server.address() as AddressInfo).port}`;
  const key = await AccountKey.read(newAccountKey());
  const client = new AcmeClient({
    directory: `${base}/dir`,
    key,
    ca,
    limits: { requestMs: 60_000, orderMs: 60_000, pollMs: 1, longestPollMs: 5, nonces: 3, ...limits },
  });
  const order = () => client.certificate(['a.test'], { publish: async () => {}, signal: new AbortController().signal });
  return {
    url: `${base}/dir`,
    asked,
    client,
    fault: async () => (await t.throwsAsync(order(), { instanceOf: AcmeFault }))!,
  };
}

test('an endless body is cut off', async (t) => {
  const endless: Answer = (response) => {
    response.writeHead(200, JSON_TYPE);
    const more = () => {
      if (!response.destroyed) response.write('x'.repeat(64 * 1024), more);
    };
    more();
  };
  const { fault } = await fake(t, { '/order': endless });
  t.like(await fault(), { type: 'reply' });
  t.regex((await fault()).message, /more than 262144 bytes/);
});

test('another media type, and a body that is no JSON', async (t) => {
  const html: Answer = (response) =>
    void response.writeHead(200, { 'content-type': 'text/html', 'replay-nonce': 'a' }).end('{}');
  t.regex((await (await fake(t, { '/authz': html })).fault()).message, /text\/html, not JSON/);
  const broken: Answer = (response) => void response.writeHead(200, JSON_TYPE).end('{"status":');
  t.regex((await (await fake(t, { '/authz': broken })).fault()).message, /no JSON/);
  for (const value of [[], 'text', { status: 1 }, { status: 'pending', identifier: null, challenges: [] }])
    t.is((await (await fake(t, { '/authz': json(value) })).fault()).type, 'reply');
});

test('a redirect is not followed', async (t) => {
  const { fault, asked } = await fake(t, {
    '/authz': (response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
  });
  t.regex((await fault()).message, /status of \/authz is 302/);
  t.false(asked.includes('/elsewhere'));
});

test('a nonce that is refused for ever is given up', async (t) => {
  const { fault, asked } = await fake(t, { '/order': problem('badNonce') });
  t.is((await fault()).type, `${TYPE}badNonce`);
  t.is(asked.filter((path) => path === '/order').length, 4);
  const none = await fake(t, { '/nonce': (response) => void response.writeHead(200).end() });
  t.regex((await none.fault()).message, /no nonce/);
});

test('a server that cannot name the certificate that is replaced gets an order without it', async (t) => {
  for (const refusal of ['alreadyReplaced', 'malformed']) {
    let orders = 0;
    const { client } = await fake(t, {
      '/order': (response, request) =>
        (orders++ === 0 ? problem(refusal) : problem('rateLimited', 429))(response, request),
    });
    const ordering = { publish: async () => {}, replaces: 'a.b', signal: new AbortController().signal };
    const fault = await t.throwsAsync(client.certificate(['a.test'], ordering), { instanceOf: AcmeFault });
    t.deepEqual([fault!.type, orders], [`${TYPE}rateLimited`, 2], refusal);
  }
});

test('a server that says nothing, or never decides', async (t) => {
  const silent = await fake(t, { '/order': () => {} }, { requestMs: 100 });
  t.is((await silent.fault()).type, 'timeout');
  // A busy machine needs more time to get as far as the proof.
  for (let orderMs = 500, asked: readonly string[] = []; !asked.includes('/challenge'); orderMs *= 2) {
    const undecided = await fake(t, {}, { orderMs });
    t.like(await undecided.fault(), { type: 'timeout' });
    asked = undecided.asked;
  }
});

test('errors of the authority keep their type, their text, and the pause that they ask for', async (t) => {
  const limited = await (await fake(t, { '/order': problem('rateLimited', 429, { 'retry-after': '3600' }) })).fault();
  t.like(limited, {
    type: `${TYPE}rateLimited`,
    message: 'about rateLimited',
    retryAfterMs: 3_600_000,
    isOfServer: false,
  });
  const subproblems = [{ detail: 'no such name', identifier: { type: 'dns', value: 'a.test' } }];
  const refused = await (await fake(t, { '/order': problem('rejectedIdentifier', 400, {}, { subproblems }) })).fault();
  t.is(refused.message, 'about rejectedIdentifier (a.test: no such name)');
  const down = await (await fake(t, { '/order': problem('serverInternal', 500) })).fault();
  t.true(down.isOfServer);
  const odd = await (await fake(t, { '/order': json({ type: 'about:blank', detail: 'a\u0000b\nc' }, 503) })).fault();
  t.like(odd, { type: 'reply', message: 'a b c' });
});

test('a proof that fails says for which name, and why', async (t) => {
  let looks = 0;
  const { fault } = await fake(t, {
    '/authz': (response, request) => {
      const isOver = looks++ > 0;
      const error = { type: `${TYPE}connection`, detail: 'no route' };
      const challenge = { type: 'http-01', url: `https://${request.headers.host}/challenge`, token: 'token' };
      json({
        status: isOver ? 'invalid' : 'pending',
        identifier: { type: 'dns', value: 'a.test' },
        challenges: [isOver ? { ...challenge, error } : challenge],
      })(response, request);
    },
  });
  t.like(await fault(), { type: `${TYPE}connection`, message: 'a.test: no route' });
});

test('no proof by HTTP, and a token that is no token', async (t) => {
  const identifier = { type: 'dns', value: 'a.test' };
  for (const challenges of [
    [],
    [{ type: 'dns-01', url: 'x', token: 'y' }],
    [{ type: 'http-01', url: 'x', token: '../../etc' }],
  ]) {
    const { fault } = await fake(t, { '/authz': json({ status: 'pending', identifier, challenges }) });
    t.regex((await fault()).message, /no proof by HTTP/);
  }
});

test('URLs that are not https are never asked', async (t) => {
  let isAsked = false;
  const plain = createServer((_, response) => {
    isAsked = true;
    response.end();
  }).listen(0, '127.0.0.1');
  t.teardown(() => plain.close());
  await new Promise((resolve) => plain.once('listening', resolve));
  const elsewhere = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
  const { fault } = await fake(t, {
    '/dir': json({ newNonce: `${elsewhere}/n`, newAccount: `${elsewhere}/a`, newOrder: `${elsewhere}/o` }),
  });
  t.regex((await fault()).message, /no https URL/);
  t.false(isAsked);
});

test('a certificate that was not asked for is refused', async (t) => {
  const foreign = await selfSigned(temporaryDirectory('mansio-acme-'), 'a.test', pino({ level: 'silent' }));
  const other = await selfSigned(temporaryDirectory('mansio-acme-'), 'b.test', pino({ level: 'silent' }));
  const serving = (pem: string, type = 'application/pem-certificate-chain') => {
    const answers: Record<string, Answer> = {
      '/order': (response, { headers: { host } }) =>
        json(
          { status: 'valid', authorizations: [], finalize: `https://${host}/f`, certificate: `https://${host}/cert` },
          201,
          { location: `https://${host}/order/1` },
        )(response, undefined as never),
      '/order/1': (response, { headers: { host } }) =>
        json({
          status: 'valid',
          authorizations: [],
          finalize: `https://${host}/f`,
          certificate: `https://${host}/cert`,
        })(response, undefined as never),
      '/cert': (response) => void response.writeHead(200, { 'content-type': type, 'replay-nonce': 'a' }).end(pem),
    };
    return fake(t, answers);
  };
  t.regex((await (await serving(readFileSync(foreign.cert, 'utf8'))).fault()).message, /for another key/);
  t.regex((await (await serving(readFileSync(other.cert, 'utf8'))).fault()).message, /is not for a\.test/);
  t.regex((await (await serving('nonsense')).fault()).message, /cannot be read/);
  t.regex((await (await serving('x', 'text/html')).fault()).message, /text\/html/);
});

test('advice about a renewal: a window, a pause, or nothing', async (t) => {
  const { signal } = new AbortController();
  const window = { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' };
  const told = await fake(t, { '/ari/id': json({ suggestedWindow: window }, 200, { 'retry-after': '21600' }) });
  t.deepEqual(await told.client.renewalWindow('id', signal), {
    window: { start: Date.parse(window.start), end: Date.parse(window.end) },
    askAgainMs: 21_600_000,
  });
  for (const suggestedWindow of [
    undefined,
    { start: window.end, end: window.start },
    { start: 'soon', end: 'later' },
  ]) {
    const { client } = await fake(t, { '/ari/id': json({ suggestedWindow }) });
    await t.throwsAsync(client.renewalWindow('id', signal), { instanceOf: AcmeFault });
  }
  const without = await fake(t, {
    '/dir': json({ newNonce: 'https://x', newAccount: 'https://x', newOrder: 'https://x' }),
  });
  t.is(await without.client.renewalWindow('id', signal), undefined);
});

test('a stop ends a request at once', async (t) => {
  const stop = new AbortController();
  const { client } = await fake(t, { '/order': () => stop.abort() });
  const ordered = client.certificate(['a.test'], { publish: async () => {}, signal: stop.signal });
  t.like(await t.throwsAsync(ordered, { instanceOf: AcmeFault }), { type: 'aborted' });
});

test('a server that is away, and one whose certificate is not trusted', async (t) => {
  const key = await AccountKey.read(newAccountKey());
  const { signal } = new AbortController();
  const faultAt = (directory: string) =>
    t.throwsAsync(new AcmeClient({ directory, key }).register(signal), { instanceOf: AcmeFault });
  t.like(await faultAt('https://localhost:1/dir'), { type: 'connection', isOfServer: true });
  const { url } = await fake(t, {});
  t.like(await faultAt(url), { type: 'tls', isOfServer: true });
});
