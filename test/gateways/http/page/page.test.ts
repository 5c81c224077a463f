// Tests how the page is served, over real sockets and with a folder of a few files: which requests get the document, which a file, and
// under which policy.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import type { ExecutionContext } from 'ava';
import { temporaryDirectory } from '../../../../dev/temporary-directory.js';
import { Rates } from '../../../../src/auth/rates.js';
import { Page } from '../../../../src/gateways/http/page/page.js';
import { readPageFiles } from '../../../../src/gateways/http/page/page-files.js';
import { rawRequest } from '../../../support/clients/raw-request.js';
import test from '../../../support/test.js';
import { type Gateway, startGateway } from '../gateway.js';

const SCRIPT = `${'const answer = 42;\n'.repeat(50)}`;
const INDEX = `<!doctype html><title>Mansio</title>
<link rel="stylesheet" nonce="%STYLE_NONCE%" href="/assets/index-Abc.css"><script type="module" src="/assets/index-Abc.js"></script>
<meta name="nonce" content="%STYLE_NONCE%">`;
const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

function pageFolder(): string {
  const folder = temporaryDirectory('mansio-page-');
  mkdirSync(join(folder, 'assets'));
  const write = (name: string, content: string | Buffer) => writeFileSync(join(folder, name), content);
  write('index.html', INDEX);
  write('index.html.br', brotliCompressSync(INDEX));
  write('service-worker.js', 'addEventListener("install", () => {});');
  write('manifest.webmanifest', '{}');
  write('icon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  write('lonely.gz', 'no compressed form of another file');
  write('assets/index-Abc.js', SCRIPT);
  write('assets/index-Abc.js.br', brotliCompressSync(SCRIPT));
  write('assets/index-Abc.js.gz', gzipSync(SCRIPT));
  write('assets/index-Abc.css', 'body{}');
  return folder;
}

async function startWithPage(t: ExecutionContext, rates?: Rates): Promise<Gateway> {
  const files = await readPageFiles(pageFolder());
  return startGateway(t, { page: new Page(files!), ...(rates && { rates }) });
}

const ask = ({ port }: Gateway, line: string, fields: Readonly<Record<string, string>> = {}) =>
  rawRequest(port, line, fields);

test('a navigation to any path of the page gets the document, with a fresh nonce', async (t) => {
  const gateway = await startWithPage(t);
  const nonces = new Set<string>();
  for (const path of [
    '/',
    '/index.html',
    '/inbox',
    '/inbox/018f',
    '/search?q=a',
    '/settings/keys',
    '/linked',
    '/apis',
    '/mailbox',
  ]) {
    const { status, headers, body } = await ask(gateway, `GET ${path}`, { Accept: HTML });
    t.is(status, 200, path);
    t.is(headers.get('content-type'), 'text/html; charset=utf-8');
    t.is(headers.get('cache-control'), 'no-cache');
    const nonce = /style-src 'self' 'nonce-([A-Za-z0-9+/=]{20,})';/.exec(headers.get('content-security-policy')!)![1]!;
    t.is(body.toString(), INDEX.replaceAll('%STYLE_NONCE%', nonce));
    nonces.add(nonce);
  }
  t.is(nonces.size, 9);
});

test('the policy names every source, and nothing inline but styles with the nonce', async (t) => {
  const gateway = await startWithPage(t);
  const { headers } = await ask(gateway, 'GET /', { Accept: HTML });
  t.is(
    headers.get('content-security-policy')!.replace(/nonce-[^']+/, 'nonce-N'),
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-N'; img-src 'self' data: blob:; media-src 'self' blob:; " +
      "font-src 'self'; connect-src 'self'; frame-src 'self'; worker-src 'self'; manifest-src 'self'; form-action 'self'; " +
      "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
      'trusted-types dompurify mansio-mail mansio-worker',
  );
  t.is(headers.get('x-content-type-options'), 'nosniff');
  t.is(headers.get('referrer-policy'), 'no-referrer');
  t.is(headers.get('cross-origin-opener-policy'), 'same-origin');
});

test('other requests to paths of the page are 404; paths of the API keep their replies', async (t) => {
  const gateway = await startWithPage(t);
  for (const [line, accept] of [
    ['POST /', HTML],
    ['PUT /inbox', HTML],
    ['OPTIONS /inbox', HTML],
    ['GET /inbox', '*/*'],
    ['GET /inbox', 'application/json'],
    ['GET /inbox', 'text/html;q=0'],
    ['GET /', 'application/json'],
    ['GET /assets/index-Old.js', '*/*'],
    ['POST /service-worker.js', '*/*'],
    ['GET /index.html.br', '*/*'],
    ['GET /assets/../index.html', '*/*'],
  ] as const)
    t.is((await ask(gateway, line, { Accept: accept })).status, 404, `${line} ${accept}`);
  t.is((await ask(gateway, 'GET /inbox')).status, 404);
  t.is((await ask(gateway, 'GET /')).status, 200);
  for (const [path, status] of [
    ['/api', 404],
    ['/api/nothing', 404],
    ['/api/emails', 401],
    ['/hubs/email', 404],
    ['/.well-known/nothing', 404],
    ['/mail/nothing', 404],
    ['/Autodiscover/Autodiscover.xml', 200],
    ['/config.json', 200],
    ['/config/nothing', 404],
    ['/healthz', 200],
  ] as const) {
    const reply = await ask(gateway, `GET ${path}`, { Accept: HTML });
    t.is(reply.status, status, path);
    t.not(reply.headers.get('content-type'), 'text/html; charset=utf-8', path);
  }
});

test('no route but that of the root lies on a path of the page', async (t) => {
  const gateway = await startWithPage(t);
  const page = new Page({ index: '', files: new Map() });
  t.deepEqual(
    gateway.routes.map(({ path }) => path).filter((path) => page.owns(path)),
    ['/'],
  );
});

test('files are sent by their path and type, compressed where the client takes it', async (t) => {
  const gateway = await startWithPage(t);
  const path = 'GET /assets/index-Abc.js';
  const plain = await ask(gateway, path);
  t.is(plain.status, 200);
  t.is(plain.body.toString(), SCRIPT);
  t.is(plain.headers.get('content-type'), 'text/javascript; charset=utf-8');
  t.is(plain.headers.get('vary'), 'Accept-Encoding');
  t.is(plain.headers.get('content-encoding'), null);
  t.regex(plain.headers.get('content-security-policy')!, /default-src 'none'; script-src 'self'; style-src 'self';/);
  const packed = await ask(gateway, path, { 'Accept-Encoding': 'gzip, deflate, br' });
  t.is(packed.headers.get('content-encoding'), 'br');
  t.is(brotliDecompressSync(packed.body).toString(), SCRIPT);
  const gzipped = await ask(gateway, path, { 'Accept-Encoding': 'gzip, br;q=0' });
  t.is(gzipped.headers.get('content-encoding'), 'gzip');
  t.is(gunzipSync(gzipped.body).toString(), SCRIPT);
  const any = await ask(gateway, path, { 'Accept-Encoding': '*' });
  t.is(any.headers.get('content-encoding'), 'br');
  const types = ['/assets/index-Abc.css', '/manifest.webmanifest', '/icon.svg', '/lonely.gz'];
  t.deepEqual(
    await Promise.all(types.map(async (one) => (await ask(gateway, `GET ${one}`)).headers.get('content-type'))),
    [
      'text/css; charset=utf-8',
      'application/manifest+json; charset=utf-8',
      'image/svg+xml; charset=utf-8',
      'application/octet-stream',
    ],
  );
});

test('hashed files are cached for ever, the others are asked for again', async (t) => {
  const gateway = await startWithPage(t);
  const cached = async (path: string) => (await ask(gateway, `GET ${path}`)).headers.get('cache-control');
  t.is(await cached('/assets/index-Abc.js'), 'public, max-age=31536000, immutable');
  t.is(await cached('/service-worker.js'), 'no-cache');
  t.is(await cached('/manifest.webmanifest'), 'no-cache');
  const br = { 'Accept-Encoding': 'br' };
  const first = await ask(gateway, 'GET /assets/index-Abc.js', br);
  const again = await ask(gateway, 'GET /assets/index-Abc.js', { ...br, 'If-None-Match': first.headers.get('etag')! });
  t.is(again.status, 304);
  t.is(again.body.length, 0);
  t.is(again.headers.get('etag'), first.headers.get('etag'));
  t.is(again.headers.get('vary'), 'Accept-Encoding');
  const other = await ask(gateway, 'GET /assets/index-Abc.js', { 'If-None-Match': first.headers.get('etag')! });
  t.is(other.status, 200, 'the tag of another form');
});

test('HEAD has the fields of GET and no body', async (t) => {
  const gateway = await startWithPage(t);
  const document = await ask(gateway, 'HEAD /inbox', { Accept: HTML });
  t.is(document.status, 200);
  t.true(Number(document.headers.get('content-length')) > INDEX.length);
  const file = await ask(gateway, 'HEAD /assets/index-Abc.js');
  t.is(file.headers.get('content-length'), String(SCRIPT.length));
  t.is(document.body.length + file.body.length, 0);
});

test('what the page serves counts for no rate; what it does not have counts by address', async (t) => {
  const gateway = await startWithPage(t, new Rates({ global: 2, authentication: 2, write: 2, session: 0 }));
  for (let i = 0; i < 5; i++) t.is((await ask(gateway, 'GET /')).status, 200);
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await ask(gateway, 'GET /nothing')).status);
  t.deepEqual(statuses, [404, 404, 429]);
});

test('log lines have the pattern of the page instead of paths', async (t) => {
  const gateway = await startWithPage(t);
  await ask(gateway, 'GET /search?q=secret', { Accept: HTML });
  const lines = JSON.stringify(gateway.log.lines);
  t.true(lines.includes('"route":"/*"'));
  t.false(lines.includes('secret'));
});

test('a folder without a document is no page', async (t) => {
  t.is(await readPageFiles(join(temporaryDirectory('mansio-page-'), 'absent')), undefined);
  t.is(await readPageFiles(temporaryDirectory('mansio-page-')), undefined);
});
