// Tests asks while owners change: an ask is sent again with the same id when another node answers, and one ask searches for the
// owner on behalf of all when no node does.

import pino from 'pino';
import { EMPTY, Subject } from 'rxjs';
import { ActorFault } from '../../../src/actors/runtime/errors.js';
import type { EventStreams } from '../../../src/actors/runtime/events/event-streams.js';
import { startHost } from '../../../src/actors/runtime/host.js';
import type { Relocation } from '../../../src/actors/runtime/ownership/ownership.js';
import type { EventOf } from '../../../src/actors/runtime/protocol.js';
import { createRefs } from '../../../src/actors/runtime/refs.js';
import type { RequestPacket } from '../../../src/actors/runtime/transport/packet.js';
import {
  Congested,
  Disconnected,
  NoResponders,
  PacketTooLarge,
  type Transport,
} from '../../../src/actors/runtime/transport/transport.js';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import { virtualTest } from '../../support/cluster/virtual-test.js';
import type { VirtualTime } from '../../support/cluster/virtual-time.js';
import { fixedOwnership } from '../../support/ownership.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';
import { CounterStore, counterBehavior, counterProtocol } from './counter.js';

const A = '00000000-0000-7000-8000-00000000000a';
const streams = { of: () => EMPTY } as unknown as EventStreams<EventOf<typeof counterProtocol>>;

function setUp(change: (transport: Transport) => Partial<Transport> = () => ({})) {
  const store = new CounterStore();
  store.add(A);
  const relocations$ = new Subject<Relocation>();
  const missed: number[] = [];
  const local = localTransport({ encoding: true });
  const transport = { ...local, ...change(local) };
  // This node only asks others.
  const ownership = {
    ...fixedOwnership(1, () => undefined),
    relocations$,
    missing: (shard: number) => void missed.push(shard),
  };
  const counters = createRefs({ protocol: counterProtocol, transport, ownership, streams });
  /** Another node on the same bus begins to answer for the shard. */
  const own = async (epoch: number) => {
    const host = startHost({
      behavior: counterBehavior(store),
      transport: local,
      ownership: fixedOwnership(1, () => epoch),
      log: pino({ level: 'silent' }),
      idleMs: 60_000,
      maxOctets: 1e9,
      sweepMs: 60_000,
      checked: true,
    });
    await host.acquired([0]);
    return host;
  };
  const settled = () => relocations$.next({ shards: [0], unclean: true });
  return { store, counter: counters.of(A), own, settled, missed };
}

test('an ask whose owner dies before the commit is carried out by the next, and by nobody else', async (t) => {
  const { store, counter, own, settled } = setUp();
  const first = await own(1);
  let open = () => {};
  store.gate = new Promise((resolve) => {
    open = resolve;
  });
  const asked = counter.ask('add', { amount: 5 });
  await turn();
  store.gate = Promise.resolve();
  const next = await own(2);
  settled();
  t.deepEqual(await asked, { reply: { total: 5 } });
  open();
  await first.stop();
  t.deepEqual(store.rows.get(A), { epoch: 2, total: 5, seq: 1 });
  await next.stop();
});

test('an ask whose owner dies after the commit gets the reply from the next, which does nothing', async (t) => {
  const ids: string[] = [];
  const { store, counter, own, settled } = setUp((local) => ({
    async request(subject, packet, timeoutMs) {
      ids.push(packet.id);
      const isFirst = ids.length === 1;
      const reply = await local.request(subject, packet, timeoutMs);
      return isFirst ? new Promise(() => {}) : reply;
    },
  }));
  const first = await own(1);
  const asked = counter.ask('add', { amount: 5 });
  while (store.rows.get(A)?.total !== 5) await turn();
  const next = await own(2);
  settled();
  t.deepEqual(await asked, { reply: { total: 5 } });
  t.is(store.commits, 1);
  t.is(new Set(ids).size, 1);
  t.is(ids.length, 2);
  await Promise.all([first.stop(), next.stop()]);
});

test('news that somebody answers now end the looking at once', async (t) => {
  const { counter, own, settled, missed } = setUp();
  const asked = counter.ask('add', { amount: 5 });
  while (missed.length === 0) await turn();
  const host = await own(1);
  settled();
  t.deepEqual(await asked, { reply: { total: 5 } });
  await host.stop();
});

test('an ask that another node leaves unanswered makes it looked for, whatever the bus says', async (t) => {
  let lost = true;
  const { counter, own, settled, missed } = setUp((local) => ({
    request: (...request) => (lost ? new Promise(() => {}) : local.request(...request)),
  }));
  const asked = counter.ask('add', { amount: 5 });
  while (missed.length === 0) await turn();
  lost = false;
  const host = await own(1);
  settled();
  t.deepEqual(await asked, { reply: { total: 5 } });
  t.deepEqual(missed, [0]);
  await host.stop();
});

test('an ask that is repeated takes no route to the former owner', async (t) => {
  const calls: string[] = [];
  let lost = true;
  const { counter, own, settled } = setUp((local) => ({
    request: (subject, ...request) => {
      calls.push(`request ${subject}`);
      return lost ? new Promise(() => {}) : local.request(subject, ...request);
    },
    forgetRoute: (subject) => void calls.push(`forget ${subject}`),
  }));
  const asked = counter.ask('add', { amount: 5 });
  lost = false;
  const host = await own(1);
  settled();
  t.deepEqual(await asked, { reply: { total: 5 } });
  t.deepEqual(calls, ['request counter.0', 'forget counter.0', 'request counter.0']);
  await host.stop();
});

test('what was not sent is a fault at once, with its cause', async (t) => {
  for (const [cause, code] of [
    [new Congested('full'), 'overloaded'],
    [new PacketTooLarge('large'), 'failed'],
  ] as const) {
    const { counter } = setUp(() => ({ request: () => Promise.reject(cause) }));
    const fault = await t.throwsAsync(counter.ask('add', { amount: 5 }), { instanceOf: ActorFault });
    t.is(fault.code, code);
    t.is(fault.cause, cause);
  }
});

test('a refusal that this version does not know is the fault of an owner of another version', async (t) => {
  const answered = (refusal: string) =>
    setUp(() => ({ request: async () => ({ kind: 'refusal', refusal }) })).counter.ask('add', { amount: 5 });
  t.deepEqual(await answered('tooLarge'), { refusal: 'tooLarge' });
  const fault = await t.throwsAsync(answered('overQuota'), { instanceOf: ActorFault });
  t.is(fault.code, 'unsupported');
});

const ASKS = 1_000;

/** Sends many asks for one shard that no node answers for, in virtual time. */
async function absence(time: VirtualTime, ownerWaitMs?: number) {
  const relocations$ = new Subject<Relocation>();
  const state = { requests: 0, answered: false, replies: 0, faults: [] as ActorFault[] };
  const transport: Transport = {
    ...localTransport(),
    async request(subject) {
      state.requests++;
      if (!state.answered) throw new NoResponders(subject);
      return { kind: 'reply', reply: { total: 1 } };
    },
  };
  const ownership = { ...fixedOwnership(1), relocations$ };
  const options = { protocol: counterProtocol, transport, ownership, streams };
  const refs = createRefs(ownerWaitMs === undefined ? options : { ...options, ownerWaitMs });
  for (let i = 0; i < ASKS; i++) {
    refs
      .of(A)
      .ask('total', {})
      .then(
        () => state.replies++,
        (error: ActorFault) => state.faults.push(error),
      );
  }
  await time.settled();
  return { state, settled: () => relocations$.next({ shards: [0], unclean: true }) };
}

virtualTest('however many ask for a shard that nobody owns, one at a time looks for its owner', async (t, time) => {
  const { state, settled } = await absence(time);
  t.is(state.requests, ASKS);
  await time.advance(2_000);
  const looks = state.requests - ASKS;
  t.true(looks >= 8 && looks <= 25, `${looks} looks`);
  state.answered = true;
  settled();
  await time.settled();
  t.is(state.replies, ASKS);
  t.is(state.requests, ASKS + looks + ASKS);
});

virtualTest('when the one who looks finds somebody, all the others ask at once', async (t, time) => {
  const { state } = await absence(time);
  await time.advance(2_000);
  state.answered = true;
  t.true(await time.until(() => state.replies > 0, 500));
  await time.settled();
  t.is(state.replies, ASKS);
});

virtualTest('who finds nobody gives up in time, and leaves nothing behind', async (t, time) => {
  const { state } = await absence(time, 700);
  await time.advance(699);
  t.deepEqual(state.faults, []);
  await time.advance(2);
  t.is(state.faults.length, ASKS);
  t.true(state.faults.every(({ code, temporary }) => code === 'unreachable' && temporary));
  const { requests } = state;
  await time.advance(10_000);
  t.is(state.requests, requests);
});

test('what an ask carries reaches the owner, and an ask that carries something does not wait for the bus', async (t) => {
  let isCutOff = false;
  const requests: RequestPacket[] = [];
  const { counter, own } = setUp(({ request }) => ({
    async request(subject, packet, timeoutMs) {
      requests.push(packet);
      if (isCutOff) throw new Disconnected(subject);
      return request(subject, packet, timeoutMs);
    },
  }));
  const host = await own(1);
  const carried = [{ octets: Buffer.from('x') }];
  const id = '00000000-0000-7000-8000-000000000001';
  const ask = () => counter.ask('add', { amount: 1 }, { id, carried });
  t.deepEqual(await ask(), { reply: { total: 1 } });
  t.like(requests[0], { id, carried });
  t.deepEqual(await counter.ask('add', { amount: 1 }, { id }), { reply: { total: 1 } }, 'it is the same command');
  isCutOff = true;
  await t.throwsAsync(ask(), { message: /no bus/ });
  t.is(requests.length, 3);
  await host.stop();
});
