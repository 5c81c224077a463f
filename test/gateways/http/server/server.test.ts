// Tests the server against misbehaving clients: ambiguous heads, slow and endless bodies, readers that leave or stall.
import net from 'node:net';
import { binary, defineRoute } from '../../../../src/gateways/http/route.js';
import { startHttp } from '../../../../src/gateways/http/server/server.js';
import { explain, listenFailure } from '../../../../src/node/start-failure.js';
import { deferred } from '../../../support/deferred.js';
import test from '../../../support/test.js';
import { ALICE, FakeLog } from '../fakes.js';
import { closed, exchangeBytes, startGateway } from '../gateway.js';
import { addMail } from '../mail-fixture.js';

const ID = '018f0000-0000-7000-8000-000000000001';
const complete = (got: string): boolean => /\r\n\r\n/.test(got) && got.endsWith('}');

test('the real port is told, and a taken one is an error that says so', async (t) => {
  const { server, port } = await startGateway(t);
  t.is(server.address, `127.0.0.1:${port}`);
  t.true(port > 0);
  const again = startHttp({
    bind: '127.0.0.1',
    port,
    handler: async () => t.fail() as never,
    webSockets: [],
    log: new FakeLog(),
  });
  const error = await t.throwsAsync(again, { code: 'EADDRINUSE' });
  const explained = listenFailure(error, { name: 'HTTP', variable: 'MANSIO_HTTP_PORT', bind: '127.0.0.1', port });
  t.is(
    explain(explained),
    `HTTP cannot listen on port ${port} of 127.0.0.1: the port is in use; set MANSIO_HTTP_PORT to another, to 0 for any, or to off`,
  );
});

test('servers that share a port each get connections, and take the port from nobody else', async (t) => {
  const served = [0, 0];
  const start = (place: number, port: number, shared: number | undefined) =>
    startHttp({
      bind: '127.0.0.1',
      port,
      sharing: { port: shared },
      handler: async () => {
        served[place]!++;
        return { status: 204, headers: [], body: Buffer.alloc(0) };
      },
      webSockets: [],
      log: new FakeLog(),
    });
  const first = await start(0, 0, undefined);
  t.teardown(() => first.stop(0));
  const port = Number(first.address.replace(/^.*:/, ''));
  await t.throwsAsync(start(1, port, undefined), { code: 'EADDRINUSE' }, 'the first of others does not join');
  const second = await start(1, 0, port);
  t.is(second.address, first.address);
  const ask = () => exchangeBytes(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', closed);
  while (served.includes(0)) t.regex(await ask(), /^HTTP\/1\.1 204 /);
  await second.stop(0);
  for (let i = 0; i < 10; i++) t.regex(await ask(), /^HTTP\/1\.1 204 /);
});

test('an address that is not ours is told from a port in use', async (t) => {
  const options = { port: 0, handler: async () => t.fail() as never, webSockets: [], log: new FakeLog() };
  await t.throwsAsync(startHttp({ ...options, bind: '192.0.2.1' }), { code: 'EADDRNOTAVAIL' });
});

test('heads that can be read two ways are refused', async (t) => {
  const { port } = await startGateway(t);
  const heads = [
    'Content-Length: 2\r\nContent-Length: 5',
    'Content-Length: 2\r\nContent-Length: 2',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: identity',
    'Transfer-Encoding: chunked\r\nContent-Length: 2',
    'Content-Length: +2',
    'Content-Length: 2, 2',
    'Content-Length: -2',
    'Content-Length: 0x2',
    'Host: other\r\nContent-Length: 2',
    'Authorization: Bearer a\r\nContent-Length: 2\r\nAuthorization: Bearer b',
  ];
  for (const head of heads) {
    const got = await exchangeBytes(
      port,
      `POST /api/emails/bulk/delete HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n{}`,
      closed,
    );
    t.regex(got, /^HTTP\/1\.1 400 /, head);
    t.is(got.match(/HTTP\/1\.1/g)?.length, 1, head);
  }
});

test('heads that are too large are refused', async (t) => {
  const { port } = await startGateway(t);
  const get = (target: string, fields: string) =>
    exchangeBytes(port, `GET ${target} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`, closed);
  t.regex(await get('/healthz', `X: ${'a'.repeat(17_000)}\r\n`), /^HTTP\/1\.1 431 /);
  t.regex(await get('/healthz', `${`X: ${'a'.repeat(400)}\r\n`.repeat(50)}`), /^HTTP\/1\.1 431 /);
  t.regex(await get(`/${'a'.repeat(9000)}`, ''), /^HTTP\/1\.1 414 /);
  t.regex(await get(`/healthz?${'a'.repeat(9000)}`, ''), /^HTTP\/1\.1 414 /);
});

test('a head in pieces may be as large as one in a piece', async (t) => {
  const { port } = await startGateway(t);
  const socket = net.connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  const answer = new Promise<Buffer>((resolve) => socket.once('data', resolve));
  socket.setNoDelay();
  for (const piece of [
    'GET /api/config HTTP/1.1\r\nHost: x\r\n',
    `X: ${'a'.repeat(7000)}`,
    'b'.repeat(7000),
    '\r\n\r\n',
  ]) {
    await new Promise((resolve) => socket.write(piece, resolve));
    // Once the server has answered another client, it has read the earlier octets.
    await exchangeBytes(port, 'GET /api/config HTTP/1.1\r\nHost: x\r\n\r\n', complete);
  }
  t.regex((await answer).toString(), /^HTTP\/1\.1 200 /);
});

test('a connection is kept, after HEAD and refusals too', async (t) => {
  const { port } = await startGateway(t);
  const socket = net.connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  const requests = [
    ['HEAD /api/config', /^HTTP\/1\.1 200 .*Content-Length: \d+\r\n.*\r\n\r\n$/s],
    ['GET /api/nothing', /^HTTP\/1\.1 404 .*}$/s],
    ['OPTIONS /api/emails', /^HTTP\/1\.1 204 .*\r\n\r\n$/s],
    ['GET /api/config', /^HTTP\/1\.1 200 .*}$/s],
  ] as const;
  for (const [request, reply] of requests) {
    const got = await new Promise<string>((resolve) => {
      let text = '';
      const take = (chunk: Buffer): void => {
        text += chunk.toString();
        if (!reply.test(text)) return;
        socket.off('data', take);
        resolve(text);
      };
      socket.on('data', take);
      socket.write(`${request} HTTP/1.1\r\nHost: x\r\n\r\n`);
    });
    t.regex(got, reply);
  }
});

test('a body in chunks is collected, one that is too long is refused however it comes', async (t) => {
  const { port, key } = await startGateway(t);
  const head = `POST /api/emails/bulk/delete HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${key}\r\nContent-Type: application/json\r\n`;
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n6\r\n{"emai\r\n9\r\nlIds":[]}\r\n0\r\n\r\n`;
  t.regex(await exchangeBytes(port, chunked, complete), /^HTTP\/1\.1 200 .*{"count":0}$/s);
  const piece = `10000\r\n${' '.repeat(0x10000)}\r\n`;
  t.regex(
    await exchangeBytes(port, `${head}Transfer-Encoding: chunked\r\n\r\n${piece.repeat(40)}`, closed),
    /^HTTP\/1\.1 413 /,
  );
  t.regex(await exchangeBytes(port, `${head}Content-Length: 999999999\r\n\r\n`, closed), /^HTTP\/1\.1 413 /);
});

test('a body nobody waits for does not disturb the reply', async (t) => {
  const { port } = await startGateway(t);
  const body = ' '.repeat(2 * 1024 * 1024);
  const head = 'POST /api/emails/bulk/delete HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  t.regex(
    await exchangeBytes(port, `${head}Content-Length: ${body.length}\r\n\r\n${body}`, complete),
    /^HTTP\/1\.1 401 /,
  );
});

test('a body that comes before anybody wants it waits, and is whole then', async (t) => {
  const gateway = await startGateway(t);
  const gate = deferred();
  gateway.directory.gate = gate.promise;
  const ids = Array.from({ length: 1000 }, (_, i) => `018f0000-0000-7000-8000-${String(i).padStart(12, '0')}`);
  const json = { emailIds: ids, padding: 'x'.repeat(900_000) };
  const reply = gateway.fetch('/api/emails/bulk/delete', { method: 'POST', json });
  for (let i = 0; i < 20; i++) t.is((await gateway.fetch('/api/config', { key: null })).status, 200);
  gate.resolve();
  t.is((await reply).status, 200);
  t.deepEqual(gateway.mailboxes.asked.at(-1)?.payload, { emailIds: ids });
});

test('a body far over the limit still gets its reply', async (t) => {
  const { fetch } = await startGateway(t);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch('/api/emails/bulk/delete', {
    method: 'POST',
    headers,
    body: Buffer.alloc(20 * 1024 * 1024, 32),
  });
  t.is(response.status, 413);
});

test('a body that does not come is cut off', async (t) => {
  const { port, key } = await startGateway(t, { limits: { bodyMs: 50, bodyRate: 1e9 } });
  const head = `POST /api/emails/bulk/delete HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  t.regex(await exchangeBytes(port, `${head}Content-Length: 15\r\n\r\n{"emailIds"`, closed), /^HTTP\/1\.1 408 /);
});

test('the time for a body goes by its size, not by what the endpoint would take', async (t) => {
  const { port, key } = await startGateway(t, { limits: { bodyMs: 50, bodyRate: 100 } });
  const head = `POST /api/outbound/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  t.regex(await exchangeBytes(port, `${head}Content-Length: 15\r\n\r\n{"subject"`, closed), /^HTTP\/1\.1 408 /);
});

test('a client that leaves in the middle of its body or of the handler leaves nothing behind', async (t) => {
  const reached = deferred();
  const gone = deferred();
  const waits = defineRoute({
    method: 'GET',
    path: '/waits',
    summary: '',
    tags: [],
    access: 'public',
    replies: { 200: binary('text/plain') },
    handler: async ({ aborted }) => {
      aborted.addEventListener('abort', () => gone.resolve());
      reached.resolve();
      await gone.promise;
      return { status: 200, stream: { length: null, chunks: one(Buffer.from('late')) } };
    },
  });
  const gateway = await startGateway(t, { extra: [waits] });
  const { port, key } = gateway;
  const socket = net.connect(port, '127.0.0.1');
  socket.write('GET /waits HTTP/1.1\r\nHost: x\r\n\r\n');
  await reached.promise;
  socket.destroy();
  await gone.promise;
  const half = net.connect(port, '127.0.0.1');
  half.end(
    `POST /api/emails/bulk/delete HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
  );
  await new Promise((resolve) => half.on('close', resolve));
  t.is((await gateway.fetch('/healthz')).status, 200);
  await gateway.server.stop(5000);
});

async function* one(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}

test('a stream of unknown length goes out in chunks', async (t) => {
  const route = defineRoute({
    method: 'GET',
    path: '/numbers',
    summary: '',
    tags: [],
    access: 'public',
    replies: { 200: binary('text/plain') },
    handler: async () => ({ status: 200, stream: { length: null, chunks: numbers() } }),
  });
  async function* numbers(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(0);
    for (let i = 0; i < 300; i++) yield Buffer.from(`${i},`.repeat(10_000));
  }
  const gateway = await startGateway(t, { extra: [route] });
  let expected = 0;
  for (let i = 0; i < 300; i++) expected += `${i},`.length * 10_000;
  const response = await gateway.fetch('/numbers');
  t.is(response.headers.get('content-length'), null);
  t.is((await response.arrayBuffer()).byteLength, expected);
});

const BIG = 50 * 1024 * 1024;

test('a reader that stalls holds the stream back, and leaves nothing when it goes', async (t) => {
  const gateway = await startGateway(t);
  const { blobs, mailboxes, port, key } = gateway;
  addMail(mailboxes, blobs, ALICE, { id: ID, text: 'x'.repeat(BIG) });
  const left = new Promise<void>((resolve) => {
    blobs.onEnd = resolve;
  });
  const socket = net.connect(port, '127.0.0.1');
  await new Promise<void>((resolve) => {
    socket.once('readable', resolve);
    socket.write(`GET /api/emails/${ID}/export/eml HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  });
  // Other requests are served meanwhile; after them the stream has stopped, as nobody reads it.
  for (let i = 0; i < 20; i++) t.is((await gateway.fetch('/api/config', { key: null })).status, 200);
  t.true(blobs.pulled < BIG / 2, `${blobs.pulled} octets pulled`);
  socket.destroy();
  await left;
  t.is(blobs.left, 1);
  t.is(blobs.finished, 0);
  t.is(gateway.log.lines.filter(({ level }) => level === 'error').length, 0);
});

test('a reader that takes nothing loses the connection', async (t) => {
  const gateway = await startGateway(t, { limits: { stallMs: 100 } });
  const { blobs, mailboxes, port, key } = gateway;
  addMail(mailboxes, blobs, ALICE, { id: ID, text: 'x'.repeat(BIG) });
  const left = new Promise<void>((resolve) => {
    blobs.onEnd = resolve;
  });
  const socket = net.connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.pause();
  socket.on('error', () => {});
  socket.write(`GET /api/emails/${ID}/export/eml HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await left;
  t.is(blobs.left, 1);
});

test('a reader that is merely slow gets all of it', async (t) => {
  const { blobs, mailboxes, fetch } = await startGateway(t);
  addMail(mailboxes, blobs, ALICE, { id: ID, text: 'abcdefghij'.repeat(1_000_000) });
  const response = await fetch(`/api/emails/${ID}/export/eml`);
  const parts: Uint8Array[] = [];
  for await (const chunk of response.body!) {
    parts.push(chunk as Uint8Array);
    await new Promise(setImmediate);
  }
  const { bytes } = [...blobs.blobs.values()][0]!;
  t.true(Buffer.concat(parts).equals(bytes));
  t.is(blobs.finished, 1);
});

test('a stream that breaks closes the connection', async (t) => {
  const { blobs, mailboxes, fetch, log } = await startGateway(t);
  addMail(mailboxes, blobs, ALICE, { id: ID, text: 'x'.repeat(BIG) });
  blobs.failAfter = BIG / 2;
  const response = await fetch(`/api/emails/${ID}/export/eml`);
  t.is(response.status, 200);
  await t.throwsAsync(response.arrayBuffer());
  t.is(log.lines.filter(({ text }) => text === 'reply broken off').length, 1);
});

test('a stop lets replies end, then closes what is left', async (t) => {
  const reached = deferred();
  const go = deferred();
  const route = defineRoute({
    method: 'GET',
    path: '/slow',
    summary: '',
    tags: [],
    access: 'public',
    replies: { 200: binary('text/plain') },
    handler: async () => {
      reached.resolve();
      await go.promise;
      return { status: 200, stream: { length: 4, chunks: one(Buffer.from('done')) } };
    },
  });
  const gateway = await startGateway(t, { extra: [route] });
  const reply = gateway.fetch('/slow', { key: null }).then((response) => response.text());
  await reached.promise;
  const stopped = gateway.server.stop(60_000);
  await t.throwsAsync(new Promise((_, reject) => net.connect(gateway.port, '127.0.0.1').on('error', reject)), {
    message: /ECONNREFUSED/,
  });
  go.resolve();
  t.is(await reply, 'done');
  await stopped;
});

test('a stop does not wait for ever', async (t) => {
  const reached = deferred();
  const route = defineRoute({
    method: 'GET',
    path: '/never',
    summary: '',
    tags: [],
    access: 'public',
    replies: { 200: binary('text/plain') },
    handler: async ({ aborted }) => {
      reached.resolve();
      await new Promise((resolve) => aborted.addEventListener('abort', resolve));
      return { status: 200, stream: { length: 0, chunks: one(new Uint8Array(0)) } };
    },
  });
  const gateway = await startGateway(t, { extra: [route] });
  const reply = t.throwsAsync(gateway.fetch('/never', { key: null }));
  await reached.promise;
  await gateway.server.stop(20);
  await reply;
});
