// Tests the guarded HTTP client: requests and answers, and the addresses that it never connects to.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import type { Dns } from '../../../src/net/dns/resolver.js';
import { failed } from '../../../src/net/http-client/outcome.js';
import { retryAfterMs } from '../../../src/net/http-client/retry-after.js';
import { targetUrlFault } from '../../../src/net/http-client/target-url.js';
import { selfSigned } from '../../../src/node/tls/tls-certificate.js';
import test from '../../support/test.js';
import { clientOf, dnsOf, OK, peer } from './peers.js';

const post = (url: string, more: { readonly accountId?: string; readonly signal?: AbortSignal } = {}) => ({
  url,
  accountId: 'a',
  headers: { 'content-type': 'application/json' },
  body: '{"text":"Zoë 💌"}',
  ...more,
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

async function certificateOf(name: string) {
  const files = await selfSigned(temporaryDirectory(), name, pino({ level: 'silent' }));
  return { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') };
}

test('a failure that is too long to keep is not cut within a character', (t) => {
  const { detail } = failed('tls', `${'x'.repeat(299)}💌`);
  t.is(Buffer.from(detail).toString(), detail);
});

test('a body is posted, the answer comes back, and the connection is used again', async (t) => {
  const seen: { readonly request: IncomingMessage; readonly body: string }[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      seen.push({ request, body });
      response.writeHead(429, { 'retry-after': '7', 'x-two': ['1', '2'] }).end('slow\0 down\r\nplease');
    });
  });
  server.on('connection', () => connections++).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const dns = dnsOf({ 'hooks.test': { A: ['127.0.0.1'] } });
  const client = clientOf(t, { dns, limits: { idleMs: 60_000 } });
  const url = `http://hooks.test:${(server.address() as AddressInfo).port}/in?x=1`;
  for (let i = 0; i < 2; i++) {
    const answer = await client.post(post(url));
    t.like(answer, { status: 429, excerpt: 'slow down please', headers: { 'retry-after': '7', 'x-two': '1, 2' } });
  }
  t.is(connections, 1);
  t.is(seen[1]!.body, '{"text":"Zoë 💌"}');
  const { method, url: path, headers } = seen[0]!.request;
  t.is(`${method} ${path} ${headers.host}`, `POST /in?x=1 ${new URL(url).host}`);
  t.like(headers, { 'content-type': 'application/json', 'content-length': '20', 'user-agent': 'Mansio' });
});

test('URLs that nothing is sent to', async (t) => {
  const urls = [
    'nonsense',
    'http://hooks.example.com/',
    'ftp://hooks.example.com/',
    'https://user:password@hooks.example.com/',
    `https://hooks.example.com/${'x'.repeat(2048)}`,
    ...['127.0.0.1', '2130706433', '0x7f.1', '0', '10.1.2.3', '169.254.169.254', '100.64.0.1'],
    ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]', '[fe80::1]', '[fd00::1]'],
    ...['localhost', 'a.localhost', 'intranet', 'printer.local', 'db.internal.', 'router.home.arpa'],
  ].map((text) => (text.includes('/') || text === 'nonsense' ? text : `https://${text}/`));
  const client = clientOf(t, { allowPrivate: false });
  for (const url of urls) {
    t.like(await client.post(post(url)), { failure: 'url' }, url);
    t.is(typeof targetUrlFault(url, false), 'string', url);
  }
  for (const url of ['https://hooks.example.com/', 'https://8.8.8.8:8443/x', 'https://[2606:4700::1111]/']) {
    t.is(targetUrlFault(url, false), undefined, url);
  }
  t.is(targetUrlFault('http://127.0.0.1:8080/', true), undefined);
});

test('a name with a private address is not connected to, public addresses beside it or not', async (t) => {
  const server = await peer(t, (socket) => socket.end(OK));
  const dns = dnsOf({
    'private.test': { A: ['127.0.0.1'] },
    'both.test': { A: ['8.8.8.8', '127.0.0.1'] },
    'six.test': { A: ['8.8.8.8'], AAAA: ['::ffff:127.0.0.1'] },
  });
  const client = clientOf(t, { dns, allowPrivate: false });
  for (const name of ['private.test', 'both.test', 'six.test', 'private.test.']) {
    const outcome = await client.post(post(`https://${name}:${server.port}/`));
    t.like(outcome, { failure: 'private-address' }, name);
  }
  t.like(await client.post(post('https://nowhere.test/')), { failure: 'name' });
  t.is(server.connections, 0);
});

test('the address that was judged is connected to, though DNS has another one by then', async (t) => {
  const judged = await peer(t, (socket) => socket.end(OK), '127.0.0.2');
  let asked = 0;
  const dns: Dns = {
    resolve: async (name, type) => {
      if (type === 'A') return [asked++ === 0 ? '127.0.0.2' : '127.0.0.3'] as never;
      return dnsOf({ [name]: {} }).resolve(name, type);
    },
  };
  const outcome = await clientOf(t, { dns }).post(post(`http://rebinding.test:${judged.port}/`));
  t.like(outcome, { status: 200, excerpt: 'ok' });
  t.is(asked, 1);
});

test('the next address is tried when one takes no connection', async (t) => {
  const server = await peer(t, (socket) => socket.end(OK));
  const client = clientOf(t, { dns: dnsOf({ 'two.test': { A: ['127.0.0.9', '127.0.0.1'] } }) });
  t.like(await client.post(post(`http://two.test:${server.port}/`)), { status: 200 });
});

test('redirects are answers', async (t) => {
  const inner = await peer(t, (socket) => socket.end(OK));
  const server = await peer(t, (socket) =>
    socket.end(`HTTP/1.1 307 Away\r\nlocation: http://127.0.0.1:${inner.port}/\r\ncontent-length: 0\r\n\r\n`),
  );
  t.like(await clientOf(t).post(post(`http://127.0.0.1:${server.port}/`)), { status: 307 });
  t.is(inner.connections, 0);
});

async function secure(t: ExecutionContext, pair: { readonly cert: string; readonly key: string }): Promise<number> {
  const server = createSecureServer(pair, (_request, response) => response.end('ok')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('TLS: the certificate must be trusted and be the host’s', async (t) => {
  const pair = await certificateOf('hooks.test');
  const port = await secure(t, pair);
  const plain = await peer(t, (socket) => socket.end('HTTP/1.1 400 Plain\r\ncontent-length: 0\r\n\r\n'));
  const dns = dnsOf({ 'hooks.test': { A: ['127.0.0.1'] }, 'other.test': { A: ['127.0.0.1'] } });
  const trusting = clientOf(t, { dns, ca: pair.cert });
  t.like(await trusting.post(post(`https://hooks.test:${port}/`)), { status: 200, excerpt: 'ok' });
  t.like(await trusting.post(post(`https://127.0.0.1:${port}/`)), { status: 200 });
  t.like(await trusting.post(post(`https://other.test:${port}/`)), { failure: 'tls' });
  t.like(await trusting.post(post(`https://hooks.test:${plain.port}/`)), { failure: 'tls' });
  t.like(await clientOf(t, { dns }).post(post(`https://hooks.test:${port}/`)), { failure: 'tls' });
});

test('Retry-After', (t) => {
  const now = Date.parse('2026-11-22T23:00:00Z');
  const read = (text: string) => retryAfterMs({ headers: { 'retry-after': text } }, now);
  t.is(read('120'), 120_000);
  t.is(read('31536000'), 31_536_000_000);
  t.is(read('Sun, 22 Nov 2026 23:00:30 GMT'), 30_000);
  t.is(read('Sun, 22 Nov 2026 22:00:00 GMT'), 0);
  for (const text of ['', '-1', '1.5', 'soon', '99999999999999', 'Sun, 99 Nov']) t.is(read(text), undefined, text);
  t.is(retryAfterMs({ headers: {} }, now), undefined);
});
