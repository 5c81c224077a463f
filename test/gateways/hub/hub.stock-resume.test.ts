// Tests how the stock client, @microsoft/signalr, resumes over real WebSockets. Two hubs share one log, as two nodes behind a
// balancer without sticky sessions do, and the client is sent from one to the other.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type HubConnection, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import type { ExecutionContext } from 'ava';
import { anonymousGuard } from '../../../src/auth/origin.js';
import type { HubOptions } from '../../../src/gateways/hub/hub.js';
import { EventBus } from '../../support/event-bus.js';
import { emailRemoved, FakeDirectory, recordingLog, testHub } from '../../support/hub-fakes.js';
import { patiently } from '../../support/patience.js';
import { startWsServer } from '../../support/peers/ws-server.js';
import test from '../../support/test.js';

const ACCOUNT = '00000000-0000-7000-8000-00000000000a';

async function startNode(t: ExecutionContext, bus: EventBus, limits: HubOptions['limits'] = {}) {
  const directory = new FakeDirectory();
  directory.addKey('token', ACCOUNT);
  const guard = anonymousGuard({ hostname: 'x.test', publicUrl: undefined });
  const { log, text } = recordingLog();
  const hub = testHub({ directory, mailboxes: bus.node(), guard, log, limits });
  const server = await startWsServer('/hubs/email', hub);
  t.teardown(() => server.close());
  return { hub, server, url: `${server.url}?resume=true`, logText: text };
}

/** The client measures real time, and waits for long: a busy machine must not end its connection. */
function build(url: string): HubConnection {
  return new HubConnectionBuilder()
    .withUrl(url, { accessTokenFactory: () => 'token' })
    .withAutomaticReconnect([0, 0, 0, 10, 100])
    .withServerTimeout(600_000)
    .configureLogging(LogLevel.None)
    .build();
}

/** Behaves as an application does: remembers the cursor, and resumes from it after each reconnection. */
function application(client: HubConnection) {
  const deleted: string[] = [];
  const answers: { cursor: string; complete: boolean }[] = [];
  let cursor: string | null = null;
  let heard = () => {};
  client.on('EmailDeleted', (id: string) => void deleted.push(id));
  client.on('Position', (position: string) => {
    cursor = position;
    heard();
  });
  const resume = async (from: unknown = cursor) => {
    const answer = (await client.invoke('Resume', from)) as { cursor: string; complete: boolean };
    answers.push(answer);
    heard();
  };
  return {
    deleted,
    answers,
    resume,
    cursor: () => cursor,
    async until(holds: () => boolean) {
      const next = () => new Promise<void>((resolve) => (heard = resolve));
      while (!holds())
        await patiently(next(), () => `${holds}; so far: ${deleted.length} events, ${answers.length} answers`);
    },
  };
}

test('sent to another node while events keep coming, a client misses none and gets none twice', async (t) => {
  const bus = new EventBus();
  const nodes = [await startNode(t, bus), await startNode(t, bus)];
  const client = build(nodes[0]!.url);
  const app = application(client);
  let at = 0;
  client.onreconnecting(() => {
    at = 1 - at;
    client.baseUrl = nodes[at]!.url;
  });
  client.onreconnected(() => app.resume());
  await client.start();
  await app.resume();

  const committed: string[] = [];
  const sending = setInterval(() => {
    for (let i = 0; i < 3; i++) {
      committed.push(`e${committed.length}`);
      // The bus loses every third packet.
      bus.commit(ACCOUNT, [emailRemoved(committed.at(-1)!)], i !== 1);
    }
  }, 1);
  for (const node of [0, 1, 0, 1]) {
    const answered = app.answers.length;
    await app.until(() => app.deleted.length >= committed.length / 2 && committed.length > 20 * answered);
    // The first two nodes drain, the others disappear.
    if (answered <= 1) void nodes[node]!.hub.drain('The node is stopping.');
    else nodes[node]!.server.cut();
    await app.until(() => app.answers.length > answered);
    if (answered === 1) nodes[0] = await startNode(t, bus);
    if (answered === 2) nodes[1] = await startNode(t, bus);
  }
  clearInterval(sending);
  bus.commit(ACCOUNT, [emailRemoved('last')]);
  await app.until(() => app.deleted.includes('last'));
  t.deepEqual(app.deleted, [...committed, 'last']);
  t.true(app.answers.every(({ complete }) => complete));
  t.true(nodes.every(({ server }) => server.requests.every((request) => request.includes('resume=true'))));
  await client.stop();
});

test('a client whose cursor is of no use is told so, and gets what happens from then on', async (t) => {
  const bus = new EventBus();
  const node = await startNode(t, bus);
  bus.commit(ACCOUNT, [emailRemoved('before')]);
  const client = build(node.url);
  const app = application(client);
  await client.start();
  await t.throwsAsync(app.resume(7), { message: /takes one argument/ });
  await app.resume('7-7-whatever');
  t.is(app.answers[0]?.complete, false);
  t.is(app.cursor(), app.answers[0]!.cursor);
  await t.throwsAsync(app.resume(), { message: /before/ });
  bus.commit(ACCOUNT, [emailRemoved('after')]);
  await app.until(() => app.deleted.length > 0);
  t.deepEqual(app.deleted, ['after']);
  await client.stop();
});

test('Resume on a connection that was not opened for it is an error that says so', async (t) => {
  const node = await startNode(t, new EventBus());
  const client = build(node.server.url);
  await client.start();
  await t.throwsAsync(client.invoke('Resume', null), { message: /resume=true/ });
  await client.stop();
});

test('negotiated with one node, connected to another', async (t) => {
  const bus = new EventBus();
  const [one, other] = [await startNode(t, bus), await startNode(t, bus)];
  const { maxMessageBytes } = one.hub;
  const balancer = await startWsServer('/hubs/email', {
    maxMessageBytes,
    negotiate: (request) => one.hub.negotiate(request),
    upgrade: (request) => other.hub.upgrade(request),
    exchange: (request) => other.hub.exchange(request),
  });
  t.teardown(() => balancer.close());
  const client = build(`${balancer.url}?resume=true`);
  const app = application(client);
  await client.start();
  await app.resume();
  t.deepEqual([one.hub.connections, other.hub.connections], [0, 1]);
  bus.commit(ACCOUNT, [emailRemoved('e1')]);
  await app.until(() => app.deleted.length > 0);
  await client.stop();
});

test('a client that asks for stateful reconnect falls back to none, and resumes all the same', async (t) => {
  const bus = new EventBus();
  const node = await startNode(t, bus);
  const client = new HubConnectionBuilder()
    .withUrl(node.url, { accessTokenFactory: () => 'token' })
    .withStatefulReconnect()
    .withAutomaticReconnect([0, 0, 0])
    .configureLogging(LogLevel.None)
    .build();
  const app = application(client);
  client.onreconnected(() => app.resume());
  await client.start();
  await app.resume();
  bus.commit(ACCOUNT, [emailRemoved('e1')]);
  await app.until(() => app.deleted.length === 1);
  node.server.cut();
  bus.commit(ACCOUNT, [emailRemoved('e2')], false);
  await app.until(() => app.deleted.length === 2);
  t.deepEqual(app.deleted, ['e1', 'e2']);
  await client.stop();
});

test('a client that reads slowly gets a long way back whole, without a long buffer here', async (t) => {
  const bus = new EventBus();
  const node = await startNode(t, bus, { maxBufferedBytes: 64 * 1024 });
  const first = build(node.url);
  const app = application(first);
  await first.start();
  await app.resume();
  await first.stop();
  const ids = Array.from({ length: 20_000 }, (_, i) => `${String(i).padStart(6, '0')}${'x'.repeat(200)}`);
  for (let i = 0; i < ids.length; i += 10)
    bus.commit(
      ACCOUNT,
      ids.slice(i, i + 10).map((id) => emailRemoved(id)),
    );

  const WebSocket = createRequire(createRequire(import.meta.url).resolve('@microsoft/signalr'))('ws');
  const socket = new WebSocket(`${node.url.replace('http', 'ws')}&access_token=token`);
  await once(socket, 'open');
  let seen = '';
  socket.on('message', (data: string) => {
    seen += data;
  });
  socket.send('{"protocol":"json","version":1}\u001e');
  socket.send(`{"type":1,"invocationId":"1","target":"Resume","arguments":["${app.cursor()}"]}\u001e`);
  const raw = socket._socket as NodeJS.ReadableStream;
  while (!seen.includes(ids.at(-1)!)) {
    raw.pause();
    await new Promise((resolve) => setTimeout(resolve, 2));
    raw.resume();
    await new Promise((resolve) => setTimeout(resolve, 2));
    t.is(socket.readyState, 1);
  }
  const deleted = [...seen.matchAll(/"EmailDeleted","arguments":\["(\d+x+)"/g)].map((match) => match[1]!);
  t.deepEqual(deleted, ids);
  t.notRegex(node.logText(), /slow hub client/);
  socket.terminate();
});
