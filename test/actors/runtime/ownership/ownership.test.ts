// Tests ownership in simulated clusters: single faults with a known course. The simulation itself checks the invariants at every moment;
// random histories are in ownership.histories.test.ts.
import type { Relocation } from '../../../../src/actors/runtime/ownership/ownership.js';
import { SimulatedCluster, type SimulatedNode, TTL_MS } from '../../../support/cluster/simulated-cluster.js';
import test from '../../../support/test.js';
import { cluster, PATIENCE_MS, passing, SHARDS } from './settled-cluster.js';

test.serial('a joiner gets its share and nothing else moves, a leaver gives its own', async (t) => {
  const world = await cluster(t, ['a', 'b', 'c']);
  const before = world.leases.leases.map(({ nodeId }) => nodeId);
  const joined = await passing(world, world.join('d'));
  t.true(await world.time.until(() => world.isConverged, PATIENCE_MS));
  const moved = world.leases.leases.filter(({ shard, nodeId }) => nodeId !== before[shard]);
  t.true(moved.length > 0 && moved.every(({ nodeId }) => nodeId === 'd'));
  await passing(world, world.leave(joined));
  t.true(await world.time.until(() => world.isConverged, PATIENCE_MS));
  t.deepEqual(
    world.leases.leases.map(({ nodeId }) => nodeId),
    before,
  );
});

test.serial('who drains hands everything over before others answer for it, and before it resolves', async (t) => {
  const world = await cluster(t, ['a', 'b']);
  const a = world.node('a')!;
  const others = new Set<number>();
  const { published } = world.bus;
  world.bus.published = (by, packet) => {
    published(by, packet);
    if (!('kind' in packet) || packet.kind !== 'acquired') return;
    for (const shard of packet.shards) {
      t.false(a.answering.has(shard));
      others.add(shard);
    }
  };
  const had = a.ownership.owned;
  t.true(had.length > 1);
  const told = world.told.length;
  await passing(
    world,
    world.time.as(a, () => a.ownership.drain(PATIENCE_MS)),
  );
  t.is(a.ownership.state, 'draining');
  t.deepEqual(a.ownership.owned, []);
  t.true(world.leases.leases.every(({ nodeId }) => nodeId !== 'a'));
  t.true(await world.time.until(() => others.size === had.length, PATIENCE_MS));
  t.false(world.told.slice(told).some((packet) => 'crashed' in packet && packet.crashed));
});

test.serial('who drains says so at once, while a heartbeat waits for the store', async (t) => {
  const world = await cluster(t, ['a', 'b']);
  const a = world.node('a')!;
  a.store = 'hangs';
  await world.time.advance(TTL_MS / 2);
  t.is(a.ownership.state, 'serving');
  const drained = world.time.as(a, () => a.ownership.drain(100));
  t.is(a.ownership.state, 'draining');
  await passing(world, drained);
});

test.serial('the last node drains at once and keeps what nobody is there to take', async (t) => {
  const world = await cluster(t, ['a']);
  const a = world.node('a')!;
  const began = world.time.now;
  await passing(
    world,
    world.time.as(a, () => a.ownership.drain(PATIENCE_MS)),
  );
  t.true(world.time.now - began < 100);
  t.is(a.ownership.owned.length, SHARDS);
  await passing(
    world,
    world.time.as(a, () => a.ownership.leave()),
  );
  t.true(world.leases.leases.every(({ nodeId }) => nodeId === null));
});

test.serial('when all drain at once nobody waits for anybody', async (t) => {
  const world = await cluster(t, ['a', 'b', 'c']);
  const began = world.time.now;
  const nodes = [...world.living];
  await passing(world, Promise.all(nodes.map((node) => world.time.as(node, () => node.ownership.drain(PATIENCE_MS)))));
  t.true(world.time.now - began < TTL_MS);
  await passing(world, Promise.all(nodes.map((node) => world.leave(node))));
  const next = await passing(world, world.join('d'));
  t.is(next.ownership.owned.length, SHARDS);
});

test.serial('giving shards over does not wait for an actor that never ends', async (t) => {
  const world = await cluster(t, ['a', 'b']);
  const a = world.node('a')!;
  const { owned } = a.ownership;
  a.releaseMs = Number.POSITIVE_INFINITY;
  const looked = new Set<number>();
  world.node('b')!.ownership.relocations$.subscribe((move) => {
    for (const shard of move.unclean ? move.shards : []) looked.add(shard);
  });
  await passing(world, world.leave(a));
  t.true(await world.time.until(() => world.isConverged, PATIENCE_MS));
  t.true(owned.length > 0 && owned.every((shard) => looked.has(shard)), 'what it commits yet nobody may announce');
});

test.serial(
  'a node that dies is replaced long before its leases run out, one that only changes its server is not',
  async (t) => {
    const world = await cluster(t, ['a', 'b', 'c']);
    const { changes } = world;
    const b = world.node('b')!;
    for (let i = 0; i < 30; i++) {
      b.bus.cut(true);
      await world.time.advance(150);
      b.bus.cut(false);
      await world.time.advance(450);
    }
    t.is(world.changes, changes);
    const died = world.time.now;
    world.kill(b);
    world.node('a')!.ownership.missing(world.leases.leases.find(({ nodeId }) => nodeId === 'b')!.shard);
    t.true(await world.time.until(() => world.isConverged, PATIENCE_MS));
    t.true(world.time.now - died < TTL_MS / 4, `${world.time.now - died} ms`);
  },
);

test.serial('a node that is cut off keeps what nobody takes, and has its share back afterwards', async (t) => {
  const world = await cluster(t, ['a', 'b', 'c']);
  const b = world.node('b')!;
  b.bus.cut(true);
  t.true(await world.time.until(() => b.ownership.owned.length === 0, PATIENCE_MS));
  t.is(b.ownership.state, 'cut off');
  b.bus.cut(false);
  t.true(await world.time.until(() => world.isConverged, PATIENCE_MS));
  t.is(b.ownership.state, 'serving');
});

test.serial('without a bus everybody keeps its own, however one by one they come back', async (t) => {
  const world = await cluster(t, ['a', 'b', 'c']);
  const { changes } = world;
  const nodes = [...world.living];
  for (const node of nodes) {
    node.bus.cut(true);
    await world.time.advance(40);
  }
  await world.time.advance(3 * TTL_MS);
  t.true(nodes.every(({ ownership }) => ownership.state === 'cut off' && ownership.owned.length > 0));
  for (const node of nodes) {
    node.bus.cut(false);
    await world.time.advance(TTL_MS / 4);
  }
  await world.time.advance(3 * TTL_MS);
  t.is(world.changes, changes);
  t.true(world.isConverged);
});

test.serial('without a bus what is free is taken all the same', async (t) => {
  const world = await cluster(t, ['a', 'b']);
  const [a, b] = [world.node('a')!, world.node('b')!];
  for (const { bus } of [a, b]) bus.cut(true);
  await world.time.advance(TTL_MS);
  await passing(world, world.leave(b));
  t.true(await world.time.until(() => a.ownership.owned.length === SHARDS, PATIENCE_MS));
});

test.serial('a split bus is a single exchange, not a fight', async (t) => {
  const world = await cluster(t, ['a', 'b', 'c']);
  const { changes } = world;
  world.node('c')!.bus.server = 1;
  await world.time.advance(4 * TTL_MS);
  const exchanged = world.changes - changes;
  t.true(exchanged <= 3 * SHARDS, `${exchanged} changes`);
  await world.time.advance(10 * TTL_MS);
  t.is(world.changes - changes, exchanged);
  t.true(world.isConverged);
});

test.serial(
  'whoever is alive and not heard is known, and its shards are looked into when it is heard again',
  async (t) => {
    const world = await cluster(t, ['a', 'b', 'c']);
    const [a, c] = [world.node('a')!, world.node('c')!];
    const moves: Relocation[] = [];
    a.ownership.relocations$.subscribe((move) => void moves.push(move));
    c.bus.server = 1;
    t.true(await world.time.until(() => a.ownership.unreachable.length > 0, PATIENCE_MS));
    t.deepEqual(a.ownership.unreachable, ['c']);
    t.true(await world.time.until(() => c.ownership.unreachable.length === 2, PATIENCE_MS));
    await world.time.advance(4 * TTL_MS);
    t.true(world.isConverged);
    moves.length = 0;
    c.bus.server = 0;
    t.true(await world.time.until(() => a.ownership.unreachable.length === 0, PATIENCE_MS));
    t.true(await world.time.until(() => moves.length > 0, PATIENCE_MS));
    t.true(moves.every(({ unclean }) => unclean));
    const looked = new Set(moves.flatMap(({ shards }) => shards));
    t.true(c.ownership.owned.length > 0 && c.ownership.owned.every((shard) => looked.has(shard)));
    t.deepEqual(c.ownership.unreachable, []);
  },
);

for (const fault of ['fails', 'hangs'] as const) {
  test.serial(
    `a store that is away for everybody (${fault}) and back one by one takes nothing from anybody`,
    async (t) => {
      const world = await cluster(t, ['a', 'b', 'c']);
      const { changes } = world;
      const nodes = [...world.living];
      for (const node of nodes) node.store = fault;
      await world.time.advance(2 * TTL_MS);
      t.true(nodes.every(({ ownership }) => !ownership.isCurrent && ownership.owned.length === 0));
      for (const node of nodes) {
        node.store = 'none';
        await world.time.advance(TTL_MS / 3);
      }
      await world.time.advance(3 * TTL_MS);
      t.is(world.changes, changes);
      t.true(world.isConverged);
    },
  );
}

for (const fault of ['fails', 'hangs'] as const) {
  test.serial(`who cannot renew its leases (${fault}) answers for nothing once they ran out`, async (t) => {
    const world = await cluster(t, ['a', 'b', 'c']);
    const b = world.node('b')!;
    b.store = fault;
    t.true(b.answering.size > 0);
    await world.time.advance(TTL_MS + 10);
    t.is(b.answering.size, 0);
    b.store = 'none';
    t.true(await world.time.until(() => world.isConverged, PATIENCE_MS));
    t.true(b.answering.size > 0);
  });
}

test.serial('a node asleep beyond its lease owns nothing when it wakes, and then its share again', async (t) => {
  const world = await cluster(t, ['a', 'b', 'c']);
  const b = world.node('b')!;
  b.paused = true;
  await world.time.advance(TTL_MS + 1);
  t.deepEqual(b.ownership.owned, []);
  t.is(world.epochOf(b, 0), undefined);
  t.true(await world.time.until(() => world.leases.leases.every(({ nodeId }) => nodeId !== 'b'), PATIENCE_MS));
  b.paused = false;
  t.true(await world.time.until(() => world.isConverged, PATIENCE_MS));
});

test.serial('a restarted node takes its leases again, under later epochs', async (t) => {
  const world = await cluster(t, ['a', 'b']);
  const before = world.leases.leases.map(({ epoch }) => epoch);
  world.kill(world.node('a')!);
  const again = await passing(world, world.join('a'));
  t.true(again.ownership.owned.length > 0);
  for (const shard of again.ownership.owned) t.is(world.leases.leases[shard]?.epoch, before[shard]! + 1);
  t.true(await world.time.until(() => world.isConverged, PATIENCE_MS));
});

test.serial('of two processes of one name the earlier stops, and gives back nothing of the other', async (t) => {
  const world = await cluster(t, ['a', 'b']);
  const first = world.node('a')!;
  const second = await passing(world, world.join('a'));
  t.true(await world.time.until(() => first.displaced, PATIENCE_MS));
  t.deepEqual([first.ownership.owned, [...first.answering]], [[], []]);
  const owned = second.ownership.owned;
  await passing(world, world.leave(first));
  await world.time.advance(TTL_MS);
  t.deepEqual(second.ownership.owned, owned);
  t.true(world.isConverged);
});

test.serial('a process that is stopped before it has entered displaces no later one of its name', async (t) => {
  const world = await cluster(t, ['a', 'b']);
  world.kill(world.node('a')!);
  void world.join('a', ['mailbox'], 'slow').catch(() => {});
  const stopped = world.nodes.at(-1)!;
  const leaving = world.leave(stopped);
  const second = await passing(world, world.join('a'));
  await passing(world, leaving);
  t.false(stopped.displaced, 'it never entered');
  await world.time.advance(2 * TTL_MS);
  t.false(second.displaced);
  t.true(second.ownership.owned.length > 0);
  t.true(world.isConverged);
});

test.serial('a process that leaves before it has taken what an earlier one of its name holds', async (t) => {
  const world = await cluster(t, ['a']);
  const first = world.node('a')!;
  first.store = 'hangs';
  void world.join('a').catch(() => {});
  const second = world.nodes.at(-1)!;
  while (world.leases.nodes.get('a')?.incarnation !== '1') await world.time.advance(0.1);
  t.is(first.ownership.owned.length, SHARDS, 'it is not told yet');
  await passing(
    world,
    world.time.as(second, () => second.ownership.leave()),
  );
  second.left = true;
  t.true(world.leases.leases.every(({ nodeId }) => nodeId === null));
  first.store = 'none';
  t.true(await world.time.until(() => first.displaced, PATIENCE_MS));
});

test.serial('a node that is no longer to own mailboxes gives back those of its former life', async (t) => {
  const world = await cluster(t, ['a', 'b']);
  world.kill(world.node('a')!);
  const gateway = await passing(world, world.join('a', ['api']));
  t.true(await world.time.until(() => world.isConverged, PATIENCE_MS));
  t.deepEqual(gateway.ownership.owned, []);
  t.is(world.node('b')!.ownership.owned.length, SHARDS);
  world.kill(world.node('b')!);
  await world.time.advance(3 * TTL_MS);
  t.deepEqual(gateway.ownership.owned, []);
});

test.serial('a single shard has one owner among many', async (t) => {
  const world = await cluster(t, ['a', 'b', 'c', 'd'], 1);
  world.kill(world.node(world.rightful(0)!)!);
  t.true(await world.time.until(() => world.isConverged, PATIENCE_MS));
});

test.serial('leases taken or given back though the answer was lost are known by the next look', async (t) => {
  const world = await cluster(t, ['a', 'b']);
  const [a, b] = [world.node('a')!, world.node('b')!];
  a.store = 'loses';
  world.kill(b);
  await world.time.advance(2 * TTL_MS);
  a.store = 'none';
  t.true(await world.time.until(() => world.isConverged, PATIENCE_MS));
  a.store = 'loses';
  void world.join('b');
  await world.time.advance(TTL_MS);
  a.store = 'none';
  t.true(await world.time.until(() => world.isConverged, PATIENCE_MS));
});

test.serial('however many miss a shard, its owner is asked and the store looked at now and then', async (t) => {
  const world = await cluster(t, ['a', 'b']);
  const a = world.node('a')!;
  const { ownership, bus } = a;
  let requests = 0;
  const { request } = bus;
  bus.request = (...args) => {
    requests++;
    return request.apply(bus, args);
  };
  const shard = world.leases.leases.find(({ nodeId }) => nodeId === 'b')!.shard;
  const began = world.time.now;
  for (let i = 0; i < 1_000; i++) {
    world.time.as(a, () => ownership.missing(shard));
    await world.time.advance(1);
  }
  t.true(requests <= 2 * ((world.time.now - began) / 50), `${requests} requests`);
});

test.serial('who leaves before it has quite entered leaves nothing behind', async (t) => {
  const world = await cluster(t, ['a']);
  for (let ms = 0; ms < 12; ms++) {
    void world.join('b').catch(() => {});
    const b = world.nodes.at(-1)!;
    await world.time.advance(ms);
    await passing(
      world,
      world.time.as(b, () => b.ownership.leave()),
    );
    b.left = true;
    t.false(world.leases.nodes.has('b'), `after ${ms} ms`);
    await world.time.advance(TTL_MS);
    t.false(world.leases.nodes.has('b'));
    t.true(await world.time.until(() => world.isConverged, PATIENCE_MS));
  }
});

test.serial('a node alone waits for one that left no word, and then says who is in the way', async (t) => {
  const world = new SimulatedCluster(SHARDS);
  t.teardown(() => world.end());
  const first = (await passing(world, world.join('a'))) satisfies SimulatedNode;
  for (const row of world.leases.nodes.values()) Object.assign(row, { bus: 'in-process' });
  const error = await t.throwsAsync(passing(world, world.join('b')), { name: 'StoreInUse' });
  t.regex(error.message, /node a .*NATS_URL/);
  world.kill(first);
  const third = await passing(world, world.join('c'));
  t.true(await world.time.until(() => third.ownership.owned.length === SHARDS, PATIENCE_MS));
});
