import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { ActorFault } from '../../../src/actors/runtime/errors.js';
import { createEventStreams } from '../../../src/actors/runtime/events/event-streams.js';
import { startHost } from '../../../src/actors/runtime/host.js';
import type { EventOf } from '../../../src/actors/runtime/protocol.js';
import { createRefs } from '../../../src/actors/runtime/refs.js';
import type { Responder } from '../../../src/actors/runtime/transport/transport.js';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import { StoreFault } from '../../../src/store/errors.js';
import { fixedOwnership } from '../../support/ownership.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';
import { until } from '../../support/until.js';
import { CounterStore, counterBehavior, counterProtocol } from './counter.js';

const A = '00000000-0000-7000-8000-00000000000a';
const B = '00000000-0000-7000-8000-00000000000b';
const log = pino({ level: 'silent' });

function setUp(
  options: { checked?: boolean; idleMs?: number; maxOctets?: number; sweepMs?: number; ownerWaitMs?: number } = {},
) {
  const store = new CounterStore();
  store.add(A);
  store.add(B);
  let epoch: number | undefined = 1;
  const ownership = fixedOwnership(1, () => epoch);
  const transport = localTransport({ encoding: true });
  const responds: Responder[] = [];
  const host = startHost({
    behavior: counterBehavior(store),
    transport: {
      ...transport,
      respond(subject, responder) {
        responds.push(responder);
        return transport.respond(subject, responder);
      },
    },
    ownership,
    log,
    idleMs: options.idleMs ?? 60_000,
    maxOctets: options.maxOctets ?? 1e9,
    sweepMs: options.sweepMs ?? 60_000,
    checked: options.checked ?? true,
  });
  void host.acquired(ownership.owned);
  const streams = createEventStreams<EventOf<typeof counterProtocol>>({
    protocolName: 'counter',
    transport,
    ownership,
    log: {
      read: async (_accountId, after) => store.log.filter((row) => row.seq > after),
      newest: async () => store.log.at(-1)?.seq ?? 0,
      prune: async () => 0,
    },
    logger: log,
  });
  const { ownerWaitMs = 6_000 } = options;
  const counters = createRefs({ protocol: counterProtocol, transport, ownership, streams, ownerWaitMs });
  return {
    store,
    host,
    counters,
    responds,
    own: (next: number | undefined) => {
      epoch = next;
    },
  };
}

test('commands are carried out in order and those that wait share a commit', async (t) => {
  const { store, counters, host } = setUp();
  let open = () => {};
  store.gate = new Promise((resolve) => {
    open = resolve;
  });
  const counter = counters.of(A);
  const replies = [1, 2, 3, 4, 5].map((amount) => counter.ask('add', { amount }));
  open();
  t.deepEqual(
    (await Promise.all(replies)).map((outcome) => outcome.reply?.total),
    [1, 3, 6, 10, 15],
  );
  t.true(store.commits <= 2);
  await host.stop();
});

test('a refusal is a value and does not disturb its neighbours', async (t) => {
  const { counters, host } = setUp();
  const counter = counters.of(A);
  const outcomes = await Promise.all([
    counter.ask('add', { amount: 1 }),
    counter.ask('add', { amount: 5000 }),
    counter.ask('add', { amount: 2 }),
  ]);
  t.deepEqual(outcomes, [{ reply: { total: 1 } }, { refusal: 'tooLarge' }, { reply: { total: 3 } }]);
  await host.stop();
});

test('what a later version has added to a payload is passed over; a request without a payload is a fault', async (t) => {
  const { host, responds } = setUp({ checked: false });
  const ask = (payload: unknown) =>
    responds[0]!({ v: 1, id: randomUUID(), accountId: A, name: 'add', payload, deadline: Date.now() + 60_000 });
  t.deepEqual(await ask({ amount: 2, invented: true }), { kind: 'reply', reply: { total: 2 } });
  for (const payload of [null, undefined, 7]) {
    t.like(await ask(payload), { kind: 'fault', code: 'failed' });
  }
  t.deepEqual(await ask({ amount: 1 }), { kind: 'reply', reply: { total: 3 } });
  await host.stop();
});

test('a handler that throws fails alone', async (t) => {
  const { counters, host } = setUp();
  const counter = counters.of(A);
  const [first, crash, last] = await Promise.allSettled([
    counter.ask('add', { amount: 1 }),
    counter.ask('crash', {}),
    counter.ask('add', { amount: 2 }),
  ]);
  t.is(first.status, 'fulfilled');
  t.is(crash.status === 'rejected' && crash.reason.code, 'failed');
  t.deepEqual(last.status === 'fulfilled' && last.value, { reply: { total: 3 } });
  await host.stop();
});

test('after a fault of the store the actor loads the truth before it goes on', async (t) => {
  const { store, counters, host } = setUp();
  const counter = counters.of(A);
  await counter.ask('add', { amount: 1 });
  store.failure = new StoreFault('store-unavailable', 'down', { temporary: true });
  const error = await t.throwsAsync(counter.ask('add', { amount: 1 }), { instanceOf: ActorFault });
  t.is(error.code, 'store-unavailable');
  t.true(error.temporary);
  store.failure = undefined;
  store.rows.get(A)!.total = 41;
  t.deepEqual(await counter.ask('add', { amount: 1 }), { reply: { total: 42 } });
  t.is(store.loads, 2);
  await host.stop();
});

test('what was committed though its answer was lost reaches followers, with nobody asking again', async (t) => {
  const { store, counters, host } = setUp({ sweepMs: 5 });
  const counter = counters.of(A);
  const seen: number[] = [];
  const followed = new Promise<void>((resolve) => {
    counter.events$().subscribe((events) => {
      seen.push(...events.map((event) => event.seq));
      if (seen.length === 3) resolve();
    });
  });
  await counter.ask('add', { amount: 1 });
  store.lostAnswer = new StoreFault('store-unavailable', 'the connection broke', { temporary: true });
  const error = await t.throwsAsync(counter.ask('add', { amount: 2 }), { instanceOf: ActorFault });
  t.is(error.code, 'store-unavailable');
  await until(() => seen.length >= 2);
  t.deepEqual(await counter.ask('add', { amount: 3 }), { reply: { total: 6 } });
  await followed;
  t.deepEqual(seen, [1, 2, 3]);
  await host.stop();
});

test('what was committed though its answer was lost reaches followers, also when the shard moves or the node stops', async (t) => {
  for (const end of ['released', 'stop'] as const) {
    const { store, counters, host } = setUp();
    const seen: number[] = [];
    const followed = new Promise<void>((resolve) => {
      counters
        .of(A)
        .events$()
        .subscribe((events) => {
          seen.push(...events.map((event) => event.seq));
          if (seen.length === 2) resolve();
        });
    });
    await counters.of(A).ask('add', { amount: 1 });
    store.lostAnswer = new StoreFault('store-unavailable', 'the connection broke', { temporary: true });
    await t.throwsAsync(counters.of(A).ask('add', { amount: 2 }), { instanceOf: ActorFault });
    await (end === 'released' ? host.released([0]) : host.stop());
    await followed;
    t.deepEqual(seen, [1, 2]);
    await host.stop();
  }
});

test('a commit that comes to nothing known after the shard has moved reaches followers', async (t) => {
  const { store, counters, host, own } = setUp({ sweepMs: 5 });
  let open = () => {};
  store.gate = new Promise((resolve) => {
    open = resolve;
  });
  const followed = new Promise<void>((resolve) => {
    counters
      .of(A)
      .events$()
      .subscribe((events) => events.length > 0 && resolve());
  });
  const asked = counters.of(A).ask('add', { amount: 1 });
  while (store.begun === 0) await turn();
  const releasing = host.released([0]);
  own(undefined);
  store.lostAnswer = new StoreFault('store-unavailable', 'the connection broke', { temporary: true });
  open();
  await t.throwsAsync(asked, { instanceOf: ActorFault });
  await Promise.all([releasing, followed]);
  t.is(store.loads, 1);
  await host.stop();
});

test('an owner whose epoch was overtaken writes nothing, and the asker finds the new owner', async (t) => {
  const { store, counters, host, own } = setUp();
  const counter = counters.of(A);
  await counter.ask('add', { amount: 1 });
  store.rows.get(A)!.epoch = 7;
  const asked = counter.ask('add', { amount: 1 });
  own(7);
  t.deepEqual(await asked, { reply: { total: 2 } });
  t.is(store.rows.get(A)!.seq, 2);
  await host.stop();
});

test('who owns nothing is unreachable until the deadline, an account that is not there is named', async (t) => {
  const { counters, host, own } = setUp();
  const missing = await t.throwsAsync(counters.of('00000000-0000-7000-8000-0000000000ff').ask('total', {}), {
    instanceOf: ActorFault,
  });
  t.is(missing.code, 'no-such-account');
  own(undefined);
  const error = await t.throwsAsync(counters.of(A).ask('total', {}, { deadlineMs: 60 }), { instanceOf: ActorFault });
  t.is(error.code, 'unreachable');
  await host.stop();
});

test('without an owner an ask does not wait for its whole deadline', async (t) => {
  const { counters, host, own } = setUp({ ownerWaitMs: 50 });
  own(undefined);
  const asked = counters.of(A).ask('total', {}, { deadlineMs: 600_000 });
  const error = await t.throwsAsync(asked, { instanceOf: ActorFault });
  t.is(error.code, 'unreachable');
  await host.stop();
});

test('the command queue is bounded and says so', async (t) => {
  const { store, counters, host } = setUp();
  let open = () => {};
  store.gate = new Promise((resolve) => {
    open = resolve;
  });
  const counter = counters.of(A);
  const asks = Array.from({ length: 1200 }, () => counter.ask('add', { amount: 1 }));
  const settled = Promise.allSettled(asks);
  const overloaded = await Promise.race(
    asks.map((ask) =>
      ask.then(
        () => 'done',
        (error: ActorFault) => error.code,
      ),
    ),
  );
  t.is(overloaded, 'overloaded');
  open();
  const done = (await settled).filter((result) => result.status === 'fulfilled').length;
  t.true(done >= 1000 && done < 1200);
  t.is(store.rows.get(A)!.total, done);
  await host.stop();
});

test('stopping answers what was taken before and takes nothing more', async (t) => {
  const { store, counters, host } = setUp();
  let open = () => {};
  store.gate = new Promise((resolve) => {
    open = resolve;
  });
  const taken = counters.of(A).ask('add', { amount: 5 });
  const stopped = host.stop();
  open();
  t.deepEqual(await taken, { reply: { total: 5 } });
  await stopped;
  const error = await t.throwsAsync(counters.of(A).ask('total', {}, { deadlineMs: 40 }), { instanceOf: ActorFault });
  t.is(error.code, 'unreachable');
});

/** Resolves once the host keeps `size` actors. */
const sizeIs = (host: { readonly size: number }, size: number): Promise<void> => until(() => host.size === size);

test('an idle actor is passivated and loads again when it is addressed', async (t) => {
  const { store, counters, host } = setUp({ idleMs: 0, sweepMs: 5 });
  await counters.of(A).ask('add', { amount: 3 });
  await sizeIs(host, 0);
  t.deepEqual(await counters.of(A).ask('total', {}), { reply: { total: 3 } });
  t.true(store.loads >= 2);
  await host.stop();
});

test('when memory is short the actor used least recently goes, and none that is at work', async (t) => {
  const { store, counters, host } = setUp({ maxOctets: 1_500_000, sweepMs: 5 });
  await counters.of(A).ask('add', { amount: 1 });
  let open = () => {};
  store.gate = new Promise((resolve) => {
    open = resolve;
  });
  const working = counters.of(B).ask('add', { amount: 2 });
  await sizeIs(host, 1);
  open();
  t.deepEqual(await working, { reply: { total: 2 } });
  t.is(store.loads, 2);
  t.deepEqual(await counters.of(B).ask('total', {}), { reply: { total: 2 } });
  t.is(store.loads, 2, 'B was kept');
  await host.stop();
});

test('actors that are loaded between two sweeps do not exceed the memory', async (t) => {
  const { store, counters, host } = setUp({ maxOctets: 2_500_000, sweepMs: 1e9 });
  const accounts = [A, B, ...Array.from({ length: 8 }, () => randomUUID())];
  for (const [i, account] of accounts.entries()) {
    store.add(account);
    t.deepEqual(await counters.of(account).ask('add', { amount: i }), { reply: { total: i } });
    t.true(host.load.octets <= 2_500_000);
    t.is(host.size, Math.min(i + 1, 2));
  }
  t.deepEqual(await counters.of(accounts.at(-1)!).ask('total', {}), { reply: { total: 9 } });
  t.is(store.loads, 10, 'the last one was kept');
  t.deepEqual(await counters.of(accounts[3]!).ask('total', {}), { reply: { total: 3 } });
  t.is(store.loads, 11);
  await host.stop();
  t.is(host.load.octets, 0);
});
