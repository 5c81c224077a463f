// Tests placement as functions: rendezvous hashing, and what nodes decide from the same view of the store.

import fc from 'fast-check';
import { decide, type PlacementInput } from '../../../../src/actors/runtime/ownership/placement.js';
import { ownersAmong, rendezvous } from '../../../../src/actors/runtime/ownership/rendezvous.js';
import type { ClusterView, LeaseRow, NodeRow, NodeState } from '../../../../src/store/leases.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

const SHARDS = 256;
/** The runs are few, as every name is hashed with every shard. */
const RUNS = { numRuns: runs(30) };
const nodeNames = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 10 });
const owners = (names: readonly string[]) => Array.from({ length: SHARDS }, (_, shard) => rendezvous(shard, names));

test('the owners of all shards are those of each, whichever candidates were asked about before', (t) => {
  for (const names of [NAMES, NAMES.slice(1), [], NAMES, ['a', 'b c'], ['a b', 'c']]) {
    const ownerOf = ownersAmong(names);
    for (const _ of [1, 2]) for (let shard = 0; shard < SHARDS; shard++) t.is(ownerOf(shard), rendezvous(shard, names));
  }
  const [first, second] = [ownersAmong(NAMES), ownersAmong(NAMES.slice(1))];
  for (let shard = 0; shard < SHARDS; shard++) {
    t.is(first(shard), rendezvous(shard, NAMES));
    t.is(second(shard), rendezvous(shard, NAMES.slice(1)));
  }
});

test('nodes of neighbouring versions place shards alike', (t) => {
  const names = ['node-1', 'node-2', 'node-3'];
  const placed = Array.from({ length: 24 }, (_, shard) => rendezvous(shard, names)!.at(-1));
  t.is(placed.join(''), '311211332213132321111332');
});

test('a node that comes or goes moves its own share only', (t) => {
  fc.assert(
    fc.property(nodeNames, ([joiner, ...rest]) => {
      const without = owners(rest);
      t.true(owners([...rest, joiner!]).every((owner, shard) => owner === joiner || owner === without[shard]));
    }),
    RUNS,
  );
  t.is(rendezvous(0, []), undefined);
});

test('the order in which nodes are listed does not matter', (t) => {
  const same = (names: readonly string[]) => owners(names).join() === owners(names.toReversed()).join();
  t.notThrows(() => fc.assert(fc.property(nodeNames, same), RUNS));
});

test('shares are alike', (t) => {
  for (let count = 2; count <= 10; count++) {
    for (let cluster = 0; cluster < 20; cluster++) {
      const shares = new Map<string, number>();
      const names = Array.from({ length: count }, (_, i) => `node-${cluster}-${i}`);
      for (const owner of owners(names)) shares.set(owner!, (shares.get(owner!) ?? 0) + 1);
      const fair = SHARDS / count;
      for (const name of names) {
        const share = shares.get(name) ?? 0;
        // The slack is four and a half standard deviations.
        const slack = 4.5 * Math.sqrt(fair);
        t.true(Math.abs(share - fair) < slack, `${share} of ${SHARDS} shards for one of ${count}`);
      }
    }
  }
});

const NAMES = ['a', 'b', 'c', 'd'];
const row = fc.record({
  state: fc.constantFrom<NodeState>('serving', 'serving', 'cut off', 'draining'),
  expired: fc.boolean(),
  present: fc.constantFrom(true, true, true, false),
  mailbox: fc.constantFrom(true, true, false),
  gone: fc.constantFrom(false, false, true),
});
const lease = fc.record({
  nodeId: fc.constantFrom(null, null, ...NAMES, 'x'),
  epoch: fc.nat(3),
  late: fc.boolean(),
  /** What the process with the owner's name holds: this lease, an earlier one, or none. */
  held: fc.constantFrom('this', 'before', 'none'),
});
const look = fc.tuple(fc.tuple(row, row, row, row), fc.array(lease, { minLength: 1, maxLength: 24 }), fc.boolean());

interface Look {
  readonly view: ClusterView;
  readonly gone: ReadonlySet<string>;
  standpoint(self: string): PlacementInput;
}

/** Makes one view of the store; `standpoint` gives the input of each node for this view. */
function lookOf([rows, cells, patient]: typeof look extends fc.Arbitrary<infer T> ? T : never): Look {
  const nodes = rows.flatMap(({ state, expired, present, mailbox }, i): NodeRow[] => {
    const roles = mailbox ? ['mailbox', 'api'] : ['api'];
    const common = { id: NAMES[i]!, version: '0', bus: 'nats', startedAt: 0, silentMs: 0 } as const;
    return present ? [{ ...common, state, expired, roles }] : [];
  });
  const leases = cells.map(({ nodeId, epoch, late }, shard): LeaseRow => {
    const expired = nodeId === null || late || nodes.some((node) => node.id === nodeId && node.expired);
    return { shard, nodeId, epoch, expired };
  });
  const view = { nodes, leases };
  const gone = new Set(NAMES.filter((_, i) => rows[i]!.gone));
  return {
    view,
    gone,
    standpoint(self) {
      const epochs = new Map<number, number>();
      cells.forEach((cell, shard) => {
        if (cell.nodeId === self && cell.held !== 'none')
          epochs.set(shard, cell.epoch - (cell.held === 'this' ? 0 : 1));
      });
      const state = nodes.find(({ id }) => id === self)?.state ?? 'serving';
      return { self, state, view, epochs, gone: new Set([...gone].filter((id) => id !== self)), patient };
    },
  };
}

/** Returns the nodes that decide and are in the view. */
const lookers = ({ view, gone }: Look) =>
  view.nodes.filter(({ id, expired }) => !expired && !gone.has(id)).map(({ id }) => id);

const isLost = ({ view, gone }: Look, id: string) => {
  const node = view.nodes.find((candidate) => candidate.id === id);
  return node === undefined || node.state === 'cut off' || gone.has(id);
};

test('of nodes that see the same, no two take the same shard of another', (t) => {
  fc.assert(
    fc.property(look, (seen) => {
      const at = lookOf(seen);
      const takers = new Map<number, string>();
      for (const self of lookers(at)) {
        for (const { shard, nodeId } of decide(at.standpoint(self)).take) {
          if (nodeId === self) continue;
          t.false(takers.has(shard));
          takers.set(shard, self);
        }
      }
    }),
    { numRuns: runs(500) },
  );
});

test('what is free has exactly one taker as soon as anybody may own it', (t) => {
  fc.assert(
    fc.property(look, (seen) => {
      const at = lookOf(seen);
      const selves = lookers(at);
      const able = at.view.nodes.filter(
        ({ id, roles, state }) => selves.includes(id) && roles.includes('mailbox') && state !== 'draining',
      );
      for (const { shard, nodeId } of at.view.leases) {
        if (nodeId !== null) continue;
        const takers = selves.filter((self) => decide(at.standpoint(self)).take.some((taken) => taken.shard === shard));
        t.is(takers.length, able.length === 0 ? 0 : 1);
      }
    }),
    { numRuns: runs(500) },
  );
});

test('an owner that lives is not robbed, and the patient take what is free or their own alone', (t) => {
  fc.assert(
    fc.property(look, (seen) => {
      const at = lookOf(seen);
      for (const self of lookers(at)) {
        const standpoint = at.standpoint(self);
        for (const taken of decide(standpoint).take) {
          if (taken.nodeId === null || taken.nodeId === self) continue;
          t.false(standpoint.patient);
          // A late node must still be late when the lease is taken; a lost node need not be.
          t.true(isLost(at, taken.nodeId) ? !taken.expired : taken.expired);
          t.true(isLost(at, taken.nodeId) || at.view.leases[taken.shard]!.expired);
        }
      }
    }),
    { numRuns: runs(500) },
  );
});

test('nothing is given and taken at once, what is given is its giver’s, and who is cut off or alone gives nothing', (t) => {
  fc.assert(
    fc.property(look, (seen) => {
      const at = lookOf(seen);
      for (const self of lookers(at)) {
        const standpoint = at.standpoint(self);
        const { take, give } = decide(standpoint);
        const given = new Set(give.map(({ shard }) => shard));
        t.false(take.some(({ shard }) => given.has(shard)));
        t.true(give.every(({ nodeId }) => nodeId === self));
        if (standpoint.state === 'draining') t.deepEqual(take, []);
        const mailbox = at.view.nodes.some(({ id, roles }) => id === self && roles.includes('mailbox'));
        if (!mailbox) {
          t.is(give.length, at.view.leases.filter(({ nodeId }) => nodeId === self).length);
          t.deepEqual(take, []);
        } else if (standpoint.state === 'cut off') t.deepEqual(give, []);
      }
    }),
    { numRuns: runs(500) },
  );
});

test('when everybody is well one round of giving and one of taking is enough', (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(null, ...NAMES), { minLength: 1, maxLength: 64 }), (nodeIds) => {
      const nodes = NAMES.map(
        (id): NodeRow => ({
          id,
          version: '0',
          roles: ['mailbox'],
          bus: 'nats',
          state: 'serving',
          startedAt: 0,
          silentMs: 0,
          expired: false,
        }),
      );
      let leases = nodeIds.map((nodeId, shard): LeaseRow => ({ shard, nodeId, epoch: 1, expired: nodeId === null }));
      const epochs = new Map(leases.map(({ shard, epoch }) => [shard, epoch]));
      const decisions = () =>
        NAMES.map((self) => ({
          self,
          ...decide({ self, state: 'serving', view: { nodes, leases }, epochs, gone: new Set(), patient: true }),
        }));
      for (const { give } of decisions()) {
        const given = new Set(give.map(({ shard }) => shard));
        leases = leases.map((row) => (given.has(row.shard) ? { ...row, nodeId: null, expired: true } : row));
      }
      for (const { self, take } of decisions()) {
        const taken = new Set(take.map(({ shard }) => shard));
        leases = leases.map((row) => (taken.has(row.shard) ? { ...row, nodeId: self, expired: false } : row));
      }
      for (const { shard, nodeId } of leases) t.is(nodeId, rendezvous(shard, NAMES)!);
      t.true(decisions().every(({ give, take }) => give.length === 0 && take.length === 0));
    }),
  );
});
