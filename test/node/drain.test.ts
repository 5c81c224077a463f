import { drainNode } from '../../src/node/drain.js';
import type { ClusterView, NodeRow } from '../../src/store/leases.js';
import test from '../support/test.js';

const row = (id: string, over: Partial<NodeRow> = {}): NodeRow => ({
  id,
  version: '0',
  roles: ['mailbox'],
  bus: 'nats',
  state: 'serving',
  startedAt: 0,
  silentMs: 0,
  expired: false,
  ...over,
});

async function run(nodes: readonly NodeRow[] | undefined, noticeMs: number, withinMs = 3000): Promise<string[]> {
  const happened: string[] = [];
  const view: ClusterView | undefined = nodes === undefined ? undefined : { nodes, leases: [] };
  const ownership = {
    nodeId: 'a',
    view,
    drain: async (withinMs: number) => {
      happened.push(`drain ${withinMs}`);
      await new Promise(setImmediate);
      happened.push('drained');
    },
  };
  await drainNode({ ownership, beginDrain: () => happened.push('listeners drain'), withinMs, noticeMs });
  return happened;
}

test('alone, a stop waits for nobody', async (t) => {
  const hour = 3_600_000;
  const expected = ['drain 3000', 'listeners drain', 'drained'];
  t.deepEqual(await run(undefined, hour), expected);
  t.deepEqual(await run([row('a')], hour), expected);
  t.deepEqual(await run([row('a'), row('b', { expired: true }), row('c', { state: 'draining' })], hour), expected);
});

test('beside others it goes on serving until balancers have noticed', async (t) => {
  const started = performance.now();
  t.deepEqual(await run([row('a', { state: 'draining' }), row('b')], 100), [
    'drain 3000',
    'listeners drain',
    'drained',
  ]);
  t.true(performance.now() - started >= 99);
});

test('it ends in its time, also when balancers should get more', async (t) => {
  const hour = 3_600_000;
  t.deepEqual(await run([row('a', { state: 'draining' }), row('b')], hour, 150), [
    'drain 150',
    'listeners drain',
    'drained',
  ]);
});
