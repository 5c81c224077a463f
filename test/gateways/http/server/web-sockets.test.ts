// Tests the WebSocket seam on real sockets: plain requests and streams of an endpoint, frames of one tick in one write, bounded buffers,
// and a close from either side that is reported exactly once.
import { once } from 'node:events';
import type net from 'node:net';
import type { Socket } from '../../../../src/gateways/web-socket.js';
import test from '../../../support/test.js';
import { closed, exchangeBytes } from '../gateway.js';
import { connect, frame, handshake, start } from './fake-endpoint.js';

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
