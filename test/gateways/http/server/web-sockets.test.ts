// Tests the WebSocket seam on real sockets: late or refused upgrades, frames of one tick in one write, bounded
// buffers, and a close from either side that is reported exactly once.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { defineRoute, EMPTY } from '../../../../src/gateways/http/route.js';
import { LateUpgrade } from '../../../../src/gateways/http/server/late-upgrade.js';
import type {
  EndpointRequest,
  HttpAnswer,
  Socket,
  SocketListener,
  UpgradeDecision,
  UpgradeRequest,
  WebSocketEndpoint,
} from '../../../../src/gateways/web-socket.js';
import test from '../../../support/test.js';
import { FakeLog } from '../fakes.js';
import { closed, deferred, exchangeBytes, type Gateway, startGateway } from '../gateway.js';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** Accepts every socket and records what happens on it. */
class FakeEndpoint implements WebSocketEndpoint {
  readonly maxMessageBytes = 1024;
  readonly requests: UpgradeRequest[] = [];
  readonly events: string[] = [];
  readonly opened = deferred();
  readonly ended = deferred();
  before: Promise<void> = Promise.resolve();
  socket: Socket | undefined;
  /** It is sent as soon as a socket is accepted. */
  greeting: Uint8Array | undefined;

  upgrade(request: UpgradeRequest): UpgradeDecision | Promise<UpgradeDecision> {
    this.requests.push(request);
    if (request.query.includes('at-once')) return this.#decision(request);
    return this.before.then(() => this.#decision(request));
  }

  #decision(request: UpgradeRequest): UpgradeDecision {
    if (request.query.includes('refuse')) return { status: 401, headers: { 'WWW-Authenticate': 'Bearer' }, body: 'no' };
    if (request.query.includes('throw')) throw new Error('boom');
    return (socket) => {
      if (request.query.includes('fail')) throw new Error('not taken');
      this.socket = socket;
      if (this.greeting !== undefined) socket.send(this.greeting);
      this.opened.resolve();
      return this.#listener();
    };
  }

  async exchange({ method, header, body, aborted }: EndpointRequest): Promise<HttpAnswer> {
    aborted.addEventListener('abort', () => {
      this.events.push('aborted');
      this.ended.resolve();
    });
    if (method === 'POST') return { status: 200, body: await body(10) };
    if (method === 'DELETE') return { status: 202 };
    const finished = (isSent: boolean) => void this.events.push(`finished ${isSent}`);
    if (header('accept') !== 'text/event-stream') return { status: 204, finished };
    const opened = this.opened;
    async function* pieces() {
      yield Buffer.from('first ');
      await opened.promise;
      yield Buffer.from('second');
    }
    return { status: 200, headers: { 'Content-Type': 'text/event-stream' }, body: pieces(), finished };
  }

  async negotiate(request: UpgradeRequest) {
    return { status: 200, headers: { 'Content-Type': 'application/json' }, body: `{"q":"${request.query}"}` };
  }

  #listener(): SocketListener {
    return {
      message: (data, isBinary) => {
        this.events.push(`${isBinary ? 'binary' : 'text'} ${Buffer.from(data)}`);
        if (data.length === 0) throw new Error('cannot take nothing');
      },
      pinged: () => this.events.push('pinged'),
      drained: () => this.events.push('drained'),
      closed: (code) => {
        this.events.push(`closed ${code}`);
        this.ended.resolve();
      },
    };
  }
}

async function start(t: ExecutionContext, socketBufferBytes = 1024 * 1024): Promise<[FakeEndpoint, Gateway]> {
  const endpoint = new FakeEndpoint();
  const webSockets = [{ path: '/hubs/email', endpoint }];
  return [endpoint, await startGateway(t, { webSockets, limits: { socketBufferBytes } })];
}

const handshake = (query = ''): string =>
  `GET /hubs/email${query} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Token: t\r\n` +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`;

/** A frame of a client: a short payload, masked with zeros (RFC 6455 §5.2). */
const frame = (opcode: number, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);

async function connect(t: ExecutionContext, gateway: Gateway, endpoint: FakeEndpoint): Promise<net.Socket> {
  const socket = net.connect(gateway.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  const answered = new Promise<Buffer>((resolve) => socket.once('data', resolve));
  socket.write(handshake());
  const answer = (await answered).toString('latin1');
  t.regex(answer, /^HTTP\/1\.1 101 /);
  const accept = createHash('sha1').update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  t.true(answer.includes(accept));
  await endpoint.opened.promise;
  return socket;
}

test('an upgrade is decided with what the request said, and may be refused', async (t) => {
  const [endpoint, { port, log }] = await start(t);
  t.regex(
    await exchangeBytes(port, handshake('?refuse=1'), closed),
    /^HTTP\/1\.1 401 .*WWW-Authenticate: Bearer.*no$/s,
  );
  t.is(endpoint.requests[0]?.path, '/hubs/email');
  t.is(endpoint.requests[0]?.query, 'refuse=1');
  t.is(endpoint.requests[0]?.header('x-token'), 't');
  t.is(endpoint.requests[0]?.header('absent'), '');
  t.is(endpoint.requests[0]?.remoteAddress, '127.0.0.1');
  t.regex(await exchangeBytes(port, handshake('?throw=1'), closed), /^HTTP\/1\.1 500 /);
  t.is(log.lines.filter(({ level }) => level === 'error').length, 1);
  t.notRegex(JSON.stringify(log.lines), /throw=1/);
});

test('an upgrade that is decided at once is answered in one piece', async (t) => {
  const [endpoint, gateway] = await start(t);
  endpoint.greeting = Buffer.from('hello');
  const socket = net.connect(gateway.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  const pieces: Buffer[] = [];
  socket.on('data', (piece) => pieces.push(piece));
  socket.write(handshake('?at-once=1'));
  while (!Buffer.concat(pieces).includes('hello')) await once(socket, 'data');
  t.regex(pieces[0]!.toString('latin1'), /^HTTP\/1\.1 101 .*\r\n\r\n/s, 'the head is whole');
  socket.write(frame(1, Buffer.from('answer')));
  socket.end();
  await endpoint.ended.promise;
  t.is(endpoint.events[0], 'text answer');
});

test('an upgrade may be refused, or fail, at once', async (t) => {
  const [, { port, log }] = await start(t);
  t.regex(await exchangeBytes(port, handshake('?at-once=refuse'), closed), /^HTTP\/1\.1 401 .*no$/s);
  t.regex(await exchangeBytes(port, handshake('?at-once=throw'), closed), /^HTTP\/1\.1 500 /);
  t.is(log.lines.filter(({ level }) => level === 'error').length, 1);
});

test('negotiate and plain requests are answered by the endpoint, and other methods are told those that there are', async (t) => {
  const [, gateway] = await start(t);
  const negotiated = await gateway.fetch('/hubs/email/negotiate?negotiateVersion=1', { method: 'POST' });
  t.is(negotiated.status, 200);
  t.deepEqual(await negotiated.json(), { q: 'negotiateVersion=1' });
  t.is((await gateway.fetch('/hubs/email/negotiate')).status, 405);
  const posted = await gateway.fetch('/hubs/email', { method: 'POST', body: '0123456789' });
  t.is(await posted.text(), '0123456789');
  t.is((await gateway.fetch('/hubs/email', { method: 'POST', body: '0123456789a' })).status, 413);
  t.is((await gateway.fetch('/hubs/email', { method: 'DELETE' })).status, 202);
  t.is((await gateway.fetch('/hubs/email')).status, 204);
  const put = await gateway.fetch('/hubs/email', { method: 'PUT' });
  t.is(put.status, 405);
  t.is(put.headers.get('allow'), 'GET, POST, DELETE, OPTIONS');
  const options = await gateway.fetch('/hubs/email', { method: 'OPTIONS' });
  t.is(options.status, 204);
  t.is(options.headers.get('allow'), 'GET, POST, DELETE, OPTIONS');
});

const EVENT_STREAM = { accept: 'text/event-stream' };

test('a stream of an endpoint leaves piece by piece, and the endpoint learns of its end', async (t) => {
  const [endpoint, gateway] = await start(t);
  const { body, headers } = await gateway.fetch('/hubs/email', { headers: EVENT_STREAM });
  t.is(headers.get('content-type'), 'text/event-stream');
  const reader = body!.getReader();
  t.is(Buffer.from((await reader.read()).value!).toString(), 'first ');
  endpoint.opened.resolve();
  t.is(Buffer.from((await reader.read()).value!).toString(), 'second');
  t.true((await reader.read()).done);
  t.deepEqual(endpoint.events, ['finished true']);
});

test('a client that leaves a stream is noticed at once', async (t) => {
  const [endpoint, gateway] = await start(t);
  const leaving = new AbortController();
  const { body } = await gateway.fetch('/hubs/email', { headers: EVENT_STREAM, signal: leaving.signal });
  await body!.getReader().read();
  leaving.abort();
  await endpoint.ended.promise;
  t.deepEqual(endpoint.events, ['aborted']);
});

test('messages reach the listener; frames of one tick leave in one write, in order', async (t) => {
  const [endpoint, gateway] = await start(t);
  const socket = await connect(t, gateway, endpoint);
  const received = new Promise<Buffer>((resolve) => socket.once('data', resolve));
  t.true(endpoint.socket!.send(Buffer.from('one')));
  await Promise.resolve();
  t.true(endpoint.socket!.send(Buffer.from('zwö')));
  t.is(endpoint.socket!.bufferedBytes(), 7);
  endpoint.socket!.close(1001, 'bye');
  t.false(endpoint.socket!.send(Buffer.from('late')));
  const bytes = await received;
  const expected = [
    Buffer.from([0x81, 3]),
    'one',
    Buffer.from([0x81, 4]),
    'zwö',
    Buffer.from([0x88, 5, 0x03, 0xe9]),
    'bye',
  ];
  t.deepEqual(bytes, Buffer.concat(expected.map((part) => Buffer.from(part as string))));
  await endpoint.ended.promise;
  t.deepEqual(endpoint.events, ['closed 1001']);
  t.false(endpoint.socket!.send(Buffer.from('later')));
  t.is(endpoint.socket!.bufferedBytes(), 0);
  endpoint.socket!.close(1000, '');
  endpoint.socket!.terminate();
});

test('text, binary and the end of a client are told', async (t) => {
  const [endpoint, gateway] = await start(t);
  const socket = await connect(t, gateway, endpoint);
  socket.write(
    Buffer.concat([
      frame(1, Buffer.from('hé')),
      frame(2, Buffer.from('raw')),
      frame(9, Buffer.from('p')),
      frame(8, Buffer.from([0x03, 0xe8])),
    ]),
  );
  await endpoint.ended.promise;
  t.deepEqual(endpoint.events, ['text hé', 'binary raw', 'pinged', 'closed 1000']);
});

test('a message over the limit and a client that vanishes close the socket once', async (t) => {
  const [endpoint, gateway] = await start(t);
  const socket = await connect(t, gateway, endpoint);
  socket.write(Buffer.concat([Buffer.from([0x82, 0xfe, 0x08, 0x00, 0, 0, 0, 0]), Buffer.alloc(2048)]));
  await endpoint.ended.promise;
  t.deepEqual(endpoint.events, ['closed 1006']);
  const [second, other] = await start(t);
  (await connect(t, other, second)).destroy();
  await second.ended.promise;
  t.deepEqual(second.events, ['closed 1006']);
});

test('a client that does not read is disconnected when its buffer is full', async (t) => {
  const limit = 256 * 1024;
  const [endpoint, gateway] = await start(t, limit);
  const socket = await connect(t, gateway, endpoint);
  socket.pause();
  const text = Buffer.alloc(64 * 1024, 'x');
  let most = 0;
  while (endpoint.socket!.send(text)) {
    most = Math.max(most, endpoint.socket!.bufferedBytes());
    await new Promise(setImmediate);
  }
  await endpoint.ended.promise;
  // One message may exceed the limit while another is in the cork of its tick.
  t.true(most <= limit + 2 * text.length, `${most} octets buffered`);
  t.deepEqual(
    endpoint.events.filter((event) => event !== 'drained'),
    ['closed 1006'],
  );
});

test('what the kernel has not taken counts as buffered until the client has read it', async (t) => {
  const [endpoint, gateway] = await start(t, 16 * 1024 * 1024);
  const socket = await connect(t, gateway, endpoint);
  const text = Buffer.alloc(64 * 1024, 'x');
  const flushed = () => new Promise(setImmediate);
  t.true(endpoint.socket!.send(text));
  await flushed();
  await once(socket, 'data');
  t.is(endpoint.socket!.bufferedBytes(), 0);
  socket.pause();
  let sent = 0;
  do {
    t.true(endpoint.socket!.send(text));
    sent += text.length;
    await flushed();
  } while (endpoint.socket!.bufferedBytes() < 8 * text.length);
  t.true(endpoint.socket!.bufferedBytes() <= sent + text.length);
  const before = endpoint.socket!.bufferedBytes();
  t.true(endpoint.socket!.send(text));
  t.is(endpoint.socket!.bufferedBytes(), before + text.length);
  socket.resume();
  while (endpoint.socket!.bufferedBytes() > 0) await once(socket, 'data');
  t.true(endpoint.events.includes('drained'));
});

test('the frames of one tick for several sockets reach each of them, beside one that ends in the same tick', async (t) => {
  const [endpoint, gateway] = await start(t);
  const clients: net.Socket[] = [];
  const sockets: Socket[] = [];
  for (let i = 0; i < 4; i++) {
    clients.push(await connect(t, gateway, endpoint));
    sockets.push(endpoint.socket!);
  }
  t.is(new Set(sockets).size, 4);
  const received = clients.map((client) => once(client, 'data') as Promise<[Buffer]>);
  const ended = once(clients[1]!, 'close');
  for (const [i, socket] of sockets.entries()) t.true(socket.send(Buffer.from(`for ${i}`)));
  sockets[1]!.terminate();
  sockets[2]!.send(Buffer.from('more'));
  await ended;
  const [first, third, fourth] = await Promise.all([received[0]!, received[2]!, received[3]!]);
  const text = (words: string) => Buffer.concat([Buffer.from([0x81, words.length]), Buffer.from(words)]);
  t.deepEqual(first[0], text('for 0'));
  t.deepEqual(third[0], Buffer.concat([text('for 2'), text('more')]));
  t.deepEqual(fourth[0], text('for 3'));
  t.deepEqual(endpoint.events, ['closed 1006']);
});

test('frames for hundreds of sockets leave in stretches, in order, and others are served in between', async (t) => {
  const [endpoint, gateway] = await start(t);
  const sockets: Socket[] = [];
  const clients: net.Socket[] = [];
  for (let i = 0; i <= 400; i++) {
    clients.push(await connect(t, gateway, endpoint));
    sockets.push(endpoint.socket!);
  }
  const other = sockets.shift()!;
  clients.shift();
  const [last, beforeLast] = [sockets.at(-1)!, sockets.at(-2)!];
  const large = Buffer.alloc(100_000, '💌');
  const isWaiting = (socket: Socket) => socket.bufferedBytes() > 0;
  const octets = clients.map(async (client, i) => {
    const wanted = 5 + (i === 399 ? 7 : 0) + (i === 398 ? 10 + large.length : 0);
    const pieces: Buffer[] = [];
    for (let length = 0; length < wanted; length += pieces.at(-1)!.length) pieces.push((await once(client, 'data'))[0]);
    return Buffer.concat(pieces);
  });
  for (const socket of sockets) socket.send(Buffer.from('all'));
  await new Promise(setImmediate);
  t.false(isWaiting(sockets[0]!));
  t.true(isWaiting(last));
  last.send(Buffer.from('later'));
  other.send(Buffer.from('other'));
  beforeLast.send(large);
  t.false(isWaiting(beforeLast), 'what is much does not wait');
  await new Promise((resolve) => process.nextTick(() => queueMicrotask(() => process.nextTick(resolve))));
  t.false(isWaiting(other));
  t.true(isWaiting(last));
  const all = Buffer.from('\x81\x03all', 'latin1');
  const received = await Promise.all(octets);
  t.deepEqual(received[399], Buffer.concat([all, Buffer.from('\x81\x05later', 'latin1')]));
  t.deepEqual(received[398]!.subarray(0, 5), all);
  t.deepEqual(received[398]!.subarray(-large.length), large);
  t.true(received.slice(0, 398).every((each) => each.equals(all)));
  t.false(isWaiting(last));
  t.true(endpoint.events.includes('drained'), 'who has waited looks again');
});

test('a client gone before the decision gets none', async (t) => {
  const [endpoint, gateway] = await start(t);
  const decision = deferred();
  endpoint.before = decision.promise;
  const socket = net.connect(gateway.port, '127.0.0.1');
  socket.write(handshake());
  while (endpoint.requests.length === 0) await gateway.fetch('/healthz');
  socket.destroy();
  for (let i = 0; i < 5; i++) await gateway.fetch('/healthz');
  decision.resolve();
  t.is((await gateway.fetch('/healthz')).status, 200);
  t.is(endpoint.socket, undefined);
});

test('a node that stops refuses upgrades and says when to come back', async (t) => {
  const reached = deferred();
  const slow = defineRoute({
    method: 'GET',
    path: '/slow',
    access: 'public',
    summary: '',
    tags: [],
    replies: { 204: EMPTY },
    handler: async () => {
      reached.resolve();
      await release.promise;
      return { status: 204 };
    },
  });
  const release = deferred();
  const webSockets = [{ path: '/hubs/email', endpoint: new FakeEndpoint() }];
  const { port, server, fetch: get } = await startGateway(t, { webSockets, extra: [slow] });
  const early = net.connect(port, '127.0.0.1');
  await once(early, 'connect');
  const answer = get('/slow', { key: null });
  await reached.promise;
  const stopped = server.stop(5000);
  const refused = once(early, 'data');
  early.write(handshake());
  t.regex(String((await refused)[0]), /^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n/s);
  release.resolve();
  t.is((await answer).status, 204);
  await stopped;
});

test('a late upgrade is never made within its own cork', (t) => {
  // uWebSockets has one cork at a time, and checks again after the callback which response holds it.
  let corked: object | undefined;
  class Response {
    readonly upgradedIn: (object | undefined)[] = [];
    gone = () => {};
    ended = false;
    cork(write: () => void) {
      if (corked !== undefined) return write();
      corked = this;
      write();
      corked = undefined;
    }
    onAborted(handler: () => void) {
      this.gone = handler;
    }
    close() {
      this.ended = true;
    }
    upgrade = () => {
      this.upgradedIn.push(corked);
    };
  }
  const quiet = new LateUpgrade(new FakeLog());
  const [response, anchor, next] = [new Response(), new Response(), new Response()];
  const late = () => quiet.run(response, response.upgrade);
  late();
  quiet.take(anchor);
  late();
  quiet.take(next);
  anchor.gone();
  late();
  next.gone();
  late();
  t.deepEqual(response.upgradedIn, [undefined, anchor, next, undefined]);
  t.true(anchor.ended);
});

test('late upgrades are quiet, and their sockets live', (t) => {
  const program = fileURLToPath(new URL('./upgrade-storm.js', import.meta.url));
  // glibc fills freed memory with an octet whose bits are those of a response that must be closed.
  const env = { ...process.env, GLIBC_TUNABLES: 'glibc.malloc.perturb=16' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, '2000'], { encoding: 'utf8', env });
  t.is(stderr, '');
  t.deepEqual(JSON.parse(stdout), { opened: 2000, ended: 0 });
  t.is(status, 0);
});

test('a stop closes the sockets that are left', async (t) => {
  const [endpoint, gateway] = await start(t);
  await connect(t, gateway, endpoint);
  await gateway.server.stop(1000);
  await endpoint.ended.promise;
  t.deepEqual(endpoint.events, ['closed 1006']);
});

test('a listener that throws loses its socket, not the process', async (t) => {
  const [endpoint, gateway] = await start(t);
  const socket = await connect(t, gateway, endpoint);
  socket.write(frame(1, Buffer.alloc(0)));
  await endpoint.ended.promise;
  t.deepEqual(endpoint.events, ['text ', 'closed 1006']);
  await exchangeBytes(gateway.port, handshake('?fail=1'), closed);
  t.is(gateway.log.lines.filter(({ level }) => level === 'error').length, 2);
  t.is((await gateway.fetch('/healthz')).status, 200);
});

const masked = (...octets: number[]): Buffer => Buffer.from(octets);
const VIOLATIONS: Readonly<Record<string, Buffer>> = {
  'a reserved bit': frame(0x41, Buffer.from('x')),
  'an unknown opcode': frame(3, Buffer.from('x')),
  'an unknown control opcode': frame(11, Buffer.from('x')),
  'a continuation of nothing': frame(0, Buffer.from('x')),
  'a control frame in parts': masked(0x09, 0x80, 0, 0, 0, 0),
  'a long control frame': Buffer.concat([masked(0x89, 0xfe, 0, 126, 0, 0, 0, 0), Buffer.alloc(126)]),
  'text that is not UTF-8': frame(1, Buffer.from([0xff])),
};

test('what breaks RFC 6455 ends the connection', async (t) => {
  for (const [what, octets] of Object.entries(VIOLATIONS)) {
    const [endpoint, gateway] = await start(t);
    const socket = await connect(t, gateway, endpoint);
    const over = once(socket, 'close');
    socket.resume();
    socket.write(octets);
    await Promise.all([over, endpoint.ended.promise]);
    t.deepEqual(endpoint.events, ['closed 1006'], what);
  }
});
