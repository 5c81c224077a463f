// Tests the hub with the stock client, @microsoft/signalr, over each transport and in each protocol, with the HTTP server of a
// node: events, calls, resuming, pings and ends are the same for all of them.
import { HttpTransportType, type HubConnection, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import type { ExecutionContext } from 'ava';
import { anonymousGuard } from '../../../src/auth/origin.js';
import { startHttp } from '../../../src/gateways/http/server/server.js';
import { EventBus } from '../../support/event-bus.js';
import {
  emailAdded,
  emailRemoved,
  FakeDirectory,
  recordingLog,
  renamed,
  type TestHubOptions,
  testHub,
} from '../../support/hub-fakes.js';
import { patiently } from '../../support/patience.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';

const ACCOUNT = '00000000-0000-7000-8000-00000000000a';
const { WebSockets, ServerSentEvents, LongPolling } = HttpTransportType;

interface Way {
  readonly transport: HttpTransportType;
  readonly isBinary: boolean;
}

const WAYS: readonly Way[] = [
  { transport: WebSockets, isBinary: false },
  { transport: WebSockets, isBinary: true },
  { transport: ServerSentEvents, isBinary: false },
  { transport: LongPolling, isBinary: false },
  { transport: LongPolling, isBinary: true },
];

const called = ({ transport, isBinary }: Way) =>
  `${HttpTransportType[transport]} with ${isBinary ? 'MessagePack' : 'JSON'}`;

async function startNode(t: ExecutionContext, bus = new EventBus(), options: Partial<TestHubOptions> = {}) {
  const directory = new FakeDirectory();
  directory.addKey('token', ACCOUNT);
  const guard = anonymousGuard({ hostname: 'x.test', publicUrl: undefined });
  const { log, lines, text } = recordingLog();
  const hub = testHub({ directory, mailboxes: bus.node(), guard, log, ...options });
  const handler = async () => ({ status: 404, headers: [], body: null });
  const webSockets = [{ path: '/hubs/email', endpoint: hub }];
  const server = await startHttp({ bind: '127.0.0.1', port: 0, handler, webSockets, log });
  t.teardown(async () => {
    await hub.drain('The test ends.');
    await server.stop(0);
  });
  return { bus, directory, hub, server, lines, logText: text, url: `http://${server.address}/hubs/email` };
}

/** The client measures real time, and waits for long: a busy machine must not end its connection. */
function build(url: string, { transport, isBinary }: Way, isBrowserLike = false): HubConnection {
  const withToken = isBrowserLike ? `${url}${url.includes('?') ? '&' : '?'}access_token=token` : url;
  const builder = new HubConnectionBuilder()
    .withUrl(withToken, { transport, ...(!isBrowserLike && { accessTokenFactory: () => 'token' }) })
    .withAutomaticReconnect([0, 0, 0, 10, 100])
    .withServerTimeout(600_000)
    .configureLogging(LogLevel.None);
  if (isBinary) builder.withHubProtocol(new MessagePackHubProtocol());
  return builder.build();
}

/** Behaves as an application does: remembers the cursor, and resumes from it after each reconnection. */
function application(client: HubConnection) {
  const seen: [name: string, payload: unknown][] = [];
  let cursor: string | null = null;
  let heard = () => {};
  for (const name of ['NewEmail', 'EmailDeleted']) {
    client.on(name, (payload: unknown) => {
      seen.push([name, payload]);
      heard();
    });
  }
  client.on('Position', (position: string) => {
    cursor = position;
    heard();
  });
  return {
    seen,
    deleted: () => seen.filter(([name]) => name === 'EmailDeleted').map(([, id]) => id),
    resume: () => client.invoke('Resume', cursor) as Promise<{ cursor: string; complete: boolean }>,
    async until(holds: () => boolean) {
      const next = () => new Promise<void>((resolve) => (heard = resolve));
      while (!holds()) await patiently(next(), () => `${holds}; so far: ${JSON.stringify(seen.slice(-5))}`);
    },
  };
}

for (const way of WAYS) {
  test(`${called(way)}: events, calls and answers`, async (t) => {
    const { bus, hub, url } = await startNode(t);
    const client = build(url, way);
    const app = application(client);
    await client.start();
    t.is(hub.connections, 1);
    t.regex(client.connectionId ?? '', /^[\w-]{22}$/);
    bus.commit(ACCOUNT, [renamed(emailAdded('e1'), 'Zoë 💌')]);
    bus.commit(ACCOUNT, [emailRemoved('e1'), emailRemoved('e2')]);
    await app.until(() => app.seen.length === 3);
    t.like(app.seen[0], ['NewEmail', { id: 'e1', subject: 'Zoë 💌', hasAttachments: false }]);
    t.deepEqual(app.deleted(), ['e1', 'e2']);
    await t.throwsAsync(client.invoke('Nothing', 'Zoë 💌', 1.5, null), { message: /Unknown hub method 'Nothing'/ });
    await t.throwsAsync(client.invoke('Resume', null), { message: /resume=true/ });
    await client.send('Nothing');
    bus.commit(ACCOUNT, [emailRemoved('e3')]);
    await app.until(() => app.deleted().length === 3);
    await client.stop();
    await until(() => hub.connections === 0);
    t.is(bus.subscriptions, 0);
  });

  test(`${called(way)}: sent to another node while events keep coming, a client misses none and gets none twice`, async (t) => {
    const bus = new EventBus();
    const nodes = [await startNode(t, bus), await startNode(t, bus)] as const;
    const urls = nodes.map(({ url }) => `${url}?resume=true`);
    const client = build(urls[0]!, way);
    const app = application(client);
    let moves = 0;
    client.onreconnecting(() => {
      moves++;
      client.baseUrl = urls[moves % 2]!;
    });
    const resumed = new Promise<boolean>((resolve) => {
      client.onreconnected(async () => resolve((await app.resume()).complete));
    });
    await client.start();
    await app.resume();
    const committed: string[] = [];
    const commit = (count: number) => {
      for (let i = 0; i < count; i++) {
        committed.push(`e${committed.length}`);
        bus.commit(ACCOUNT, [emailRemoved(committed.at(-1)!)]);
      }
    };
    commit(100);
    await app.until(() => app.deleted().length > 0);
    commit(100);
    const drained = nodes[0].hub.drain('The node is stopping.');
    commit(100);
    t.true(await resumed);
    commit(100);
    await app.until(() => app.deleted().length >= committed.length);
    t.deepEqual(app.deleted(), committed);
    t.is(moves, 1);
    t.is(nodes[1].hub.connections, 1);
    await drained;
    await client.stop();
  });

  test(`${called(way)}: a client whose key is revoked is closed for good`, async (t) => {
    const { directory, hub, url } = await startNode(t);
    const client = build(url, way);
    await client.start();
    const closed = new Promise<Error | undefined>((resolve) => client.onclose(resolve));
    client.onreconnecting(() => t.fail('must not reconnect'));
    directory.revokedKeys$.next('key-of-token');
    const error = await closed;
    // The reader of MessagePack in the stock client keeps the reason, as that of JSON does.
    t.regex(String(error), /revoked/);
    await until(() => hub.connections === 0);
  });

  test(`${called(way)}: pings keep a silent connection open`, async (t) => {
    const { hub, url, bus } = await startNode(t, new EventBus(), {
      // The client and the hub share this process: a pause of it as long as the timeout would end the connection.
      limits: { keepAliveMs: 150, clientTimeoutMs: 4_000, closeMs: 300, silenceMs: 100 },
    });
    const client = build(url, way);
    client.keepAliveIntervalInMilliseconds = 300;
    client.onreconnecting(() => t.fail('the connection was closed'));
    const app = application(client);
    await client.start();
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    t.is(hub.connections, 1);
    bus.commit(ACCOUNT, [emailRemoved('e1')]);
    await app.until(() => app.deleted().length === 1);
    await client.stop();
  });
}

test('with the token in the query, as browsers have it for an event source', async (t) => {
  const { hub, url, logText } = await startNode(t);
  for (const way of WAYS) {
    const client = build(url, way, true);
    await client.start();
    t.is(hub.connections, 1, called(way));
    await client.stop();
    await until(() => hub.connections === 0);
  }
  t.notRegex(logText(), /access_token/);
});

test('a client that cannot have a WebSocket falls back by itself', async (t) => {
  const { hub, url } = await startNode(t);
  const client = build(url, { transport: ServerSentEvents | LongPolling, isBinary: true });
  await client.start();
  t.is(hub.connections, 1);
  await client.stop();
});
