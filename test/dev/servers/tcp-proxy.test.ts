// Tests the proxy with which cluster tests cut nodes off: each mode does to a connection what its name says.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { startTcpProxy, type TcpProxy } from '../../../dev/servers/tcp-proxy.js';
import test from '../../support/test.js';

interface Setup {
  readonly proxy: TcpProxy;
  readonly server: Server;
}

/** Starts a proxy in front of a server that returns what it gets. */
async function echo(t: { teardown(work: () => Promise<unknown>): void }): Promise<Setup> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await startTcpProxy((server.address() as { port: number }).port);
  t.teardown(async () => {
    await proxy.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { proxy, server };
}

async function client(proxy: TcpProxy): Promise<Socket> {
  const socket = connect(proxy.port, '127.0.0.1');
  await once(socket, 'connect');
  return socket.on('error', () => {});
}

async function says(socket: Socket): Promise<string> {
  const [data] = await once(socket, 'data');
  return String(data);
}

const quiet = (socket: Socket, ms: number) => Promise.race([says(socket), new Promise((r) => setTimeout(r, ms))]);

test('passes bytes and ends both ways', async (t) => {
  const { proxy } = await echo(t);
  const socket = await client(proxy);
  socket.write('one');
  t.is(await says(socket), 'one');
  t.is(proxy.connections, 1);
  socket.end();
  await once(socket, 'close');
  t.is(proxy.connections, 0);
});

test('refuse breaks what stands, takes nothing, and passes again on the same port', async (t) => {
  const { proxy } = await echo(t);
  const before = await client(proxy);
  before.write('x');
  await says(before);
  const broken = new Promise((resolve) => before.once('close', resolve));
  await proxy.set('refuse');
  await broken;
  await t.throwsAsync(client(proxy), { code: 'ECONNREFUSED' });
  await proxy.set('pass');
  const after = await client(proxy);
  after.write('again');
  t.is(await says(after), 'again');
});

test('a black hole takes connections and passes nothing, not even an end, until it passes again', async (t) => {
  const { proxy, server } = await echo(t);
  const before = await client(proxy);
  before.write('x');
  await says(before);
  await proxy.set('black hole');
  before.write('held');
  const during = await client(proxy);
  during.write('held too');
  t.is(await quiet(before, 100), undefined);
  const connections = await new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
  t.is(connections, 1, 'the second did not come through');
  const both = Promise.all([says(before), says(during)]);
  await proxy.set('pass');
  t.deepEqual(await both, ['held', 'held too']);
});

test('a client that vanishes in a black hole is gone for the server only afterwards', async (t) => {
  const { proxy, server } = await echo(t);
  const socket = await client(proxy);
  socket.write('x');
  await says(socket);
  await proxy.set('black hole');
  socket.resetAndDestroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const count = () => new Promise<number>((resolve) => server.getConnections((_, connections) => resolve(connections)));
  t.is(await count(), 1);
  await proxy.set('pass');
  while ((await count()) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  t.is(proxy.connections, 0);
});

test('mute holds back what the client says, deaf what the server says', async (t) => {
  const { proxy, server } = await echo(t);
  const accepted = once(server, 'connection');
  const socket = await client(proxy);
  socket.write('both ways');
  t.is(await says(socket), 'both ways');
  const [other] = (await accepted) as [Socket];

  await proxy.set('mute');
  other.write('to the client');
  t.is(await says(socket), 'to the client');
  const heard = says(other);
  socket.write('late');
  t.true((await Promise.race([heard, new Promise((r) => setTimeout(r, 50))])) === undefined);
  await proxy.set('deaf');
  t.is(await heard, 'late');
  t.is(await quiet(socket, 50), undefined);
  const echoed = says(socket);
  await proxy.set('pass');
  t.is(await echoed, 'late');
});

test('the dead pass nothing any more, whatever follows, and new connections pass', async (t) => {
  const { proxy } = await echo(t);
  const before = await client(proxy);
  before.write('x');
  await says(before);
  await proxy.set('dead');
  before.write('lost');
  const after = await client(proxy);
  after.write('new');
  t.is(await says(after), 'new');
  await proxy.set('pass');
  t.is(await quiet(before, 100), undefined);
});
