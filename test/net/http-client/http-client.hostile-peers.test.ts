// Tests the guarded HTTP client with servers that are slow, endless, silent or wrong: every request ends within its limits.
import { setImmediate } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import type { HttpClientLimits } from '../../../src/net/http-client/limits.js';
import test from '../../support/test.js';
import { clientOf, OK, peer } from './peers.js';

/** These limits are for peers that do not answer; others have the default times. */
const IMPATIENT: Partial<HttpClientLimits> = { answerMs: 300 };

const post = (url: string, accountId = 'a', signal?: AbortSignal) => ({
  url,
  accountId,
  headers: {},
  body: '{}',
  signal,
});

/** Resolves when the condition holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate();
}

async function tried(t: ExecutionContext, serve: Parameters<typeof peer>[1], limits: Partial<HttpClientLimits> = {}) {
  const server = await peer(t, serve);
  const outcome = await clientOf(t, { limits }).post(post(`http://127.0.0.1:${server.port}/`));
  // No connection is kept.
  await until(() => server.open === 0);
  return outcome;
}

test('a server that says nothing', async (t) => {
  t.like(await tried(t, () => {}, IMPATIENT), { failure: 'timeout' });
});

test('a server that takes no TLS handshake', async (t) => {
  const server = await peer(t, () => {});
  const limits = { connectMs: 300 };
  t.like(await clientOf(t, { limits }).post(post(`https://127.0.0.1:${server.port}/`)), { failure: 'timeout' });
  await until(() => server.open === 0);
});

test('a header that never ends: octet by octet, at once, and as interim answers', async (t) => {
  const slowly = await tried(
    t,
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx: ');
      const timer = setInterval(() => socket.write('x'), 5);
      socket.on('close', () => clearInterval(timer));
    },
    IMPATIENT,
  );
  t.like(slowly, { failure: 'timeout' });
  const atOnce = await tried(t, (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(100_000)}`);
  });
  t.like(atOnce, { failure: 'answer' });
  const interim = await tried(
    t,
    (socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5);
      socket.on('close', () => clearInterval(timer));
    },
    IMPATIENT,
  );
  t.like(interim, { failure: 'timeout' });
});

test('a body that never ends is cut, and its status counts', async (t) => {
  const endless = await tried(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const more = (): void => {
      while (!socket.destroyed && socket.write(`1000\r\n${'z'.repeat(4096)}\r\n`));
    };
    socket.on('drain', more);
    more();
  });
  t.like(endless, { status: 200, excerpt: 'z'.repeat(1024) });
  const slow = await tried(
    t,
    (socket) => {
      socket.write('HTTP/1.1 500 No\r\ncontent-length: 1000\r\n\r\nslow');
      const timer = setInterval(() => socket.write('.'), 5);
      socket.on('close', () => clearInterval(timer));
    },
    { bodyMs: 300 },
  );
  t.like(slow, { status: 500 });
  t.regex((slow as { excerpt: string }).excerpt, /^slow/);
});

test('a connection that closes: before the answer, in its header, in its body', async (t) => {
  t.like(await tried(t, (socket) => socket.destroy()), { failure: 'closed' });
  t.like(await tried(t, (socket) => socket.end('HTTP/1.1 200 O')), { failure: 'closed' });
  t.like(await tried(t, (socket) => socket.end('HTTP/1.1 410 Gone\r\ncontent-length: 100\r\n\r\nbye')), {
    status: 410,
    excerpt: 'bye',
  });
});

test('an answer counts, whatever comes behind it in the same segment', async (t) => {
  const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
  for (const more of ['x', answer, 'HTTP/1.1 500 No\r\n\r\n', '\0\0', 'HTTP/1.1 200 O']) {
    t.like(await tried(t, (socket) => socket.write(`${answer}${more}`)), { status: 200, excerpt: 'ok' }, more);
  }
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n';
  t.like(await tried(t, (socket) => socket.write(`${chunked}no size\r\n`)), { status: 200, excerpt: 'ok' });
});

test('an answer that is no HTTP', async (t) => {
  t.like(await tried(t, (socket) => socket.end('220 mx.example.test ESMTP\r\n')), { failure: 'answer' });
  t.like(await tried(t, (socket) => socket.end('HTTP/1.1 200 OK\r\nbad header\r\n\r\n')), { failure: 'answer' });
  t.like(
    await tried(t, (socket) => socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')),
    { failure: 'answer' },
  );
});

test('what servers say is shown without control characters', async (t) => {
  const outcome = await tried(t, (socket) =>
    socket.end('HTTP/1.1 500 No\r\ncontent-length: 12\r\n\r\n\x1b[2J\0\x07a\xffb\r\n!', 'latin1'),
  );
  t.like(outcome, { status: 500, excerpt: '[2J a\ufffdb !' });
});

test('nobody listens', async (t) => {
  const client = clientOf(t);
  // No program of a test machine listens on port 1 of loopback.
  t.like(await client.post(post('http://127.0.0.1:1/')), { failure: 'connection' });
});

test('a connection that its server closed while idle is not a failure', async (t) => {
  const asked: number[] = [];
  const server = await peer(t, (socket) => {
    asked.push(server.connections);
    // The first connection serves one request; the next one finds it closed.
    if (asked.length === 2) socket.resetAndDestroy();
    else socket.write(OK);
  });
  const client = clientOf(t, { limits: { idleMs: 60_000 } });
  const url = `http://127.0.0.1:${server.port}/`;
  t.like(await client.post(post(url)), { status: 200 });
  t.like(await client.post(post(url)), { status: 200 });
  t.deepEqual(asked, [1, 1, 2]);
});

test('one account and one host have their shares, and a request can be given up', async (t) => {
  const held: (() => void)[] = [];
  const slow = await peer(t, (socket) => {
    held.push(() => socket.write(OK));
  });
  const quick = await peer(t, (socket) => socket.write(OK));
  const limits = { requestsPerAccount: 2, connectionsPerHost: 2, waitingPerHost: 1 };
  const client = clientOf(t, { limits });
  const url = `http://127.0.0.1:${slow.port}/`;
  const first = [client.post(post(url)), client.post(post(url))];
  await until(() => held.length === 2);
  // Both the share of account a and that of the host are used up.
  const gaveUp = new AbortController();
  const third = client.post(post(`http://127.0.0.1:${quick.port}/`, 'a', gaveUp.signal));
  const waiting = client.post(post(url, 'b'));
  t.like(await client.post(post(url, 'b')), { failure: 'busy' });
  t.like(await client.post(post(`http://127.0.0.1:${quick.port}/`, 'c')), { status: 200 });
  t.is(quick.connections, 1);
  gaveUp.abort();
  t.like(await third, { failure: 'aborted' });
  for (const answer of held.splice(0)) answer();
  for (const outcome of await Promise.all(first)) t.like(outcome, { status: 200 });
  await until(() => held.length === 1);
  held[0]!();
  t.like(await waiting, { status: 200 });
});

test('a request under way is given up at once', async (t) => {
  const gaveUp = new AbortController();
  const server = await peer(t, () => gaveUp.abort());
  const outcome = await clientOf(t).post(post(`http://127.0.0.1:${server.port}/`, 'a', gaveUp.signal));
  t.like(outcome, { failure: 'aborted' });
  await until(() => server.open === 0);
});

test('no more idle connections are kept than may be', async (t) => {
  const servers = await Promise.all([1, 2, 3, 4].map(() => peer(t, (socket) => socket.write(OK))));
  const client = clientOf(t, { limits: { idle: 2, idleMs: 60_000 } });
  for (const { port } of servers) t.like(await client.post(post(`http://127.0.0.1:${port}/`)), { status: 200 });
  await until(() => servers.filter(({ open }) => open > 0).length === 2);
  t.pass();
});
