// Tests the NATS transport with a real server: the contract of every transport, and what only a bus between processes can do. Lost servers
// and routes to nodes have files of their own.
import type { ExecutionContext } from 'ava';
import { NEVER } from 'rxjs';
import { createEventStreams } from '../../../../src/actors/runtime/events/event-streams.js';
import type { EventPacket, EventRecord, RequestPacket } from '../../../../src/actors/runtime/transport/packet.js';
import {
  decode,
  encode,
  PacketBatch,
  packetText,
  readBatch,
} from '../../../../src/actors/runtime/transport/packet-batch.js';
import { eventSubject } from '../../../../src/actors/runtime/transport/subjects.js';
import { Congested, NoResponders, PacketTooLarge } from '../../../../src/actors/runtime/transport/transport.js';
import { askRaw } from '../../../support/cluster/raw-request.js';
import { deferred } from '../../../support/deferred.js';
import test from '../../../support/test.js';
import { ACCOUNT, log, newCluster, node, opened, ownServer, server, stranger, twoNodes } from './nats-nodes.js';
import { collected, echo, events, request, transportContract } from './transport-contract.js';

test.after.always(() => server.stop());

transportContract(test, 'NATS, one node', async () => {
  const transport = await opened(newCluster(), 'alone');
  return { asker: transport, owner: transport };
});
transportContract(test, 'NATS, two nodes', async () => {
  const clusterId = newCluster();
  return { asker: await opened(clusterId, 'asker'), owner: await opened(clusterId, 'owner') };
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
  // The replies of one turn are meant, and the first three messages may arrive one by one.
  const { promise: allTaken, resolve: open } = deferred();
  let taken = 0;
  const responder = async (packet: RequestPacket) => {
    if (++taken === 60) open();
    await allTaken;
    return echo(packet);
  };
  await Promise.all(subjects.map((subject) => owner.respond(subject, responder).ready));
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

test('octets under way to a node are bounded, with a share per account; requests without octets only by their number', async (t) => {
  const clusterId = newCluster();
  const asker = await node(t, clusterId, 'asker', server, { octets: 3_000, requests: 30 });
  const [slow, fast] = [await node(t, clusterId, 'slow'), await node(t, clusterId, 'fast')];
  const { promise: gate, resolve: open } = deferred();
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
