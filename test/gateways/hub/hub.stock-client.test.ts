// Tests the hub with the unchanged stock client, @microsoft/signalr, over real WebSockets.
import { HttpTransportType, type HubConnection, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { anonymousGuard } from '../../../src/auth/origin.js';
import {
  emailAdded,
  emailRemoved,
  FakeDirectory,
  FakeMailboxes,
  readChanged,
  recordingLog,
  testHub,
  unreadCount,
} from '../../support/hub-fakes.js';
import { patiently } from '../../support/patience.js';
import { startWsServer } from '../../support/peers/ws-server.js';
import test from '../../support/test.js';

const EVENTS = ['NewEmail', 'EmailUpdated', 'EmailDeleted', 'UnreadCountChanged'];

async function startHub() {
  const directory = new FakeDirectory();
  directory.addKey('good-token', 'account-1');
  const mailboxes = new FakeMailboxes();
  const { log, text } = recordingLog();
  const guard = anonymousGuard({ hostname: 'x.test', publicUrl: undefined });
  const hub = testHub({ directory, mailboxes: mailboxes.refs, guard, log });
  const server = await startWsServer('/hubs/email', hub);
  return { directory, mailboxes, hub, server, logText: text };
}

/** The client measures real time, and waits for long: a busy machine must not end its connection. */
function build(url: string, token: string, options: { skipNegotiation?: boolean; query?: string } = {}): HubConnection {
  return new HubConnectionBuilder()
    .withUrl(url + (options.query ?? ''), {
      accessTokenFactory: () => token,
      ...(options.skipNegotiation ? { skipNegotiation: true, transport: HttpTransportType.WebSockets } : {}),
    })
    .withAutomaticReconnect([0, 0, 0])
    .withServerTimeout(600_000)
    .configureLogging(LogLevel.None)
    .build();
}

/** Collects events; `next(n)` waits for n more and returns all so far. */
function record(client: HubConnection) {
  const seen: [name: string, payload: unknown][] = [];
  let wanted = 0;
  let enough = () => {};
  for (const name of EVENTS) {
    client.on(name, (...args: unknown[]) => {
      seen.push([name, args[0]]);
      if (seen.length >= wanted) enough();
    });
  }
  return {
    async atLeast(count: number) {
      wanted = count;
      const more = () => new Promise<void>((resolve) => (enough = resolve));
      if (seen.length < wanted) await patiently(more(), () => `${count} events; so far: ${JSON.stringify(seen)}`);
      return seen;
    },
  };
}

test('connects, and gets the events in order with the payloads of the interface', async (t) => {
  const { mailboxes, hub, server } = await startHub();
  t.teardown(() => server.close());
  const client = build(server.url, 'good-token');
  const events = record(client);
  await client.start();
  t.is(hub.connections, 1);
  t.true(mailboxes.isFollowed('account-1'));
  t.regex(client.connectionId ?? '', /^[\w-]{22}$/);

  const stream = mailboxes.events('account-1');
  stream.next([emailAdded('e1', 1), unreadCount(1, 1)]);
  await events.atLeast(2);
  stream.next([readChanged('e1', true, 2), unreadCount(0, 2)]);
  stream.next([emailRemoved('e1', 3)]);

  t.deepEqual(await events.atLeast(5), [
    [
      'NewEmail',
      {
        id: 'e1',
        from: 'ann@remote.test',
        fromDisplay: 'Ann',
        subject: 'Subject of e1',
        receivedAt: '2026-05-01T12:00:00.000Z',
        hasAttachments: false,
      },
    ],
    ['UnreadCountChanged', 1],
    ['EmailUpdated', { id: 'e1', isRead: true }],
    ['UnreadCountChanged', 0],
    ['EmailDeleted', 'e1'],
  ]);
  await client.stop();
});

test('an event emitted at the moment start() resolves is not missed', async (t) => {
  const { mailboxes, server } = await startHub();
  t.teardown(() => server.close());
  for (let round = 0; round < 5; round++) {
    const client = build(server.url, 'good-token');
    const events = record(client);
    await client.start();
    mailboxes.events('account-1').next([emailRemoved(`e${round}`)]);
    t.deepEqual(await events.atLeast(1), [['EmailDeleted', `e${round}`]]);
    await client.stop();
  }
});

test('a draining node sends its clients away, and they reconnect by themselves', async (t) => {
  const first = await startHub();
  t.teardown(() => first.server.close());
  const second = await startHub();
  t.teardown(() => second.server.close());

  const client = build(first.server.url, 'good-token');
  const events = record(client);
  await client.start();
  const reconnecting = new Promise<Error | undefined>((resolve) =>
    client.onreconnecting((error) => {
      client.baseUrl = second.server.url;
      resolve(error);
    }),
  );
  const reconnected = new Promise((resolve) => client.onreconnected(resolve));
  await first.hub.drain('The node is stopping.');
  t.regex(String(await reconnecting), /The node is stopping/);
  await reconnected;
  t.is(first.hub.connections, 0);
  t.is(second.hub.connections, 1);
  second.mailboxes.events('account-1').next([emailRemoved('e1')]);
  t.deepEqual(await events.atLeast(1), [['EmailDeleted', 'e1']]);
  await t.throwsAsync(build(first.server.url, 'good-token').start(), { message: /503/ });
  await client.stop();
});

test('a client whose key is revoked is closed for good', async (t) => {
  const { directory, server } = await startHub();
  t.teardown(() => server.close());
  const client = build(server.url, 'good-token');
  await client.start();
  const closed = new Promise<Error | undefined>((resolve) => client.onclose(resolve));
  client.onreconnecting(() => t.fail('must not reconnect'));
  directory.revokedKeys$.next('key-of-good-token');
  t.regex(String(await closed), /revoked/);
});

test('a bad token and no token are refused with 401', async (t) => {
  const { server, logText } = await startHub();
  t.teardown(() => server.close());
  await t.throwsAsync(build(server.url, 'bad-token').start(), { message: /401/ });
  await t.throwsAsync(build(server.url, '').start(), { message: /401/ });
  await t.throwsAsync(build(server.url, 'bad-token', { skipNegotiation: true }).start());
  t.notRegex(logText(), /bad-token/);
});

test('connects without negotiation', async (t) => {
  const { mailboxes, server } = await startHub();
  t.teardown(() => server.close());
  const client = build(server.url, 'good-token', { skipNegotiation: true });
  const events = record(client);
  await client.start();
  t.deepEqual(server.requests, ['GET /hubs/email']);
  mailboxes.events('account-1').next([unreadCount(7)]);
  t.deepEqual(await events.atLeast(1), [['UnreadCountChanged', 7]]);
  await client.stop();
});

test('connects with version 0 of the negotiation, with the token in the query, and asking for stateful reconnect', async (t) => {
  const { server, logText } = await startHub();
  t.teardown(() => server.close());
  const old = build(server.url, 'good-token', { query: '?negotiateVersion=0' });
  await old.start();
  t.true(server.requests[1]?.includes(`id=${old.connectionId}`));
  await old.stop();

  const browser = build(server.url, '', { query: '?access_token=good-token', skipNegotiation: true });
  await browser.start();
  await browser.stop();

  const stateful = new HubConnectionBuilder()
    .withUrl(server.url, { accessTokenFactory: () => 'good-token' })
    .withStatefulReconnect()
    .configureLogging(LogLevel.None)
    .build();
  await stateful.start();
  await stateful.stop();
  t.notRegex(logText(), /good-token/);
  t.notRegex(logText(), /access_token/);
});

test('a call of a method is answered with an error and leaves the connection open', async (t) => {
  const { mailboxes, server } = await startHub();
  t.teardown(() => server.close());
  const client = build(server.url, 'good-token');
  const events = record(client);
  await client.start();
  await client.send('Nothing', 1);
  await t.throwsAsync(client.invoke('Nothing', 1), { message: /Unknown hub method 'Nothing'/ });
  const streamed = new Promise((resolve) =>
    client.stream('Nothing').subscribe({ next() {}, complete() {}, error: resolve }),
  );
  t.regex(String(await streamed), /Unknown hub method/);
  mailboxes.events('account-1').next([unreadCount(1)]);
  t.deepEqual(await events.atLeast(1), [['UnreadCountChanged', 1]]);
  await client.stop();
});

test('every connection of the account gets every event, others none', async (t) => {
  const { directory, mailboxes, server } = await startHub();
  t.teardown(() => server.close());
  directory.addKey('other-token', 'account-2');
  const clients = [build(server.url, 'good-token'), build(server.url, 'good-token'), build(server.url, 'other-token')];
  const events = clients.map(record);
  await Promise.all(clients.map((client) => client.start()));
  t.is(mailboxes.followed, 2);
  mailboxes.events('account-1').next([emailRemoved('e1')]);
  mailboxes.events('account-2').next([emailRemoved('e2')]);
  t.deepEqual(await events[0]!.atLeast(1), [['EmailDeleted', 'e1']]);
  t.deepEqual(await events[1]!.atLeast(1), [['EmailDeleted', 'e1']]);
  t.deepEqual(await events[2]!.atLeast(1), [['EmailDeleted', 'e2']]);
  await Promise.all(clients.map((client) => client.stop()));
});
