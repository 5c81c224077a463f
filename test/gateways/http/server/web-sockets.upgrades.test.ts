// Tests how upgrades are decided, on real sockets: at once, late, refused, and after their client or their node has gone.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { defineRoute, EMPTY } from '../../../../src/gateways/http/route.js';
import { LateUpgrade } from '../../../../src/gateways/http/server/late-upgrade.js';
import { deferred } from '../../../support/deferred.js';
import test from '../../../support/test.js';
import { FakeLog } from '../fakes.js';
import { closed, exchangeBytes, startGateway } from '../gateway.js';
import { FakeEndpoint, frame, handshake, start } from './fake-endpoint.js';

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
