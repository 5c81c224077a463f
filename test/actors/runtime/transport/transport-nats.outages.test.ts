// Tests the NATS transport with servers that are away, hang, refuse its credentials or lose each other, and with nodes that are cut off.
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import type { ExecutionContext } from 'ava';
import { firstValueFrom } from 'rxjs';
import { startNatsCluster } from '../../../../dev/servers/nats-server.js';
import { BusUnavailable } from '../../../../src/actors/runtime/transport/nats-servers.js';
import { Disconnected, NoResponders, RequestTimeout } from '../../../../src/actors/runtime/transport/transport.js';
import { explain } from '../../../../src/node/start-failure.js';
import test from '../../../support/test.js';
import {
  changes,
  connection,
  flushed,
  newCluster,
  node,
  open,
  opened,
  ownServer,
  server,
  twoNodes,
  underWay,
} from './nats-nodes.js';
import { collected, echo, events, request } from './transport-contract.js';

test.after.always(() => server.stop());

test('when the servers are away nobody waits, and afterwards everything is as before', async (t) => {
  const own = await ownServer(t);
  const { asker, owner } = await twoNodes(t, own);
  await owner.respond('a.1', echo).ready;
  const cutOff = await underWay(t, { asker, owner });
  const states = [changes(asker, 2), changes(owner, 2)];
  const broke = [firstValueFrom(asker.breaks$), firstValueFrom(owner.breaks$)];

  await own.stop();
  await cutOff.over;
  await Promise.all([connection(asker, false), connection(owner, false)]);
  await t.throwsAsync(asker.request('a.1', request('echo'), 60_000), { instanceOf: Disconnected });
  t.deepEqual(await owner.request('a.1', request('echo', 'near'), 60_000), { kind: 'reply', reply: 'near' });
  const heard = collected(asker, 'e.1', 2);
  await heard.registration.ready;
  owner.publish('e.1', events(1));
  asker.publish('e.1', events(2));
  const late = owner.respond('a.3', echo);
  await late.ready;

  await own.restart();
  t.deepEqual(await Promise.all(states), [
    [false, true],
    [false, true],
  ]);
  await Promise.all(broke);
  await Promise.all([flushed(asker), flushed(owner)]);
  t.deepEqual(await asker.request('a.1', request('echo', 1), 60_000), { kind: 'reply', reply: 1 });
  t.deepEqual(await asker.request('a.3', request('echo', 3), 60_000), { kind: 'reply', reply: 3 });
  owner.publish('e.1', events(3));
  t.deepEqual(await heard.all, [events(2), events(3)]);
});

test('what a node published while it was cut off alone, the others are made to look for', async (t) => {
  const clusterId = newCluster();
  const proxy = await startProxy(t, Number(new URL(server.url).port));
  const [near, far] = [await node(t, clusterId, 'near'), await node(t, clusterId, 'far', proxy)];
  const nearStates: boolean[] = [];
  near.connected$.subscribe((state) => nearStates.push(state));
  proxy.cut();
  await connection(far, false);
  const told = firstValueFrom(near.breaks$);
  proxy.mend();
  await told;
  t.deepEqual(nearStates, [true]);
});

test('servers that find each other may have kept something from each other', async (t) => {
  const [first, second] = await startNatsCluster({ size: 2 });
  t.teardown(() => Promise.all([first!.stop(), second!.stop()]));
  const transport = await node(t, newCluster(), 'first', first);
  const lost = firstValueFrom(transport.breaks$);
  await second!.kill();
  await t.notThrowsAsync(lost);
  const found = firstValueFrom(transport.breaks$);
  await second!.start();
  await t.notThrowsAsync(found);
});

test('servers that hang are given up, and used again when they answer', async (t) => {
  const own = await ownServer(t);
  const { asker, owner } = await twoNodes(t, own);
  await owner.respond('a.1', echo).ready;
  own.pause();
  await Promise.all([connection(asker, false), connection(owner, false)]);
  await t.throwsAsync(asker.request('a.1', request('echo'), 60_000), { instanceOf: Disconnected });
  const broke = [firstValueFrom(asker.breaks$), firstValueFrom(owner.breaks$)];
  own.resume();
  await Promise.all([connection(asker, true), connection(owner, true)]);
  await Promise.all([flushed(asker), flushed(owner)]);
  t.deepEqual(await asker.request('a.1', request('echo', 1), 60_000), { kind: 'reply', reply: 1 });
  await t.notThrowsAsync(Promise.all(broke));
});

test('a node that is gone is known to be gone without waiting for its answer', async (t) => {
  const clusterId = newCluster();
  const proxy = await startProxy(t, Number(new URL(server.url).port));
  const [asker, owner] = [await node(t, clusterId, 'asker'), await node(t, clusterId, 'owner', proxy)];
  await owner.respond('a.1', echo).ready;
  t.deepEqual(await asker.request('a.1', request('echo', 1), 60_000), { kind: 'reply', reply: 1 });
  proxy.cut();
  const ask = () => asker.request('a.1', request('echo'), 100).catch((error: Error) => error);
  let answer = await ask();
  // The server may not have noticed the cut yet.
  while (answer instanceof RequestTimeout) answer = await ask();
  t.true(answer instanceof NoResponders);
});

test('a transport whose servers hang still closes', async (t) => {
  const own = await ownServer(t);
  const { asker, owner } = await twoNodes(t, own);
  const cutOff = await underWay(t, { asker, owner });
  own.pause();
  await Promise.all([asker.close(), owner.close()]);
  await cutOff.over;
});

test('credentials come from the URL; without the right ones the node does not start, and says so without them', async (t) => {
  const own = await ownServer(t, 'authorization { user: mansio, password: "s3cret/+" }');
  const at = (credentials: string) => ({ url: own.url.replace('//', `//${credentials}@`) });
  await node(t, newCluster(), 'known', at(`mansio:${encodeURIComponent('s3cret/+')}`));
  const address = own.url.replace('nats://', '');
  const wrong = await t.throwsAsync(opened(newCluster(), 'wrong', at('mansio:guessed')), {
    instanceOf: BusUnavailable,
  });
  t.is(explain(wrong), `no NATS server of NATS_URL can be used: ${address} refuses user mansio or the password`);
  const token = await t.throwsAsync(opened(newCluster(), 'token', at('guessed')), { instanceOf: BusUnavailable });
  t.is(token.message, `no NATS server of NATS_URL can be used: ${address} refuses the token`);
  const none = await t.throwsAsync(opened(newCluster(), 'none', own), { instanceOf: BusUnavailable });
  t.is(none.message, `no NATS server of NATS_URL can be used: ${address} wants a user and a password`);
  await own.stop();
});

test('one server of several is enough, to start with and later', async (t) => {
  const [first, second] = [await ownServer(t), await ownServer(t)];
  await first.stop();
  const transport = await opened(newCluster(), 'several', [first, second]);
  t.teardown(() => transport.close());
  const states = changes(transport, 2);
  await first.restart();
  await second.stop();
  t.deepEqual(await states, [false, true]);
});

test('a node without any server does not start', async (t) => {
  const own = await ownServer(t);
  await own.stop();
  const unknown = { url: 'nats://mansio:s3cret@nowhere.invalid' };
  const error = await t.throwsAsync(open(newCluster(), 'lonely', [own, unknown]), { instanceOf: BusUnavailable });
  const said = explain(error) ?? '';
  t.true(said.includes(`${own.url.replace('nats://', '')} refuses the connection`), said);
  t.true(said.includes('nowhere.invalid:4222'), said);
  t.false(said.includes('s3cret'));
});

interface Proxy {
  readonly url: string;
  /** Ends the connections and accepts no more. */
  cut(): void;
  mend(): void;
}

/** Starts a proxy between one node and its server. */
async function startProxy(t: ExecutionContext, to: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let passes = true;
  const listener = createServer((socket) => {
    if (!passes) return void socket.destroy();
    const onward = createConnection(to, '127.0.0.1');
    for (const [from, into] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from);
      from.pipe(into);
      from.on('error', () => into.destroy());
      from.on('close', () => sockets.delete(from) && into.destroy());
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const cut = () => {
    passes = false;
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(() => {
    cut();
    listener.close();
  });
  return {
    url: `nats://127.0.0.1:${port}`,
    cut,
    mend: () => {
      passes = true;
    },
  };
}
