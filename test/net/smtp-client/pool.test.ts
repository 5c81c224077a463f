// Tests connections of the SMTP client: they are reused, limited per host and in total, and shared fairly when they are short.

import type { DeliveryTask } from '../../../src/actors/delivery/delivery-transport.js';
import { NO_METER } from '../../../src/net/smtp-client/meter.js';
import { deferred } from '../../support/deferred.js';
import test from '../../support/test.js';
import { MESSAGE, only, world } from './client-world.js';

const zonesOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`d${i}.test`, { A: [`127.0.0.${i + 2}`] }]));

/** Wraps the task, and reports whether it waits for a connection. */
function observed(task: DeliveryTask, waits: (isWaiting: boolean) => void): DeliveryTask {
  return {
    ...task,
    connect(host, signal) {
      const permit = task.connect(host, signal);
      if (!(permit instanceof Promise)) return permit;
      waits(true);
      return permit.finally(() => waits(false));
    },
  };
}

test('one connection serves many messages, up to its share', async (t) => {
  const { remote, deliver } = await world(t, {
    zones: zonesOf(1),
    limits: { messagesPerConnection: 3 },
  });
  const mx = await remote('127.0.0.2');
  for (let i = 0; i < 7; i++) t.is(only(await deliver('d0.test')), 'delivered 2.0.0');
  t.is(mx.connections, 3);
});

test('an idle connection that the server ended is replaced, not blamed', async (t) => {
  const { remote, deliver } = await world(t, { zones: zonesOf(1) });
  const mx = await remote('127.0.0.2');
  t.is(only(await deliver('d0.test')), 'delivered 2.0.0');
  await mx.close();
  const again = await remote('127.0.0.2');
  const report = await deliver('d0.test');
  t.is(only(report), 'delivered 2.0.0');
  t.is(report.attempts.length, 1);
  t.is(again.connections, 1);
});

test('idle connections end by themselves', async (t) => {
  const { remote, deliver } = await world(t, { zones: zonesOf(1), limits: { idleMs: 50 } });
  const mx = await remote('127.0.0.2');
  await deliver('d0.test');
  while (mx.open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  t.is(mx.open, 0);
});

test('a host has so many connections and no more, whatever waits', async (t) => {
  let most = 0;
  let open = 0;
  const { remote, deliver } = await world(t, {
    zones: zonesOf(1),
    limits: { connectionsPerHost: 2 },
  });
  const mx = await remote('127.0.0.2', {
    behaviour: {
      message: async () => {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setTimeout(resolve, 5));
        open--;
        return undefined;
      },
    },
  });
  const reports = await Promise.all(Array.from({ length: 30 }, (_, i) => deliver('d0.test', [`r${i}`])));
  t.true(reports.every((report) => only(report) === 'delivered 2.0.0'));
  t.is(mx.messages.length, 30);
  t.is(most, 2);
  t.is(mx.connections, 2);
});

test('a slow host does not keep the others from their mail', async (t) => {
  const inUse: number[] = [];
  const { remote, deliver } = await world(t, {
    zones: zonesOf(4),
    limits: { connections: 3, connectionsPerHost: 2 },
    meter: { ...NO_METER, inUse: (connections) => void inUse.push(connections) },
  });
  let answer = () => {};
  const held = new Promise<undefined>((resolve) => {
    answer = () => resolve(undefined);
  });
  const slow = await remote('127.0.0.2', { behaviour: { message: () => held } });
  for (let i = 1; i < 4; i++) await remote(`127.0.0.${i + 2}`);
  const waiting = Array.from({ length: 20 }, (_, i) => deliver('d0.test', [`r${i}`], MESSAGE, 'other'));
  for (let round = 0; round < 10; round++) {
    const reports = await Promise.all([1, 2, 3].map((i) => deliver(`d${i}.test`)));
    t.true(reports.every((report) => only(report) === 'delivered 2.0.0'));
  }
  t.is(slow.messages.length, 0);
  answer();
  t.true((await Promise.all(waiting)).every((report) => only(report) === 'delivered 2.0.0'));
  t.true(Math.max(...inUse) <= 3);
});

test('a delivery that waits too long has no attempt, and the number that waits is bounded', async (t) => {
  const { remote, deliver } = await world(t, {
    zones: zonesOf(1),
    limits: { connectionsPerHost: 1, waitingForConnection: 1, connectionWaitMs: 100 },
  });
  let answer = () => {};
  const held = new Promise<undefined>((resolve) => {
    answer = () => resolve(undefined);
  });
  const reached = deferred();
  const message = () => {
    reached.resolve();
    return held;
  };
  await remote('127.0.0.2', { behaviour: { message } });
  const first = deliver('d0.test');
  // Any of them may be the first at the server.
  await reached.promise;
  const others = await Promise.all([deliver('d0.test'), deliver('d0.test')]);
  t.deepEqual(others, [
    { outcomes: [], attempts: [] },
    { outcomes: [], attempts: [] },
  ]);
  answer();
  t.is(only(await first), 'delivered 2.0.0');
});

test('an account has its share of the connections; the others wait', async (t) => {
  const { remote, transport, task, deliver } = await world(t, {
    zones: zonesOf(20),
    limits: { connections: 9, connectionsPerHost: 3 },
  });
  let answer = () => {};
  const held = new Promise<undefined>((resolve) => {
    answer = () => resolve(undefined);
  });
  let open = 0;
  const stall = () => {
    open++;
    return held;
  };
  const silent = { behaviour: { message: stall } };
  for (let i = 0; i < 10; i++) await remote(`127.0.0.${i + 2}`, silent);
  for (let i = 10; i < 20; i++) await remote(`127.0.0.${i + 2}`);
  const waiting = new Set<number>();
  // Seventy messages go to ten hosts that never answer the final dot.
  const stuck = Array.from({ length: 70 }, (_, i) =>
    transport.deliver(
      observed(task(`d${i % 10}.test`, ['b'], MESSAGE, 'hostile'), (isWaiting) => {
        if (isWaiting) waiting.add(i);
        else waiting.delete(i);
      }),
    ),
  );
  while (open < 6 || waiting.size < 64) await new Promise((resolve) => setTimeout(resolve, 1));
  for (let round = 0; round < 5; round++) {
    const others = Array.from({ length: 10 }, (_, i) => deliver(`d${i + 10}.test`, ['b'], MESSAGE, `account ${i}`));
    t.true((await Promise.all(others)).every((report) => only(report) === 'delivered 2.0.0'));
  }
  t.is(open, 6, 'two thirds');
  t.is(waiting.size, 64);
  answer();
  t.true((await Promise.all(stuck)).every((report) => only(report) === 'delivered 2.0.0'));
  t.is(waiting.size, 0);
});

test('a host serves the accounts in permit', async (t) => {
  const { remote, transport, task, deliver } = await world(t, { zones: zonesOf(1), limits: { connectionsPerHost: 1 } });
  const order: string[] = [];
  let release = () => {};
  const first = new Promise<undefined>((resolve) => {
    release = () => resolve(undefined);
  });
  await remote('127.0.0.2', {
    behaviour: {
      message: ({ recipients }) => {
        order.push(recipients[0]!.split('@')[0]!);
        return order.length === 1 ? first : undefined;
      },
    },
  });
  const many = Array.from({ length: 10 }, (_, i) => deliver('d0.test', [`many${i}`], MESSAGE, 'many'));
  while (order.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  let hasWaited = false;
  const one = transport.deliver(
    observed(task('d0.test', ['one'], MESSAGE, 'one'), () => {
      hasWaited = true;
    }),
  );
  // The message waits behind nine others.
  while (!hasWaited) await new Promise((resolve) => setTimeout(resolve, 1));
  release();
  await Promise.all([...many, one]);
  t.true(order.indexOf('one') <= 2, order.join(' '));
});
