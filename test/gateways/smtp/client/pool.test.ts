// Connections of the SMTP client: used again, bounded by host and in all, fair when they are short.
import test from 'ava';
import { only, world } from './client-world.js';

const zonesOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`d${i}.test`, { A: [`127.0.0.${i + 2}`] }]));

test('one connection serves many messages, up to its share', async (t) => {
  const { remote, deliver } = await world(t, {
    zones: zonesOf(1),
    limits: { messagesPerConnection: 3, idleMs: 60_000 },
  });
  const mx = await remote('127.0.0.2');
  for (let i = 0; i < 7; i++) t.is(only(await deliver('d0.test')), 'delivered 2.0.0');
  t.is(mx.connections, 3);
});

test('an idle connection that the server ended is replaced, not blamed', async (t) => {
  const { remote, deliver } = await world(t, { zones: zonesOf(1), limits: { idleMs: 60_000 } });
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
    meter: {
      attempted: () => {},
      connected: () => {},
      sent: () => {},
      inUse: (connections) => void inUse.push(connections),
    },
  });
  let answer = () => {};
  const held = new Promise<undefined>((resolve) => {
    answer = () => resolve(undefined);
  });
  const slow = await remote('127.0.0.2', { behaviour: { message: () => held } });
  for (let i = 1; i < 4; i++) await remote(`127.0.0.${i + 2}`);
  const waiting = Array.from({ length: 20 }, (_, i) => deliver('d0.test', [`r${i}`]));
  for (let round = 0; round < 10; round++) {
    const reports = await Promise.all([1, 2, 3].map((i) => deliver(`d${i}.test`)));
    t.true(reports.every((report) => only(report) === 'delivered 2.0.0'));
  }
  t.is(slow.messages.length, 0);
  answer();
  t.true((await Promise.all(waiting)).every((report) => only(report) === 'delivered 2.0.0'));
  t.true(Math.max(...inUse) <= 3);
});

test('who waits too long is told, and what waits is bounded', async (t) => {
  const { remote, deliver } = await world(t, {
    zones: zonesOf(1),
    limits: { connectionsPerHost: 1, waiting: 1, waitMs: 100 },
  });
  let answer = () => {};
  const held = new Promise<undefined>((resolve) => {
    answer = () => resolve(undefined);
  });
  await remote('127.0.0.2', { behaviour: { message: () => held } });
  const first = deliver('d0.test');
  const others = await Promise.all([deliver('d0.test'), deliver('d0.test')]);
  t.deepEqual(others.map(only), ['temporary 4.4.5', 'temporary 4.4.5']);
  answer();
  t.is(only(await first), 'delivered 2.0.0');
});
