// Tests the image proxy over real sockets on both sides: servers of images that are right, wrong, slow and hostile.
import { gzipSync } from 'node:zlib';
import type { ExecutionContext } from 'ava';
import { Rates } from '../../../../src/auth/rates.js';
import { clientOf, dnsOf, peer } from '../../../net/http-client/peers.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';
import { ALICE, BOB } from '../fakes.js';
import { IMAGE_URLS, PNG, startGateway } from '../gateway.js';

const MEBIBYTE = 1024 * 1024;
const OUTSIDE = (address: string) => address === '127.0.0.1';

type Serve = Parameters<typeof peer>[1];

const image = (octets: Uint8Array, fields = 'content-type: text/html'): Buffer =>
  Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${fields}\r\ncontent-length: ${octets.length}\r\n\r\n`), octets]);

interface Options {
  readonly rates?: Rates;
  readonly downloadMs?: number;
}

/** Without `downloadMs` no image is late, however slow the machine is. */
async function proxied(t: ExecutionContext, serve: Serve, { rates, downloadMs = 60_000 }: Options = {}) {
  const server = await peer(t, serve);
  const images = clientOf(t, {
    allowPrivate: OUTSIDE,
    dns: dnsOf({}),
    limits: { downloadMs, answerMs: 60_000, connectMs: 60_000 },
  });
  const gateway = await startGateway(t, { images, ...(rates && { rates }) });
  const url = `http://127.0.0.1:${server.port}/image`;
  return {
    gateway,
    server,
    url,
    ask: (account = ALICE) => gateway.fetch(IMAGE_URLS.signed(account, url), { key: null }),
  };
}

async function statusOf(t: ExecutionContext, serve: Serve, options?: Options): Promise<number> {
  const { ask, server } = await proxied(t, serve, options);
  const { status } = await ask();
  // No connection stays behind.
  await until(() => server.open === 0);
  return status;
}

test('an image comes with its own type, for a frame without an origin, and is not run or sniffed', async (t) => {
  const asked: string[] = [];
  const { ask } = await proxied(t, (socket, text) => {
    asked.push(text);
    socket.write(image(PNG, 'content-type: text/html\r\nset-cookie: id=1'));
  });
  const reply = await ask();
  t.is(reply.status, 200);
  t.deepEqual(Buffer.from(await reply.arrayBuffer()), PNG);
  const { headers } = reply;
  t.is(headers.get('content-type'), 'image/png');
  t.is(headers.get('content-length'), String(PNG.length));
  t.is(headers.get('x-content-type-options'), 'nosniff');
  t.is(headers.get('content-security-policy'), "sandbox; default-src 'none'");
  t.is(headers.get('cache-control'), 'private, max-age=3600, immutable');
  t.is(headers.get('cross-origin-resource-policy'), 'cross-origin');
  t.is(headers.get('set-cookie'), null);
  t.is(asked.length, 1);
  t.regex(asked[0]!, /^GET \/image HTTP\/1\.1\r\n/);
  const names = asked[0]!
    .split('\r\n')
    .slice(1)
    .filter(Boolean)
    .map((line) => line.split(':')[0]!.toLowerCase());
  t.deepEqual(names.sort(), ['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
});

test('what is no image by its content is refused, whatever it is called', async (t) => {
  const contents = [
    '<!doctype html><script>alert(1)</script>',
    '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    '',
    '\x89PN',
    `<html>${'x'.repeat(MEBIBYTE)}`,
  ];
  for (const content of contents) {
    const octets = Buffer.from(content, 'latin1');
    t.is(
      await statusOf(t, (socket) => socket.end(image(octets, 'content-type: image/png'))),
      403,
      content.slice(0, 50),
    );
  }
  const bomb = gzipSync(Buffer.alloc(100 * MEBIBYTE));
  const coded = 'content-type: image/png\r\ncontent-encoding: gzip';
  t.is(await statusOf(t, (socket) => socket.end(image(bomb, coded))), 403);
  t.is(await statusOf(t, (socket) => socket.end(image(PNG, coded))), 403);
});

test('an image that is too large, too slow, cut off or not there is a bad gateway', async (t) => {
  const { length } = PNG;
  const whole = Buffer.alloc(10 * MEBIBYTE);
  PNG.copy(whole);
  t.is(await statusOf(t, (socket) => socket.end(image(whole))), 200);
  t.is(await statusOf(t, (socket) => socket.end(image(Buffer.concat([whole, Buffer.alloc(1)])))), 502);
  const endless: Serve = (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.write(PNG);
    const more = (): void => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
    };
    socket.on('drain', more);
    more();
  };
  t.is(await statusOf(t, endless), 502);
  const dripping: Serve = (socket) => {
    socket.write(image(PNG).subarray(0, -1).toString('latin1').replace(`: ${length}`, ': 100000'), 'latin1');
    const timer = setInterval(() => socket.write('.'), 5);
    socket.on('close', () => clearInterval(timer));
  };
  t.is(await statusOf(t, dripping, { downloadMs: 300 }), 502);
  const longer = `content-length: ${length}`;
  const head = image(PNG).toString('latin1');
  t.is(await statusOf(t, (socket) => socket.end(head.replace(longer, `content-length: ${length + 1}`), 'latin1')), 502);
  t.is(await statusOf(t, (socket) => socket.end(head.replace(longer, `${longer}0000000000`), 'latin1')), 502);
  t.is(await statusOf(t, (socket) => socket.end(head.replace(longer, 'content-length: -1'), 'latin1')), 502);
  t.is(await statusOf(t, (socket) => socket.end('HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n')), 502);
  t.is(await statusOf(t, (socket) => socket.destroy()), 502);
});

test('a private address is refused, at once and behind a redirect', async (t) => {
  const inner = await peer(t, (socket) => socket.end(image(PNG)), '127.0.0.2');
  const location = `http://127.0.0.2:${inner.port}/`;
  const redirect = `HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`;
  const { gateway, ask } = await proxied(t, (socket) => socket.end(redirect));
  t.is((await ask()).status, 403);
  const direct = await gateway.fetch(IMAGE_URLS.signed(ALICE, location), { key: null });
  t.is(direct.status, 403);
  t.like(await direct.json(), { detail: 'the URL must not be on a private address' });
  t.is(inner.connections, 0);
});

test('a signature is refused before anything is asked', async (t) => {
  const { gateway, server, url } = await proxied(t, (socket) => socket.end(image(PNG)));
  const signed = IMAGE_URLS.signed(ALICE, url);
  for (const path of [
    signed.replace(ALICE, BOB),
    `${signed}x`,
    signed.replace('%2Fimage', '%2Fother'),
    '/api/image-proxy',
  ])
    t.is((await gateway.fetch(path, { key: null })).status, 403);
  t.is(server.connections, 0);
});

test('slow images of one account leave another its own, and images count for the account', async (t) => {
  const held: (() => void)[] = [];
  const rates = new Rates({ global: 1, authentication: 1, write: 1, session: 0 });
  const { ask, gateway, server, url } = await proxied(t, (socket) => held.push(() => socket.write(image(PNG))), {
    rates,
  });
  const slow = Array.from({ length: 12 }, () => ask());
  // The account has room for eight; the last one refused is the one over its rate.
  await until(() => held.length === 8);
  t.is((await ask()).status, 429);
  const other = ask(BOB);
  await until(() => held.length === 9);
  held.pop()!();
  t.is((await other).status, 200);
  for (const answer of held.splice(0)) answer();
  await until(() => held.length === 4);
  for (const answer of held.splice(0)) answer();
  const statuses = (await Promise.all(slow)).map(({ status }) => status);
  t.deepEqual([...new Set(statuses)], [200]);
  t.true(server.connections >= 9);
  // Wrong signatures count for the address.
  const wrong = () => gateway.fetch(`${IMAGE_URLS.signed(ALICE, url)}x`, { key: null });
  t.deepEqual([(await wrong()).status, (await wrong()).status], [403, 429]);
});

test('the memory of an image is free again when its reader has gone', async (t) => {
  const whole = Buffer.alloc(10 * MEBIBYTE);
  PNG.copy(whole);
  const { gateway, url } = await proxied(t, (socket) => socket.write(image(whole)));
  // Half of 128 MiB is the share of one account: seven such images would not fit if one stayed.
  for (let i = 0; i < 8; i++) {
    const reader = new AbortController();
    const reply = await fetch(gateway.url + IMAGE_URLS.signed(ALICE, url), { signal: reader.signal });
    t.is(reply.status, 200);
    reader.abort();
  }
  t.is((await gateway.fetch(IMAGE_URLS.signed(ALICE, url), { key: null })).status, 200);
});
