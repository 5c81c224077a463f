// Tests what an activation answers when it fails: a later owner has the account, or the node is older than the question; and that it
// reads what commands declare before it plans them.

import pino from 'pino';
import type { Behavior } from '../../../src/actors/runtime/behavior.js';
import { startHost } from '../../../src/actors/runtime/host.js';
import type { ReplyPacket } from '../../../src/actors/runtime/transport/packet.js';
import { requestSubject } from '../../../src/actors/runtime/transport/subjects.js';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import { fixedOwnership } from '../../support/ownership.js';
import test from '../../support/test.js';
import {
  type CounterState,
  CounterStore,
  type CounterTransaction,
  counterBehavior,
  type counterProtocol,
} from './counter.js';

const A = '00000000-0000-7000-8000-00000000000a';

type BehaviorOf<T, R, D> = (store: CounterStore) => Behavior<typeof counterProtocol, CounterState, T, R, D>;

async function setUp<T, R, D>(behave: BehaviorOf<T, R, D>) {
  const store = new CounterStore();
  store.add(A);
  const transport = localTransport({ encoding: true });
  const looked = { again: 0 };
  const host = startHost({
    behavior: behave(store),
    transport,
    ownership: { ...fixedOwnership(1, () => 3), recheck: () => void looked.again++ },
    log: pino({ level: 'silent' }),
    idleMs: 60_000,
    maxOctets: 1e9,
    sweepMs: 60_000,
    checked: true,
  });
  await host.acquired([0]);
  const ask = (name: string, payload: unknown): Promise<ReplyPacket> => {
    const deadline = Date.now() + 60_000;
    const packet = { v: 1, id: crypto.randomUUID(), accountId: A, name, payload, deadline };
    return transport.request(requestSubject('counter', 0), packet, 60_000);
  };
  return { store, host, looked, ask };
}

test('who cannot claim the account because a later epoch has it is not its owner, and has leases to look at', async (t) => {
  const { store, host, looked, ask } = await setUp(counterBehavior);
  store.rows.get(A)!.epoch = 4;
  const replies = await Promise.all([ask('add', { amount: 1 }), ask('total', {}), ask('add', { amount: 1 })]);
  t.deepEqual(replies, [{ kind: 'notOwner' }, { kind: 'notOwner' }, { kind: 'notOwner' }]);
  t.true(looked.again > 0);
  t.is(host.size, 0);
  t.is(store.rows.get(A)?.epoch, 4);
  await host.stop();
});

test('who is overtaken while commands wait answers none of them as done', async (t) => {
  const { store, host, looked, ask } = await setUp(counterBehavior);
  t.like(await ask('add', { amount: 1 }), { kind: 'reply' });
  let open = () => {};
  store.gate = new Promise((resolve) => {
    open = resolve;
  });
  const waiting = [1, 2, 3].map((amount) => ask('add', { amount }));
  store.rows.get(A)!.epoch = 4;
  open();
  t.deepEqual(await Promise.all(waiting), Array(3).fill({ kind: 'notOwner' }));
  t.true(looked.again > 0);
  t.is(store.rows.get(A)?.total, 1);
  await host.stop();
});

test('an operation of a later version is not known, which is no bug', async (t) => {
  const { host, ask } = await setUp(counterBehavior);
  t.like(await ask('multiply', { factor: 2 }), { kind: 'fault', code: 'unsupported' });
  t.like(await ask('add', { amount: 1 }), { kind: 'reply' });
  await host.stop();
});

type ReadingBehavior = Behavior<
  typeof counterProtocol,
  CounterState,
  ReadingTransaction,
  ReadonlySet<unknown> | undefined,
  number
>;

interface ReadingTransaction extends CounterTransaction {
  readonly read: ReadonlySet<unknown>;
}

/** Refuses amounts above 1 that were not read before. `groups`: the sums that the commands of each group declared. */
function readingBehavior(store: CounterStore, groups: number[][]): ReadingBehavior {
  const counter = counterBehavior(store);
  return {
    ...counter,
    async prepare(_state, declared) {
      groups.push(declared.map(({ reads }) => reads));
      return new Set(declared.map(({ payload }) => payload));
    },
    begin: (state, context, read = new Set()) => ({ ...counter.begin(state, context), read }),
    commands: {
      add: {
        reads: ({ amount }, { total }) => (amount > 1 ? total + amount : undefined),
        plan(transaction, payload) {
          const { amount } = payload;
          if (amount > 1 && !transaction.read.has(payload)) return { refusal: 'tooLarge' };
          transaction.total += amount;
          transaction.amounts.push(amount);
          return { reply: { total: transaction.total } };
        },
      },
      crash: () => ({ reply: {} }),
    },
  };
}

test('what the commands of a group declare is read once, before they are planned', async (t) => {
  const groups: number[][] = [];
  const { store, host, ask } = await setUp((counters) => readingBehavior(counters, groups));
  t.deepEqual(await ask('add', { amount: 1 }), { kind: 'reply', reply: { total: 1 } });
  t.deepEqual(groups, []);
  let open = () => {};
  store.gate = new Promise((resolve) => {
    open = resolve;
  });
  const first = ask('add', { amount: 5 });
  while (groups.length === 0) await new Promise(setImmediate);
  const waiting = [first, ...[1, 3, 2].map((amount) => ask('add', { amount }))];
  open();
  const totals = [6, 7, 10, 12].map((total) => ({ kind: 'reply', reply: { total } }));
  t.deepEqual(await Promise.all(waiting), totals);
  t.deepEqual(groups, [[6], [9, 8]]);
  await host.stop();
});

test('reads that fail leave no command without an answer', async (t) => {
  const { host, ask } = await setUp((counters) => {
    const reading = readingBehavior(counters, []);
    const reads = () => {
      throw new Error('broken');
    };
    return {
      ...reading,
      commands: { ...reading.commands, add: { ...(reading.commands.add as object), reads } as never },
    };
  });
  t.deepEqual(await ask('add', { amount: 1 }), { kind: 'reply', reply: { total: 1 } });
  t.deepEqual(await ask('add', { amount: 2 }), { kind: 'refusal', refusal: 'tooLarge' });
  await host.stop();
});
