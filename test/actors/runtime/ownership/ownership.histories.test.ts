// Tests ownership in simulated clusters through random histories of everything that can go wrong. The simulation itself checks the
// invariants at every moment.
import fc from 'fast-check';
import { runs } from '../../../support/amounts.js';
import { SimulatedCluster, type StoreFaults, TTL_MS } from '../../../support/cluster/simulated-cluster.js';
import test from '../../../support/test.js';
import { PATIENCE_MS, SHARDS } from './settled-cluster.js';

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const faults = fc.constantFrom<StoreFaults>('none', 'fails', 'hangs', 'loses', 'slow');
const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('join' as const), name, store: faults }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave' as const), name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('kill' as const), name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pause' as const), name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('resume' as const), name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cut' as const), name, isCut: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('split' as const), name, server: fc.nat(1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('store' as const), name, store: faults }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('storeOfAll' as const), store: faults }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('busOfAll' as const), isCut: fc.boolean() }) },
);
type Event = typeof event extends fc.Arbitrary<infer E> ? E : never;

function happen(world: SimulatedCluster, next: Event): void {
  if (next.kind === 'join') void world.join(next.name, ['mailbox'], next.store).catch(() => {});
  else if (next.kind === 'storeOfAll') for (const node of world.living) node.store = next.store;
  else if (next.kind === 'busOfAll') for (const node of world.living) node.bus.cut(next.isCut);
  else {
    const node = world.node(next.name);
    if (node === undefined) return;
    if (next.kind === 'leave') void world.leave(node).catch(() => world.kill(node));
    else if (next.kind === 'kill') world.kill(node);
    else if (next.kind === 'cut') node.bus.cut(next.isCut);
    else if (next.kind === 'split') node.bus.server = next.server;
    else if (next.kind === 'store') node.store = next.store;
    else node.paused = next.kind === 'pause';
  }
}

function heal(world: SimulatedCluster): void {
  for (const node of world.nodes) {
    Object.assign(node, { paused: false, store: 'none' });
    node.bus.cut(false);
    node.bus.server = 0;
  }
}

test.serial(
  'whatever happens, a shard has one owner at most, and each has the right one when all is well again',
  async (t) => {
    const history = fc.array(fc.tuple(event, fc.oneof(fc.nat(20), fc.nat(1_000), fc.nat(8_000))), { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(history, fc.integer(), async (events, seed) => {
        const world = new SimulatedCluster(SHARDS, seed);
        try {
          for (const [next, thenMs] of events) {
            happen(world, next);
            await world.time.advance(thenMs);
          }
          heal(world);
          await world.time.advance(2 * TTL_MS);
          // The store never answers these nodes.
          for (const node of world.living) if (node.busy) world.kill(node);
          const converged = await world.time.until(() => world.isConverged, PATIENCE_MS);
          const state = () => JSON.stringify(world.leases.leases.map(({ nodeId }) => nodeId));
          t.true(converged, `living: ${world.living.map((node) => node.name)}, leases: ${converged || state()}`);
          const { changes } = world;
          await world.time.advance(5 * TTL_MS);
          t.is(world.changes, changes, 'and nothing moves any more');
        } finally {
          world.end();
        }
      }),
      {
        numRuns: runs(100),
        examples: [
          // The first process joins after it has left already, while the second one of its name owns everything.
          [
            [
              [{ kind: 'join', name: 'e', store: 'slow' }, 0],
              [{ kind: 'leave', name: 'e' }, 0],
              [{ kind: 'join', name: 'e', store: 'none' }, 0],
            ],
            0,
          ],
        ],
      },
    );
  },
);
