// Tests that a revocation is answered when the other nodes have forgotten the key, without waiting for nodes that cannot know it.

import { pino } from 'pino';
import { BehaviorSubject } from 'rxjs';
import { NoResponders, RequestTimeout, type Responder } from '../../../src/actors/runtime/transport/transport.js';
import { Revocations } from '../../../src/node/engine/revocations.js';
import type { NodeRow } from '../../../src/store/leases.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';

const TTL_MS = 3_000;
const LAG_MS = 1_000;

function nodeRow(id: string, row: Partial<NodeRow> = {}): NodeRow {
  const { bus = 'nats', expired = false } = row;
  return { id, version: '1', roles: [], bus, state: 'serving', startedAt: 0, silentMs: 0, expired };
}

/** Creates nodes of one cluster; a request to a node in `failing` fails with its error. */
function setUp(rows: readonly NodeRow[], failing: ReadonlyMap<string, Error> = new Map()) {
  const responders = new Map<string, Responder>();
  const asked: string[] = [];
  const gates: Promise<void>[] = [];
  const subjects = new Map(rows.map(({ id }) => [`revocations.${Buffer.from(id).toString('hex')}`, id]));
  const connected$ = new BehaviorSubject(true);
  const transport = {
    connected$,
    lagMs: LAG_MS,
    async request(subject: string, request: Parameters<Responder>[0], timeoutMs: number) {
      const id = subjects.get(subject)!;
      asked.push(`${id} ${timeoutMs}`);
      await gates.shift();
      const failure = failing.get(id);
      if (failure !== undefined) throw failure;
      return responders.get(subject)!(request);
    },
    respond(subject: string, responder: Responder) {
      responders.set(subject, responder);
      return { ready: Promise.resolve(), end: () => void responders.delete(subject) };
    },
  };
  let isReadable = true;
  const leases = {
    async view() {
      clock.views++;
      if (!isReadable) throw new Error('no database');
      return { nodes: rows, leases: [] };
    },
  };
  const forgotten: string[] = [];
  const clock = { now: 0, views: 0 };
  const leased: { period: number | undefined } = { period: 0 };
  const ends: (() => void)[] = [];
  const nodes = rows.map(({ id }) => {
    const ownership = {
      nodeId: id,
      get leasePeriod() {
        return leased.period;
      },
    };
    const log = pino({ enabled: false });
    const revocations = new Revocations({ transport, ownership, leases, ttlMs: TTL_MS, log, now: () => clock.now });
    ends.push(revocations.listen((keyId) => forgotten.push(`${id} ${keyId}`)));
    return revocations;
  });
  const breakStore = () => {
    isReadable = false;
  };
  return { nodes, asked, forgotten, gates, breakStore, connected$, clock, leased, ends };
}

test('every node forgets the keys before the announcement ends', async (t) => {
  const { nodes, forgotten, gates } = setUp([nodeRow('one'), nodeRow('two.b'), nodeRow('three')]);
  let go = () => {};
  gates.push(
    new Promise((resolve) => {
      go = resolve;
    }),
  );
  let isOver = false;
  const announced = nodes[0]!.announce(['k', 'l']).then(() => {
    isOver = true;
  });
  while (forgotten.length < 4) await turn();
  t.false(isOver, 'a node has not confirmed yet');
  go();
  await announced;
  t.deepEqual(forgotten.sort(), ['one k', 'one l', 'three k', 'three l', 'two.b k', 'two.b l']);
});

test('nodes that are gone, or alone, are not asked; one that hangs is waited for as long as its leases last', async (t) => {
  const failing = new Map<string, Error>([
    ['older', new NoResponders('nobody')],
    ['hanging', new RequestTimeout('silent')],
  ]);
  const rows = ['one', 'older', 'hanging', 'two'].map((id) => nodeRow(id));
  const { nodes, asked, forgotten } = setUp(
    [...rows, nodeRow('dead', { expired: true }), nodeRow('other', { bus: 'in-process' })],
    failing,
  );
  await nodes[0]!.announce(['k']);
  t.deepEqual(asked.sort(), ['hanging 3000', 'older 3000', 'two 3000']);
  t.deepEqual(forgotten, ['one k', 'two k']);
});

test('announcements at the same time share a list of the nodes, and each has one that is read after it began', async (t) => {
  const { nodes, forgotten, clock } = setUp([nodeRow('one'), nodeRow('two')]);
  const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
  const first = nodes[0]!.announce(['k']);
  await Promise.resolve();
  await Promise.all([first, ...keys.map((key) => nodes[0]!.announce([key]))]);
  t.is(forgotten.length, 2 * (keys.length + 1));
  t.is(clock.views, 2);
});

test('without a list of the nodes this node forgets all the same', async (t) => {
  const { nodes, asked, forgotten, breakStore } = setUp([nodeRow('one'), nodeRow('two')]);
  breakStore();
  await nodes[0]!.announce(['k']);
  t.deepEqual([asked, forgotten], [[], ['one k']]);
});

test('a node is in no period while others cannot ask it, and afterwards in another one', async (t) => {
  const { nodes, connected$, clock, leased, ends } = setUp([nodeRow('one')]);
  const [node] = nodes;
  const periods = new Set<number>();
  const isAnother = () => {
    const { period } = node!;
    const isNew = period !== undefined && !periods.has(period);
    if (period !== undefined) periods.add(period);
    return isNew;
  };
  t.is(node!.period, undefined, 'the other nodes do not know of its subscription yet');
  clock.now += LAG_MS;
  t.true(isAnother());
  t.false(isAnother());
  connected$.next(false);
  clock.now += TTL_MS;
  t.is(node!.period, undefined, 'it is cut off');
  connected$.next(true);
  clock.now += LAG_MS - 1;
  t.is(node!.period, undefined, 'the others do not know yet');
  clock.now += 1;
  t.true(isAnother());
  leased.period = undefined;
  t.is(node!.period, undefined, 'its leases have lapsed');
  leased.period = 1;
  t.true(isAnother());
  ends[0]!();
  t.is(node!.period, undefined, 'it does not listen any more');
});
