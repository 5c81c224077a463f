// Tests connections without a WebSocket behind a balancer that sends each request to another node: the nodes carry the requests over
// the bus to the one that has the connection, so that clients notice nothing, except at once when that node is gone.
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import type { ExecutionContext } from 'ava';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import { anonymousGuard } from '../../../src/auth/origin.js';
import { startHttp } from '../../../src/gateways/http/server/server.js';
import { originOf } from '../../../src/gateways/hub/connection-token.js';
import type { HubLimits } from '../../../src/gateways/hub/limits.js';
import { createHubPeers } from '../../../src/node/listeners/hub-peers.js';
import { EventBus } from '../../support/event-bus.js';
import { emailAdded, emailRemoved, FakeDirectory, recordingLog, renamed, testHub } from '../../support/hub-fakes.js';
import { startRequestBalancer } from '../../support/peers/request-balancer.js';
import test from '../../support/test.js';

const ACCOUNT = '00000000-0000-7000-8000-00000000000a';
const { ServerSentEvents, LongPolling } = HttpTransportType;

async function startNodes(t: ExecutionContext, count: number, limits: Partial<HubLimits> = {}) {
  const events = new EventBus();
  const transport = localTransport({ encoding: true });
  const nodes = await Promise.all(
    Array.from({ length: count }, async () => {
      const directory = new FakeDirectory();
      directory.addKey('token', ACCOUNT);
      directory.addKey('other', '00000000-0000-7000-8000-00000000000b');
      const guard = anonymousGuard({ hostname: 'x.test', publicUrl: undefined });
      const { log } = recordingLog();
      const peers = createHubPeers(transport, log);
      const hub = testHub({ directory, mailboxes: events.node(), guard, log, peers, limits });
      const handler = async () => ({ status: 404, headers: [], body: null });
      const webSockets = [{ path: '/hubs/email', endpoint: hub }];
      const server = await startHttp({ bind: '127.0.0.1', port: 0, handler, webSockets, log });
      const stop = async () => {
        await hub.drain('The node stops.');
        await server.stop(0);
      };
      t.teardown(stop);
      return { hub, address: server.address, stop };
    }),
  );
  return { events, nodes, transport };
}

for (const [transport, isBinary] of [
  [ServerSentEvents, false],
  [LongPolling, false],
  [LongPolling, true],
] as const) {
  const title = `${HttpTransportType[transport]} with ${isBinary ? 'MessagePack' : 'JSON'}`;
  test(`${title}: each request may reach another node, and a node that goes costs nothing`, async (t) => {
    const { events, nodes } = await startNodes(t, 3);
    const addresses = nodes.map(({ address }) => address);
    const balancer = await startRequestBalancer(t, addresses);
    const url = `${balancer.url}/hubs/email`;
    const builder = new HubConnectionBuilder()
      .withUrl(`${url}?resume=true`, { transport, accessTokenFactory: () => 'token' })
      .withAutomaticReconnect([0, 0, 0, 10, 100])
      .configureLogging(LogLevel.None);
    if (isBinary) builder.withHubProtocol(new MessagePackHubProtocol());
    const client = builder.build();
    let cursor: string | null = null;
    let heard = () => {};
    const deleted: string[] = [];
    const subjects: string[] = [];
    client.on('NewEmail', ({ subject }: { subject: string }) => void subjects.push(subject));
    client.on('EmailDeleted', (id: string) => void deleted.push(id));
    client.on('Position', (position: string) => {
      cursor = position;
      heard();
    });
    const until = async (holds: () => boolean) => {
      while (!holds()) await new Promise<void>((resolve) => (heard = resolve));
    };
    const resume = () => client.invoke('Resume', cursor) as Promise<{ complete: boolean }>;
    await client.start();
    t.is(
      nodes.reduce((sum, { hub }) => sum + hub.connections, 0),
      1,
    );
    await resume();
    events.commit(ACCOUNT, [renamed(emailAdded('e'), 'Zoë 💌')]);
    const committed: string[] = [];
    const commit = (count: number) => {
      for (let i = 0; i < count; i++) {
        committed.push(`e${committed.length}`);
        events.commit(ACCOUNT, [emailRemoved(committed.at(-1)!)]);
      }
    };
    commit(50);
    await until(() => deleted.length === 50);

    const holder = nodes.find(({ hub }) => hub.connections === 1)!;
    const resumed = new Promise<boolean>((resolve) => {
      client.onreconnected(async () => resolve((await resume()).complete));
    });
    addresses.splice(addresses.indexOf(holder.address), 1);
    const stopped = holder.stop();
    commit(50);
    t.true(await resumed);
    await stopped;
    commit(50);
    await until(() => deleted.length >= committed.length);
    t.deepEqual(deleted, committed);
    t.deepEqual(subjects, ['Zoë 💌']);
    await client.stop();
    while (nodes.some(({ hub }) => hub.connections > 0)) await new Promise((resolve) => setTimeout(resolve, 5));
  });
}

test('another account reaches no connection over another node, and a token of a hub that is gone is 404', async (t) => {
  const { nodes } = await startNodes(t, 2);
  const [mine, other] = nodes.map(({ address }) => `http://${address}/hubs/email`) as [string, string];
  const headers = { authorization: 'Bearer token' };
  const negotiated = await fetch(`${mine}/negotiate?negotiateVersion=1`, { method: 'POST', headers });
  const { connectionToken } = (await negotiated.json()) as { connectionToken: string };
  t.is((await fetch(`${other}?id=${connectionToken}`, { headers })).status, 200);
  t.deepEqual(
    nodes.map(({ hub }) => hub.connections),
    [1, 0],
  );
  const theirs = { authorization: 'Bearer other' };
  for (const method of ['GET', 'POST', 'DELETE']) {
    t.is((await fetch(`${other}?id=${connectionToken}`, { method, headers: theirs })).status, 404, method);
  }
  t.is(nodes[0]!.hub.connections, 1);
  const gone = `${'0'.repeat(16)}${connectionToken.slice(16)}`;
  for (const method of ['GET', 'POST', 'DELETE']) {
    t.is((await fetch(`${other}?id=${gone}`, { method, headers })).status, 404, method);
  }
  t.is((await fetch(`${other}?id=${connectionToken}`, { method: 'DELETE', headers })).status, 202);
  t.is(nodes[0]!.hub.connections, 0);
});

test('what a node took from another one and lost with itself is not passed over: the connection ends', async (t) => {
  // A busy machine may take a while between an answer and its confirmation.
  const { events, nodes, transport } = await startNodes(t, 2, { confirmMs: 5_000 });
  const [mine, other] = nodes.map(({ address }) => `http://${address}/hubs/email`) as [string, string];
  const headers = { authorization: 'Bearer token' };
  const negotiated = await fetch(`${mine}/negotiate?negotiateVersion=1`, { method: 'POST', headers });
  const { connectionToken } = (await negotiated.json()) as { connectionToken: string };
  const url = `${other}?id=${connectionToken}`;
  const poll = async () => {
    const reply = await fetch(url, { headers });
    return { status: reply.status, text: await reply.text() };
  };
  const until = async (text: string) => {
    for (;;) {
      const polled = await poll();
      t.is(polled.status, 200);
      if (polled.text.includes(text)) return;
    }
  };
  await poll();
  await fetch(url, { method: 'POST', headers, body: '{"protocol":"json","version":1}\u001e' });
  await until('{}');
  events.commit(ACCOUNT, [emailRemoved('e1')]);
  await until('e1');
  events.commit(ACCOUNT, [emailRemoved('e2')]);
  await until('e2');

  events.commit(ACCOUNT, [emailRemoved('e3')]);
  const opening = { accountId: ACCOUNT, owner: ACCOUNT, keyId: null, resumes: false, topics: 0 };
  const dying = createHubPeers(transport, recordingLog().log);
  const hubId = originOf(connectionToken)!.hubId;
  const taken = await dying.ask(hubId, { kind: 'poll', connectionToken, opening });
  t.like(taken, { kind: 'frames', toConfirm: true });
  events.commit(ACCOUNT, [emailRemoved('e4')]);
  t.is((await poll()).status, 404);
  t.is(nodes[0]!.hub.connections, 0);
});

/** Opens a connection over long polling; `ask` is another node, which has not confirmed the answer to the handshake. */
async function startPolled(t: ExecutionContext, limits: Partial<HubLimits>) {
  const { events, nodes, transport } = await startNodes(t, 1, limits);
  const headers = { authorization: 'Bearer token' };
  const url = `http://${nodes[0]!.address}/hubs/email`;
  const negotiated = await fetch(`${url}/negotiate?negotiateVersion=1`, { method: 'POST', headers });
  const { connectionToken } = (await negotiated.json()) as { connectionToken: string };
  const opening = { accountId: ACCOUNT, owner: ACCOUNT, keyId: null, resumes: false, topics: 0 };
  const peer = createHubPeers(transport, recordingLog().log);
  const ask = (kind: 'poll' | 'send' | 'taken' | 'end', octets?: Uint8Array) =>
    peer.ask(originOf(connectionToken)!.hubId, {
      kind,
      connectionToken,
      opening,
      ...(octets && { octets }),
    });
  t.like(await ask('poll'), { kind: 'done' });
  t.teardown(() => ask('end'));
  await ask('send', Buffer.from('{"protocol":"json","version":1}\u001e'));
  t.like(await ask('poll'), { kind: 'frames', toConfirm: true });
  return { events, ask };
}

test('a client that takes long to read an answer keeps its connection: only a poll that waits limits the time', async (t) => {
  const confirmMs = 1_000;
  const { events, ask } = await startPolled(t, { confirmMs });
  await new Promise((resolve) => setTimeout(resolve, confirmMs + 50));
  events.commit(ACCOUNT, [emailRemoved('e1')]);
  const next = ask('poll');
  t.like(await ask('taken'), { kind: 'done' });
  t.like(await next, { kind: 'frames', toConfirm: true });
});

test('of two polls that wait for a confirmation the later one alone takes frames', async (t) => {
  const { events, ask } = await startPolled(t, { confirmMs: 60_000 });
  events.commit(ACCOUNT, [emailRemoved('e1')]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  // The node of the first poll dies, and a balancer sends the poll to another node.
  const polls = [ask('poll'), ask('poll')];
  await ask('taken');
  events.commit(ACCOUNT, [emailRemoved('e2')]);
  const [first, second] = await Promise.all(polls);
  t.like(first, { kind: 'over' });
  t.true(second?.kind === 'frames' && Buffer.from(second.octets).includes('e1'));
});
