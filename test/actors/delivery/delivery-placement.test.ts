// Tests which node delivers for which shard: all nodes agree, and each shard for which a node is able has exactly one.

import fc from 'fast-check';
import { deliverer, shardsOf } from '../../../src/actors/delivery/delivery-placement.js';
import type { ClusterView } from '../../../src/store/leases.js';
import test from '../../support/test.js';
import { SHARDS, viewOf } from './outbound-world.js';

const ALL = Array.from({ length: SHARDS }, (_, shard) => shard);

test('the owner of a shard delivers for it when it has the role', (t) => {
  const view = viewOf({ a: ['mailbox', 'outbound'], b: ['outbound'] }, 'a');
  t.deepEqual(shardsOf(view, 'a'), ALL);
  t.deepEqual(shardsOf(view, 'b'), []);
});

test('shards without an owner, of owners without the role, or of nodes that leave are shared among the others', (t) => {
  const roles = { boxes: ['mailbox'], out1: ['outbound'], out2: ['outbound'] };
  for (const owner of ['boxes', null, 'left']) {
    const view = viewOf(roles, owner);
    t.deepEqual([...shardsOf(view, 'out1'), ...shardsOf(view, 'out2')].sort(), ALL);
    t.deepEqual(shardsOf(view, 'boxes'), []);
  }
  const draining = viewOf({ a: ['mailbox', 'outbound'], b: ['outbound'] }, 'a', { a: 'draining' });
  t.deepEqual(shardsOf(draining, 'b'), ALL);
  t.deepEqual(shardsOf(draining, 'a'), []);
});

test('a node that is cut off delivers only when no other can', (t) => {
  const roles = { a: ['mailbox', 'outbound'], b: ['outbound'] };
  t.deepEqual(shardsOf(viewOf(roles, 'a', { a: 'cut off' }), 'b'), ALL);
  t.deepEqual(shardsOf(viewOf({ a: roles.a }, 'a', { a: 'cut off' }), 'a'), ALL);
  t.is(deliverer(viewOf({ boxes: ['mailbox'] }, 'boxes'), 0), undefined);
});

test('every shard has one deliverer of those that are able, and all see the same', (t) => {
  const node = fc.record({
    roles: fc.subarray(['mailbox', 'outbound', 'api']),
    state: fc.constantFrom('serving' as const, 'cut off' as const, 'draining' as const),
    expired: fc.boolean(),
  });
  const views = fc.record({
    nodes: fc.array(node, { maxLength: 6 }),
    owners: fc.array(fc.option(fc.nat({ max: 6 })), { minLength: SHARDS, maxLength: SHARDS }),
  });
  fc.assert(
    fc.property(views, ({ nodes, owners }) => {
      const view: ClusterView = {
        nodes: nodes.map((row, i) => ({ ...row, id: `n${i}`, version: '1', bus: 'nats', startedAt: 0, silentMs: 0 })),
        leases: owners.map((owner, shard) => ({
          shard,
          epoch: 1,
          nodeId: owner === null ? null : `n${owner}`,
          expired: false,
        })),
      };
      const able = view.nodes.filter(
        (row) => !row.expired && row.state !== 'draining' && row.roles.includes('outbound'),
      );
      for (const shard of ALL) {
        const whose = view.nodes.filter(({ id }) => shardsOf(view, id).includes(shard)).map(({ id }) => id);
        t.deepEqual(whose, able.length === 0 ? [] : [deliverer(view, shard)!]);
        for (const id of whose) t.true(able.some((row) => row.id === id));
      }
    }),
  );
});
