// Tests downloads of the guarded HTTP client: redirects, the addresses that they may lead to, and servers that are slow or cut off.
import type { Dns } from '../../../src/net/dns/resolver.js';
import { webUrlFault } from '../../../src/net/http-client/target-url.js';
import test from '../../support/test.js';
import { clientOf, dnsOf, OK, type Peer, peer } from './peers.js';

const FOUND = (location: string) => `HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 2\r\n\r\nno`;
/** Addresses of loopback that stand for the Internet; others are the server's own network. */
const OUTSIDE = (address: string) => address === '127.0.0.1';

function downloading(url: string, signal?: AbortSignal) {
  const pieces: Uint8Array[] = [];
  const take = (octets: Uint8Array) => pieces.push(octets) > 0;
  const request = { url, accountId: 'a', headers: { accept: 'image/*' }, signal, take };
  return { request, text: () => Buffer.concat(pieces).toString() };
}

test('a body comes whole, over redirects of every kind, without anything of who asks', async (t) => {
  const asked: string[] = [];
  const server: Peer = await peer(t, (socket, text) => {
    asked.push(text);
    const path = text.split(' ')[1]!;
    if (path === '/end?x=1') socket.end(OK);
    else if (path === '/last') socket.end(FOUND('end?x=1'));
    else {
      const step = Number(path.slice(1));
      const location = step === 3 ? `//a.test:${server.port}/last` : `/${step + 1}`;
      socket.end(FOUND(location).replace('302', String([301, 303, 307, 308][step])));
    }
  });
  const client = clientOf(t, { dns: dnsOf({ 'a.test': { A: ['127.0.0.1'] } }), allowPrivate: OUTSIDE });
  const { request, text } = downloading(`http://127.0.0.1:${server.port}/0`);
  t.like(await client.download(request), { status: 200, isWhole: true });
  t.is(text(), 'ok');
  t.is(asked.length, 6);
  for (const one of asked) {
    t.regex(one, /^GET /);
    t.notRegex(one, /cookie|referer|authorization|content-/i);
  }
});

test('a redirect to a private address, another port or no web address is refused', async (t) => {
  const inner = await peer(t, (socket) => socket.end(OK), '127.0.0.2');
  const dns = dnsOf({
    'inner.test': { A: ['127.0.0.2'] },
    'both.test': { A: ['127.0.0.1', '127.0.0.2'] },
    'mapped.test': { AAAA: ['::ffff:127.0.0.2'] },
  });
  const targets = [
    ...['127.0.0.2', 'inner.test', 'both.test', 'mapped.test', '[::ffff:127.0.0.2]', '0x7f000002', 'localhost'],
  ].map((host) => `http://${host}:${inner.port}/`);
  for (const target of [...targets, 'file:///etc/passwd', 'ftp://a.test/', 'http://user@127.0.0.1/']) {
    const server = await peer(t, (socket) => socket.end(FOUND(target)));
    const client = clientOf(t, { dns, allowPrivate: OUTSIDE });
    const outcome = await client.download(downloading(`http://127.0.0.1:${server.port}/`).request);
    t.true('failure' in outcome && ['url', 'private-address'].includes(outcome.failure), target);
  }
  t.is(inner.connections, 0);
});

test('a name that changes its address between two look-ups leads to no other address', async (t) => {
  const inner = await peer(t, (socket) => socket.end(OK), '127.0.0.2');
  const outer = await peer(t, (socket) => socket.write(OK));
  let lookups = 0;
  const rebinding: Dns = {
    async resolve(_name, type) {
      if (type === 'AAAA') return [] as never;
      return [lookups++ === 0 ? '127.0.0.1' : '127.0.0.2'] as never;
    },
  };
  const client = clientOf(t, { dns: rebinding, allowPrivate: OUTSIDE, limits: { idleMs: 60_000 } });
  const url = `http://rebind.test:${outer.port}/`;
  t.like(await client.download(downloading(url).request), { status: 200 });
  t.is(lookups, 1);
  t.like(await client.download(downloading(url).request), { failure: 'private-address' });
  t.deepEqual([inner.connections, outer.connections], [0, 1]);
});

test('redirects end', async (t) => {
  const server: Peer = await peer(t, (socket) => socket.end(FOUND('/again')));
  const outcome = await clientOf(t).download(downloading(`http://127.0.0.1:${server.port}/`).request);
  t.like(outcome, { failure: 'answer' });
  t.is(server.connections, 6);
});

test('a redirect without a URL, and other statuses, are answers without a body', async (t) => {
  for (const head of ['HTTP/1.1 302 Found', 'HTTP/1.1 404 No', 'HTTP/1.1 206 Part', 'HTTP/1.1 304 Same']) {
    const server = await peer(t, (socket) => socket.end(`${head}\r\ncontent-length: 2\r\n\r\nno`));
    const { request, text } = downloading(`http://127.0.0.1:${server.port}/`);
    t.like(await clientOf(t).download(request), { status: Number(head.split(' ')[1]), isWhole: false });
    t.is(text(), '');
  }
});

test('all of it is late together: a slow body, redirects that wait, and a resolver that does not answer', async (t) => {
  const dripping = await peer(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
    const timer = setInterval(() => socket.write('.'), 5);
    socket.on('close', () => clearInterval(timer));
  });
  const waiting = await peer(t, (socket) => void setTimeout(() => socket.end(FOUND('/again')), 100));
  const silent: Dns = { resolve: () => new Promise(() => {}) };
  const limits = { downloadMs: 300, redirects: 1_000 };
  for (const url of [
    `http://127.0.0.1:${dripping.port}/`,
    `http://127.0.0.1:${waiting.port}/`,
    'http://silent.test/',
  ]) {
    const client = clientOf(t, { dns: silent, limits });
    t.like(await client.download(downloading(url).request), { failure: 'timeout' }, url);
  }
  const gone = new AbortController();
  const client = clientOf(t, { dns: silent });
  const given = client.download(downloading('http://silent.test/', gone.signal).request);
  gone.abort();
  t.like(await given, { failure: 'aborted' });
});

test('the time of a download begins with its turn', async (t) => {
  let answer = () => {};
  const server = await peer(t, (socket, text) => {
    if (text.startsWith('POST')) answer = () => socket.end(OK);
    else socket.end(OK);
  });
  // A busy machine may take a while for the answer in its turn.
  const limits = { downloadMs: 5_000, requestsPerAccount: 1, answerMs: 60_000 };
  const client = clientOf(t, { limits });
  const url = `http://127.0.0.1:${server.port}/`;
  const before = client.post({ url, accountId: 'a', headers: {}, body: 'x' });
  const { request, text } = downloading(url);
  const download = client.download(request);
  // It waits for longer than it may take.
  await new Promise((resolve) => setTimeout(resolve, limits.downloadMs + 500));
  t.is(server.connections, 1);
  answer();
  t.like(await before, { status: 200 });
  t.like(await download, { status: 200, isWhole: true });
  t.is(text(), 'ok');
});

test('a body that is cut off is not whole, one that is not wanted is not read on', async (t) => {
  const short = await peer(t, (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'));
  const chunked = await peer(t, (socket) =>
    socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nshort\r\n'),
  );
  for (const { port } of [short, chunked]) {
    const { request, text } = downloading(`http://127.0.0.1:${port}/`);
    t.like(await clientOf(t).download(request), { status: 200, isWhole: false });
    t.is(text(), 'short');
  }
  const endless = await peer(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const more = (): void => {
      while (!socket.destroyed && socket.write('z'.repeat(65_536)));
    };
    socket.on('drain', more);
    more();
  });
  let octets = 0;
  const take = (piece: Uint8Array) => {
    octets += piece.length;
    return octets < 1_000_000;
  };
  const { request } = downloading(`http://127.0.0.1:${endless.port}/`);
  t.like(await clientOf(t).download({ ...request, take }), { status: 200, isWhole: false });
  t.true(octets < 2_000_000);
});

test('URLs of the web have the usual ports, no user and a public host', (t) => {
  for (const url of [
    'http://a.example.org/x',
    'https://a.example.org:443/',
    'http://a.example.org:443/',
    'https://8.8.8.8:80/',
  ])
    t.is(webUrlFault(url, false), undefined, url);
  const refused = [
    ...['nonsense', 'ftp://a.example.org/', 'data:,x', 'https://a.example.org:8443/', 'http://a.example.org:25/'],
    ...['https://user@a.example.org/', 'http://127.0.0.1/', 'http://[::1]/', 'http://localhost/', 'http://intranet/'],
    ...['http://169.254.169.254/latest', 'http://db.internal/', `http://a.example.org/${'x'.repeat(2048)}`],
  ];
  for (const url of refused) t.not(webUrlFault(url, false), undefined, url);
  t.is(webUrlFault('http://localhost:8080/', true), undefined);
});
