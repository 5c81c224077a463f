// Tests commands that must not run twice: whichever node runs an ask a second time, the reply is the first one.
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { startHost } from '../../../src/actors/runtime/host.js';
import { type Meter, NO_METER } from '../../../src/actors/runtime/meter.js';
import type { ReplyPacket } from '../../../src/actors/runtime/transport/packet.js';
import { requestSubject } from '../../../src/actors/runtime/transport/subjects.js';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import { StoreFault } from '../../../src/store/errors.js';
import { fixedOwnership } from '../../support/ownership.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';
import { type CounterBehavior, CounterStore, counterBehavior } from './counter.js';

const A = '00000000-0000-7000-8000-00000000000a';

/** Starts a node that owns the account in this epoch. */
async function owner(
  store: CounterStore,
  epoch: number,
  receive: CounterBehavior['receive'] = () => () => {},
  meter: Meter = NO_METER,
) {
  const transport = localTransport({ encoding: true });
  const host = startHost({
    behavior: { ...counterBehavior(store), receive },
    transport,
    ownership: fixedOwnership(1, () => epoch),
    log: pino({ level: 'silent' }),
    idleMs: 60_000,
    maxOctets: 1e9,
    sweepMs: 60_000,
    checked: true,
    meter,
  });
  await host.acquired([0]);
  const add = (id: string, amount: number, carried?: unknown): Promise<ReplyPacket> => {
    const deadline = Date.now() + 60_000;
    const packet = { v: 1, id, accountId: A, name: 'add', payload: { amount }, deadline, carried };
    return transport.request(requestSubject('counter', 0), packet, 60_000);
  };
  return { host, add };
}

function storeOf(): CounterStore {
  const store = new CounterStore();
  store.add(A);
  return store;
}

const total = (count: number): ReplyPacket => ({ kind: 'reply', reply: { total: count } });

test('the same ask again gets the reply of the first time', async (t) => {
  const store = storeOf();
  const { host, add } = await owner(store, 1);
  const id = randomUUID();
  t.deepEqual(await add(id, 5), total(5));
  t.deepEqual(await add(randomUUID(), 1), total(6));
  t.deepEqual(await add(id, 5), total(5));
  t.is(store.rows.get(A)?.total, 6);
  t.is(store.commits, 2);
  await host.stop();
});

test('twice in one commit it is carried out once', async (t) => {
  const store = storeOf();
  const { host, add } = await owner(store, 1);
  let open = () => {};
  store.gate = new Promise((resolve) => {
    open = resolve;
  });
  const before = add(randomUUID(), 1);
  const id = randomUUID();
  const both = [add(id, 5), add(randomUUID(), 10), add(id, 5)];
  open();
  t.deepEqual(await before, total(1));
  t.deepEqual(await Promise.all(both), [total(6), total(16), total(6)]);
  t.true(store.commits <= 2);
  await host.stop();
});

test('while the first attempt is being committed the second waits for it', async (t) => {
  const store = storeOf();
  const { host, add } = await owner(store, 1);
  let open = () => {};
  store.gate = new Promise((resolve) => {
    open = resolve;
  });
  const id = randomUUID();
  const first = add(id, 5);
  await turn();
  const second = add(id, 5);
  open();
  t.deepEqual(await Promise.all([first, second]), [total(5), total(5)]);
  t.is(store.rows.get(A)?.total, 5);
  await host.stop();
});

test('what was committed though nobody learnt of it is not done again, by this owner or the next', async (t) => {
  const store = storeOf();
  const first = await owner(store, 1);
  const id = randomUUID();
  store.lostAnswer = new StoreFault('store-unavailable', 'the connection broke', { temporary: true });
  t.like(await first.add(id, 5), { kind: 'fault', code: 'store-unavailable' });
  t.deepEqual(await first.add(id, 5), total(5));
  t.is(store.loads, 2);
  const next = await owner(store, 2);
  t.deepEqual(await next.add(id, 5), total(5));
  t.deepEqual([store.rows.get(A)?.total, store.commits], [5, 1]);
  await Promise.all([first.host.stop(), next.host.stop()]);
});

test('a refusal is not remembered: nothing was done', async (t) => {
  const store = storeOf();
  const { host, add } = await owner(store, 1);
  const id = randomUUID();
  t.deepEqual(await add(id, 5_000), { kind: 'refusal', refusal: 'tooLarge' });
  t.deepEqual(await add(id, 5), total(5));
  await host.stop();
});

test('the behavior has what a request carries until the answer', async (t) => {
  const store = storeOf();
  const seen: unknown[] = [];
  const { host, add } = await owner(store, 1, (carried) => {
    seen.push(carried, store.commits);
    return () => seen.push('answered', store.commits);
  });
  await add(randomUUID(), 1);
  t.deepEqual(seen, []);
  t.deepEqual(await add(randomUUID(), 1, [Buffer.from('x')]), total(2));
  t.deepEqual(seen, [[Buffer.from('x')], 1, 'answered', 2]);
  await add(randomUUID(), 5_000, 'refused');
  t.deepEqual(seen.slice(-4), ['refused', 2, 'answered', 2]);
  await host.stop();
});

test('a request that carries what the behavior does not understand is refused and counted', async (t) => {
  const store = storeOf();
  const outcomes: string[] = [];
  const meter = {
    ...NO_METER,
    answered: (_: string, name: string, outcome: string) => outcomes.push(`${name} ${outcome}`),
  };
  const { host, add } = await owner(store, 1, (carried) => (carried === 'damaged' ? undefined : () => {}), meter);
  t.like(await add(randomUUID(), 1, 'damaged'), { kind: 'fault', code: 'unsupported' });
  t.is(store.commits, 0);
  t.deepEqual(await add(randomUUID(), 1, 'whole'), total(1));
  t.deepEqual(outcomes, ['add unsupported', 'add reply']);
  await host.stop();
});
