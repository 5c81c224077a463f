// Tests the NATS transport with a real server: the contract of every transport, and what only a bus between processes can do.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import type { ExecutionContext } from 'ava';
import { connect, type NatsConnection } from 'nats';
import pino from 'pino';
import { filter, firstValueFrom, lastValueFrom, NEVER, take, toArray } from 'rxjs';
import { type NatsServer, startNatsCluster, startNatsServer } from '../../../../dev/servers/nats-server.js';
import { createEventStreams } from '../../../../src/actors/runtime/events/event-streams.js';
import { BusUnavailable } from '../../../../src/actors/runtime/transport/nats-servers.js';
import type { EventPacket, EventRecord, ReplyPacket } from '../../../../src/actors/runtime/transport/packet.js';
import {
  decode,
  encode,
  PacketBatch,
  packetText,
  readBatch,
} from '../../../../src/actors/runtime/transport/packet-batch.js';
import type { RequestLimitsOptions } from '../../../../src/actors/runtime/transport/request-limits.js';
import { eventSubject } from '../../../../src/actors/runtime/transport/subjects.js';
import {
  Congested,
  Disconnected,
  NoResponders,
  PacketTooLarge,
  RequestTimeout,
  type Transport,
} from '../../../../src/actors/runtime/transport/transport.js';
import { natsTransport } from '../../../../src/actors/runtime/transport/transport-nats.js';
import { explain } from '../../../../src/node/start-failure.js';
import { askRaw } from '../../../support/cluster/raw-request.js';
import test from '../../../support/test.js';

import { collected, type Ends, echo, events, request, transportContract } from './transport-contract.js';

const ACCOUNT = '00000000-0000-7000-8000-00000000000a';
const log = pino({ level: 'silent' });
const server = await startNatsServer();
test.after.always(() => server.stop());

const newCluster = () => randomBytes(8).toString('hex');

interface At {
  readonly url: string;
}

function open(
  clusterId: string,
  nodeId: string,
  at: readonly At[] = [server],
  limits: RequestLimitsOptions = {},
): Promise<Transport> {
  return natsTransport({ servers: at.map(({ url }) => url), clusterId, nodeId, log, limits });
}

/** Opens a transport, which is closed when the test ends. Tries again, because a busy machine may answer later than a start waits. */
async function node(
  t: ExecutionContext,
  clusterId: string,
  nodeId: string,
  at: At = server,
  limits: RequestLimitsOptions = {},
): Promise<Transport> {
  const isBusy = (error: unknown) => error instanceof BusUnavailable && error.message.endsWith('does not answer');
  let transport: Transport | undefined;
  while (transport === undefined) {
    transport = await open(clusterId, nodeId, [at], limits).catch((error: unknown) => {
      if (!isBusy(error)) throw error;
      return undefined;
    });
  }
  const opened = transport;
  t.teardown(() => opened.close());
  return opened;
}

async function twoNodes(t: ExecutionContext, at?: At): Promise<Ends> {
  const clusterId = newCluster();
  return { asker: await node(t, clusterId, 'asker', at), owner: await node(t, clusterId, 'owner', at) };
}

/** Starts a server for one test, which may stop or break it. */
async function ownServer(t: ExecutionContext, config?: string): Promise<NatsServer> {
  const own = await startNatsServer(config);
  t.teardown(() => own.stop());
  return own;
}

/** Opens a connection of a client that is no node. */
async function stranger(t: ExecutionContext): Promise<NatsConnection> {
  const connection = await connect({ servers: server.url });
  t.teardown(() => connection.close());
  return connection;
}

/** Returns the next states, without the present one. */
const changes = (transport: Transport, count: number) =>
  lastValueFrom(transport.connected$.pipe(take(count + 1), toArray())).then((states) => states.slice(1));

const connection = (transport: Transport, state: boolean) =>
  firstValueFrom(transport.connected$.pipe(filter((connected) => connected === state)));

/** Resolves when the server has everything that the transport has sent. */
const flushed = (transport: Transport) => transport.subscribe('flushed', () => {}).ready;

/** Sends a request that is taken and never answered; `over` resolves when it has failed because the bus is away. */
async function underWay(t: ExecutionContext, { asker, owner }: Ends): Promise<{ readonly over: Promise<unknown> }> {
  let took = () => {};
  const taken = new Promise<void>((resolve) => {
    took = resolve;
  });
  await owner.respond('never', () => {
    took();
    return new Promise(() => {});
  }).ready;
  const over = t.throwsAsync(asker.request('never', request('echo'), 60_000), { instanceOf: Disconnected });
  await taken;
  return { over };
}

transportContract(test, 'NATS, one node', async () => {
  const transport = await open(newCluster(), 'alone');
  return { asker: transport, owner: transport };
});
transportContract(test, 'NATS, two nodes', async () => {
  const clusterId = newCluster();
  return { asker: await open(clusterId, 'asker'), owner: await open(clusterId, 'owner') };
});

test('clusters on one server do not hear each other', async (t) => {
  const [a, b] = [await twoNodes(t), await twoNodes(t)];
  await a.owner.respond('a.1', echo).ready;
  const heard = collected(a.owner, 'e.1', 1);
  await heard.registration.ready;
  await t.throwsAsync(b.asker.request('a.1', request('echo'), 60_000), { instanceOf: NoResponders });
  b.asker.publish('e.1', events(1));
  // This packet arrives after the other one, if that arrives at all.
  a.asker.publish('e.1', events(2));
  t.deepEqual(await heard.all, [events(2)]);
});

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

test('packets too large for the servers are refused before or answered instead of being sent', async (t) => {
  const own = await ownServer(t, 'max_payload: 4096');
  const { asker, owner } = await twoNodes(t, own);
  const large = 'x'.repeat(5000);
  await owner.respond('a.1', async () => ({ kind: 'reply', reply: large })).ready;
  await t.throwsAsync(asker.request('a.1', request('echo', large), 60_000), { instanceOf: PacketTooLarge });
  t.like(await asker.request('a.1', request('echo', 'small'), 60_000), { kind: 'fault', code: 'failed' });
  t.deepEqual(await owner.request('a.1', request('echo', large), 60_000), { kind: 'reply', reply: large });
  const [near, far] = [collected(asker, 'e.1', 2), collected(owner, 'e.1', 2)];
  await far.registration.ready;
  asker.publish('e.1', events(1, large));
  asker.publish('e.1', events(2));
  t.deepEqual(await near.all, [events(1, large), events(2)]);
  // The packet follows no earlier one, so its receiver reads the log.
  t.deepEqual(await far.all, [{ ...events(1), after: 1, events: [] }, events(2)]);
});

test('a change too large for the bus reaches followers on other nodes from the log', async (t) => {
  const { asker, owner } = await twoNodes(t, await ownServer(t, 'max_payload: 4096'));
  const rows: EventRecord[] = [];
  const streams = createEventStreams<EventRecord>({
    protocolName: 'test',
    transport: owner,
    ownership: { shards: 1, relocations$: NEVER },
    log: {
      read: async (_accountId, after) => rows.filter(({ seq }) => seq > after),
      newest: async () => rows.length,
      prune: async () => 0,
    },
    logger: log,
  });
  const publish = (packet: EventPacket) => {
    rows.push(...packet.events);
    asker.publish(eventSubject('test', ACCOUNT), packet);
  };
  const seen: number[] = [];
  await new Promise<void>((resolve) => {
    const following = streams.of(ACCOUNT).subscribe((batch) => {
      if (batch.length === 0) {
        publish(events(1));
        publish(events(2, 'x'.repeat(5000)));
        publish(events(3));
      }
      seen.push(...batch.map(({ seq }) => seq));
      if (seen.length < 3) return;
      following.unsubscribe();
      resolve();
    });
  });
  t.deepEqual(seen, [1, 2, 3]);
});

const RECHECK = { v: 1, kind: 'recheck' };

test('what is no packet, or of a later version, is answered and makes listeners look', async (t) => {
  const clusterId = newCluster();
  const owner = await node(t, clusterId, 'owner');
  const raw = await stranger(t);
  await owner.respond('a.1', echo).ready;
  const broken = ['', '{', '{"v":1}', '\u0000', ...[null, [], 7, { v: 1 }, { v: '1' }, { v: 0 }].map(encode)];
  const heard = collected(owner, 'e.1', broken.length + 2);
  await heard.registration.ready;
  const ask = (packet: unknown) => askRaw(raw, `mansio.${clusterId}.a.1`, packet);
  for (const data of broken) {
    raw.publish(`mansio.${clusterId}.e.1`, data);
    // Nobody can tell how many requests this is, so the reply goes to the subject that was named.
    if (typeof data !== 'string') continue;
    const { data: reply } = await raw.request(`mansio.${clusterId}.a.1`, data, { timeout: 60_000 });
    t.like(decode(reply), { kind: 'fault', code: 'failed' }, data);
  }
  const { id: _, ...withoutId } = request('echo');
  const { name: __, ...withoutName } = request('echo');
  for (const packet of [null, [], 7, {}, { v: 1 }, { v: '1' }, { v: 0 }, withoutId, withoutName]) {
    t.like(await ask(['a.1', packet]), { kind: 'fault', code: 'failed' });
  }
  for (const packet of [null, {}, 7, 'a.1', ['a.1']]) t.like(await ask(packet), { kind: 'fault', code: 'failed' });
  for (const subject of ['a.2', null, {}]) t.deepEqual(await ask([subject, request('echo')]), { kind: 'notOwner' });
  t.like(await ask(['a.1', { v: 99 }]), { kind: 'fault', code: 'unsupported' });
  t.deepEqual(await ask(['a.1', { ...request('echo', 1), invented: true }, 'invented']), { kind: 'reply', reply: 1 });
  raw.publish(`mansio.${clusterId}.a.1`, encode(['a.1', request('echo')]));
  raw.publish(`mansio.${clusterId}.e.1`, encode({ ...events(1), v: 99 }));
  raw.publish(`mansio.${clusterId}.e.1`, encode(events(2)));
  t.deepEqual(await heard.all, [...broken.map(() => RECHECK), RECHECK, events(2)] as never);
});

test('publications that lack what their kind has make listeners look; kinds of a later version do no harm', async (t) => {
  const clusterId = newCluster();
  const owner = await node(t, clusterId, 'owner');
  const raw = await stranger(t);
  const heard = collected(owner, 'p', 19);
  await heard.registration.ready;
  const of = (fields: object) => ({ v: 1, node: 'n', ...fields });
  const broken = [
    of({ kind: 'acquired' }),
    of({ kind: 'acquired', shards: 7, crashed: false }),
    of({ kind: 'acquired', shards: ['7'], crashed: false }),
    of({ kind: 'acquired', shards: [7] }),
    of({ kind: 'freed' }),
    of({ kind: 'gone' }),
    of({ kind: 'given', to: 'm' }),
    of({ kind: 'given', to: 'm', leases: [{ shard: 7 }] }),
    { ...events(1), events: [null] },
    { ...events(1), events: [{ seq: '1', type: 'Tested' }] },
    of({ kind: 'due', accountId: 'a' }),
    of({ kind: 'due', accountId: 'a', outboundId: 7 }),
    of({ kind: 'logins', networks: [], names: [] }),
    of({ kind: 'logins', networks: [['192.0.2.1', '1']], names: [], known: [] }),
    of({ kind: 'logins', networks: [], names: [], known: [['192.0.2.1']] }),
  ];
  const due = { v: 1, kind: 'due', accountId: 'a', outboundId: 'b' };
  const logins = of({
    kind: 'logins',
    networks: [['192.0.2.1', 1]],
    names: [['a@b.test', 2]],
    known: [['192.0.2.1', 'a@b.test']],
  });
  const later = of({ kind: 'invented' });
  const good = of({ kind: 'acquired', shards: [7], crashed: false });
  for (const packet of [...broken, later, due, logins, good]) raw.publish(`mansio.${clusterId}.p`, encode(packet));
  t.deepEqual(await heard.all, [...broken.map(() => RECHECK), later, due, logins, good] as never);
});

/** Counts the messages of the bus that carry requests and replies of the cluster, and their octets. */
async function traffic(t: ExecutionContext, clusterId: string) {
  const raw = await stranger(t);
  const seen = { messages: 0, octets: 0 };
  for (const subject of ['requests.>', 'replies.>', 'a.>']) {
    raw.subscribe(`mansio.${clusterId}.${subject}`, {
      callback: (_, { data }) => {
        seen.messages++;
        seen.octets += data.length;
      },
    });
  }
  await raw.flush();
  return async () => {
    await raw.flush();
    const { messages, octets } = seen;
    Object.assign(seen, { messages: 0, octets: 0 });
    return { messages, octets };
  };
}

test('what is for one node in a turn goes as one message, whatever its subjects are; so do the replies', async (t) => {
  const clusterId = newCluster();
  const [asker, owner] = [await node(t, clusterId, 'asker'), await node(t, clusterId, 'owner')];
  const subjects = ['a.1', 'a.2', 'a.3'];
  await Promise.all(subjects.map((subject) => owner.respond(subject, echo).ready));
  const sent = await traffic(t, clusterId);
  const octets = new Uint8Array(10_000);
  const ask = () =>
    Promise.all(
      Array.from({ length: 60 }, (_, i) => {
        const payload = { i, octets };
        return asker.request(subjects[i % 3]!, { ...request('echo'), accountId: `account ${i % 20}`, payload }, 60_000);
      }),
    );
  const replies = await ask();
  t.deepEqual(
    replies.map((reply) => (reply as { readonly reply: { readonly i: number } }).reply.i),
    Array.from({ length: 60 }, (_, i) => i),
  );
  // Nobody knows yet who answers on the subjects: one message each.
  t.is((await sent()).messages, 3 + 1);
  await ask();
  const { messages, octets: all } = await sent();
  t.is(messages, 2);
  // The same octets travel once in a message.
  t.true(all < 60_000, String(all));
});

test('a batch with a request that cannot be read answers the others', async (t) => {
  const clusterId = newCluster();
  const owner = await node(t, clusterId, 'owner');
  await owner.respond('a.1', echo).ready;
  const raw = await stranger(t);
  const batch = new PacketBatch();
  const packets = [
    ['a.1', request('echo', 1)],
    ['a.1', { v: 1 }],
    ['a.1', request('echo', 3)],
    ['a.1', request('echo', 4)],
  ];
  for (const [i, packet] of packets.entries()) batch.add(i, packetText(packet));
  const bytes = Buffer.from(batch.bytes());
  // The last one is no JSON.
  bytes[bytes.lastIndexOf('{')] = 0x7d;
  const answered = new Map<number, unknown>();
  const subscription = raw.subscribe('inbox.*');
  raw.publish(`mansio.${clusterId}.a.1`, bytes, { reply: 'inbox.1' });
  for await (const { data } of subscription) {
    for (const { tag, value } of readBatch(data)!) answered.set(tag, value);
    if (answered.size === 4) break;
  }
  t.deepEqual(answered.get(0), { kind: 'reply', reply: 1 });
  t.like(answered.get(1), { kind: 'fault', code: 'failed' });
  t.deepEqual(answered.get(2), { kind: 'reply', reply: 3 });
  t.like(answered.get(3), { kind: 'fault', code: 'failed' });
});

test('a request finds the node that answers now, when the one that answered before has left, ended or moved', async (t) => {
  const clusterId = newCluster();
  const [asker, first, second] = await Promise.all(['asker', 'first', 'second'].map((id) => node(t, clusterId, id)));
  const by = (name: string) => async (): Promise<ReplyPacket> => ({ kind: 'reply', reply: name });
  const ask = () => asker!.request('a.1', request('echo'), 60_000);
  const registration = first!.respond('a.1', by('first'));
  await registration.ready;
  t.deepEqual(await ask(), { kind: 'reply', reply: 'first' });
  // The responder has moved.
  registration.end();
  await second!.respond('a.1', by('second')).ready;
  t.deepEqual(await Promise.all([ask(), ask()]), Array(2).fill({ kind: 'reply', reply: 'second' }));
  // The node has left.
  await second!.close();
  await first!.respond('a.1', by('first again')).ready;
  t.deepEqual(await Promise.all([ask(), ask()]), Array(2).fill({ kind: 'reply', reply: 'first again' }));
  // The node does not own what it answered for.
  await first!.respond('a.1', async () => ({ kind: 'notOwner' })).ready;
  t.deepEqual(await ask(), { kind: 'notOwner' });
  await first!.close();
  await t.throwsAsync(ask(), { instanceOf: NoResponders });
});

test('while the node that answers closes, requests over its route come to something, and nobody waits', async (t) => {
  const clusterId = newCluster();
  const [asker, owner, next] = await Promise.all(['asker', 'owner', 'next'].map((id) => node(t, clusterId, id)));
  await owner!.respond('a.1', echo).ready;
  const ask = () =>
    asker!.request('a.1', request('echo'), 60_000).then(
      ({ kind }) => kind,
      (error: Error) => error.name,
    );
  t.is(await ask(), 'reply');
  const kinds: string[] = [];
  let closed = false;
  const asking = Array.from({ length: 20 }, async () => {
    while (!closed) kinds.push(await ask());
  });
  while (kinds.length < 100) await new Promise(setImmediate);
  await next!.respond('a.1', echo).ready;
  await owner!.close();
  const { length } = kinds;
  while (kinds.length < length + 100) await new Promise(setImmediate);
  closed = true;
  await Promise.all(asking);
  t.deepEqual(
    [...new Set(kinds)].filter((kind) => !['reply', 'notOwner'].includes(kind)),
    [],
  );
});

test('a late reply of the node that answered before makes no route to it', async (t) => {
  const clusterId = newCluster();
  const [asker, first, second] = await Promise.all(['asker', 'first', 'second'].map((id) => node(t, clusterId, id)));
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let took = () => {};
  const taken = new Promise<void>((resolve) => {
    took = resolve;
  });
  const registration = first!.respond('a.1', async (packet) => {
    if (packet.name === 'hang') return new Promise(() => {});
    took();
    return gate.then(() => echo(packet));
  });
  await registration.ready;
  const late = asker!.request('a.1', request('late'), 60_000);
  await taken;
  await second!.respond('a.1', async () => ({ kind: 'reply', reply: 'second' })).ready;
  asker!.forgetRoute('a.1');
  open();
  await late;
  // Both nodes get it, and the second one answers.
  t.like(await asker!.request('a.1', request('hang'), 60_000), { reply: 'second' });
});

test('a route to a node that hangs is forgotten when another node answers', async (t) => {
  const clusterId = newCluster();
  const [asker, first, second] = await Promise.all(['asker', 'first', 'second'].map((id) => node(t, clusterId, id)));
  let hangs = false;
  const responder = (): Promise<ReplyPacket> =>
    hangs ? new Promise(() => {}) : Promise.resolve({ kind: 'reply', reply: 'first' });
  await first!.respond('a.1', responder).ready;
  const ask = (timeoutMs = 60_000) => asker!.request('a.1', request('echo'), timeoutMs);
  t.like(await ask(), { reply: 'first' });
  hangs = true;
  await second!.respond('a.1', async () => ({ kind: 'reply', reply: 'second' })).ready;
  const hung = ask(500);
  asker!.forgetRoute('a.1');
  t.like(await ask(), { reply: 'second' });
  t.like(await ask(), { reply: 'second' });
  await t.throwsAsync(hung, { instanceOf: RequestTimeout });
});

test('octets under way to a node are bounded, with a share per account; requests without octets only by their number', async (t) => {
  const clusterId = newCluster();
  const asker = await node(t, clusterId, 'asker', server, { octets: 3_000, requests: 30 });
  const [slow, fast] = [await node(t, clusterId, 'slow'), await node(t, clusterId, 'fast')];
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  await slow.respond('a.1', (packet) => gate.then(() => echo(packet))).ready;
  await fast.respond('a.2', echo).ready;
  const ask = (subject: string, accountId: string, payload: unknown) =>
    asker.request(subject, { ...request('echo', payload), accountId }, 60_000);
  // The routes are known afterwards.
  const first = ask('a.1', 'first', {});
  await ask('a.2', 'first', {});
  open();
  await first;
  await slow.respond('a.1', () => new Promise(() => {})).ready;

  const octets = new Uint8Array(1_000);
  const hanging = [ask('a.1', 'busy', { octets }), ask('a.1', 'busy', { octets })];
  await t.throwsAsync(ask('a.1', 'busy', { octets }), { instanceOf: Congested });
  t.like(await ask('a.2', 'busy', { octets: new Uint8Array(900) }), { kind: 'reply' });
  hanging.push(ask('a.1', 'other', { octets: new Uint8Array(600) }));
  for (let i = 0; i < 17; i++) hanging.push(ask('a.1', 'busy', {}));
  const more = await Promise.race([...Array.from({ length: 30 }, () => ask('a.1', 'busy', {}))]);
  t.like(more, { kind: 'fault', code: 'overloaded' });
  t.like(await ask('a.2', 'busy', {}), { kind: 'reply' });
  const over = Promise.allSettled(hanging);
  await asker.close();
  for (const { status } of await over) t.is(status, 'rejected');
});

test('a reply that is no packet is a fault', async (t) => {
  const clusterId = newCluster();
  const asker = await node(t, clusterId, 'asker');
  const raw = await stranger(t);
  raw.subscribe(`mansio.${clusterId}.a.1`, { callback: (_, message) => void message.respond('nonsense') });
  await raw.flush();
  t.like(await asker.request('a.1', request('echo'), 60_000), { kind: 'fault', code: 'failed' });
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
  const wrong = await t.throwsAsync(open(newCluster(), 'wrong', [at('mansio:guessed')]), {
    instanceOf: BusUnavailable,
  });
  t.is(explain(wrong), `no NATS server of NATS_URL can be used: ${address} refuses user mansio or the password`);
  const token = await t.throwsAsync(open(newCluster(), 'token', [at('guessed')]), { instanceOf: BusUnavailable });
  t.is(token.message, `no NATS server of NATS_URL can be used: ${address} refuses the token`);
  const none = await t.throwsAsync(open(newCluster(), 'none', [own]), { instanceOf: BusUnavailable });
  t.is(none.message, `no NATS server of NATS_URL can be used: ${address} wants a user and a password`);
  await own.stop();
});

test('a user of the servers needs no subjects but those of the cluster', async (t) => {
  const own = await ownServer(
    t,
    'authorization { user: mansio, password: secret, permissions { publish: "mansio.>", subscribe: "mansio.>" } }',
  );
  const { asker, owner } = await twoNodes(t, { url: own.url.replace('//', '//mansio:secret@') });
  await owner.respond('a.1', echo).ready;
  const heard = collected(owner, 'e.1', 1);
  await heard.registration.ready;
  for (const i of [1, 2]) t.like(await asker.request('a.1', request('echo', i), 60_000), { reply: i });
  asker.publish('e.1', events(1));
  t.deepEqual(await heard.all, [events(1)]);
});

test('one server of several is enough, to start with and later', async (t) => {
  const [first, second] = [await ownServer(t), await ownServer(t)];
  await first.stop();
  const transport = await open(newCluster(), 'several', [first, second]);
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
