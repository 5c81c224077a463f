// Tests traces over nodes: two hosts on one bus, each with its own tracer, and a collector that sees both.

import pino from 'pino';
import { createEventStreams } from '../../../src/actors/runtime/events/event-streams.js';
import { startHost } from '../../../src/actors/runtime/host.js';
import type { EventOf } from '../../../src/actors/runtime/protocol.js';
import { createRefs } from '../../../src/actors/runtime/refs.js';
import type { Tracer } from '../../../src/actors/runtime/tracing.js';
import type { EventPacket } from '../../../src/actors/runtime/transport/packet.js';
import { eventSubject } from '../../../src/actors/runtime/transport/subjects.js';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import { openTracing } from '../../../src/node/tracing/tracing.js';
import { shardOf } from '../../../src/store/shard.js';
import { deferred } from '../../support/deferred.js';
import { fixedOwnership } from '../../support/ownership.js';
import { type CollectedSpan, startCollector } from '../../support/peers/otlp-collector.js';
import test from '../../support/test.js';
import { CounterStore, counterBehavior, counterProtocol } from './counter.js';

const A = '00000000-0000-7000-8000-00000000000a';
const B = '00000000-0000-7000-8000-00000000000b';
const log = pino({ level: 'silent' });

/** Node `n` owns shard `n` of two; each shard has one account. */
function node(n: number, store: CounterStore, transport: ReturnType<typeof localTransport>, tracer: Tracer) {
  const ownership = fixedOwnership(2, (accountId) => (shardOf(accountId, 2) === n ? 1 : undefined));
  const sizes = { idleMs: 60_000, maxOctets: 1e9, sweepMs: 60_000 };
  const host = startHost({
    behavior: counterBehavior(store),
    transport,
    ownership,
    log,
    ...sizes,
    checked: true,
    tracer,
  });
  void host.acquired([n]);
  const streams = createEventStreams<EventOf<typeof counterProtocol>>({
    protocolName: 'counter',
    transport,
    ownership,
    log: { read: async () => [], newest: async () => 0, prune: async () => 0 },
    logger: log,
    tracer,
  });
  return { host, counters: createRefs({ protocol: counterProtocol, transport, ownership, streams, tracer }) };
}

async function setUp() {
  const store = new CounterStore();
  store.add(A);
  store.add(B);
  const collector = await startCollector();
  const transport = localTransport({ encoding: true });
  const tracings = ['n0', 'n1'].map((nodeId) => openTracing({ endpoint: collector.url, nodeId, version: '1', log }));
  const nodes = tracings.map(({ tracer }, n) => node(n, store, transport, tracer));
  return {
    store,
    collector,
    tracers: tracings.map(({ tracer }) => tracer),
    nodes,
    /** Returns everything that was traced. */
    async spans(): Promise<readonly CollectedSpan[]> {
      await Promise.all(nodes.map(({ host }) => host.stop()));
      await Promise.all(tracings.map((tracing) => tracing.stop(120_000)));
      await collector.close();
      return collector.spans;
    },
  };
}

const one = (spans: readonly CollectedSpan[], name: string, node?: string) => {
  const found = spans.filter((span) => span.name === name && (node === undefined || span.node === node));
  if (found.length !== 1) throw new Error(`${found.length} spans ${name}`);
  return found[0]!;
};

test('a command of one node is followed to its owner on another, into the commit and back with its events', async (t) => {
  const { nodes, tracers, spans } = await setUp();
  const [account, asker, owner] = shardOf(A, 2) === 1 ? [A, 0, 'n1'] : [A, 1, 'n0'];
  const { promise: ready, resolve: stands } = deferred();
  const seen = new Promise<string | undefined>((resolve) => {
    nodes[asker]!.counters.of(account)
      .events$()
      .subscribe((events) => (events.length === 0 ? stands() : resolve(tracers[asker]!.current)));
  });
  await ready;
  const root = tracers[asker]!.start('a request', { kind: 'server' });
  t.is(tracers[asker]!.current, undefined);
  await root.within(() => nodes[asker]!.counters.of(account).ask('add', { amount: 2 }));
  root.end();
  const context = await seen;
  const collected = await spans();

  const [request, ask] = [one(collected, 'a request'), one(collected, 'ask counter.add')];
  const [answer, commit] = [one(collected, 'counter.add'), one(collected, 'commit')];
  t.deepEqual(
    [request, ask, answer, commit].map(({ node }) => node),
    [`n${asker}`, `n${asker}`, owner, owner],
  );
  t.deepEqual(
    [request, ask, answer, commit].map(({ kind }) => kind),
    [2, 3, 2, 1],
  );
  t.deepEqual(new Set([request, ask, answer, commit].map(({ traceId }) => traceId)), new Set([request.traceId]));
  t.deepEqual(
    [ask.parentSpanId, answer.parentSpanId, commit.parentSpanId],
    [request, ask, answer].map(({ spanId }) => spanId),
  );
  t.is(context, `00-${commit.traceId}-${commit.spanId}-01`, 'followers are called in the trace of the change');
});

test('a commit of several commands is under one and linked to the others; an ask by itself is a trace of its own', async (t) => {
  const { nodes, store, spans } = await setUp();
  const { counters } = nodes[shardOf(A, 2)]!;
  let open = () => {};
  store.gate = new Promise((resolve) => {
    open = resolve;
  });
  const asks = [1, 2, 3].map((amount) => counters.of(A).ask('add', { amount }));
  open();
  await Promise.all(asks);
  const collected = await spans();
  const commits = collected.filter(({ name }) => name === 'commit');
  const answers = collected.filter(({ name }) => name === 'counter.add').map(({ spanId }) => spanId);
  t.deepEqual(new Set(commits.flatMap(({ parentSpanId, links }) => [parentSpanId!, ...links])), new Set(answers));
  const asked = collected.filter(({ name }) => name === 'ask counter.add');
  t.is(new Set(asked.map(({ traceId }) => traceId)).size, 3);
  t.true(asked.every(({ parentSpanId = '' }) => parentSpanId === ''));
});

test('what fails is marked, with no more than its code; a malformed context is none', async (t) => {
  const { nodes, tracers, spans } = await setUp();
  const { counters } = nodes[shardOf(A, 2)]!;
  await t.throwsAsync(counters.of(A).ask('crash', {}));
  t.like(await counters.of(A).ask('add', { amount: 5_000 }), { refusal: 'tooLarge' });
  tracers[0]!.start('from outside', { parent: 'nonsense' }).end();
  const collected = await spans();
  t.is(one(collected, 'counter.crash').status, 2);
  t.is(one(collected, 'ask counter.crash').status, 2);
  t.not(one(collected, 'ask counter.add').status, 2);
  t.is(one(collected, 'counter.add').attributes['mansio.outcome'], 'refusal');
  t.is(one(collected, 'from outside').parentSpanId ?? '', '');
  t.false(JSON.stringify(collected).includes('a bug in the handler'));
});

test('a node that does not trace hands the context of others on', async (t) => {
  const { nodes, tracers, store, spans } = await setUp();
  const transport = localTransport({ encoding: true });
  const [account, n] = [A, shardOf(A, 2)];
  const silent = startHost({
    behavior: counterBehavior(store),
    transport,
    ownership: fixedOwnership(2),
    log,
    idleMs: 60_000,
    maxOctets: 1e9,
    sweepMs: 60_000,
    checked: true,
  });
  void silent.acquired([n]);
  const published = new Promise<string | undefined>((resolve) => {
    transport.subscribe<EventPacket>(eventSubject('counter', account), ({ events, trace }) => {
      if (events.length > 0) resolve(trace);
    });
  });
  const ownership = fixedOwnership(2);
  const unasked = () => {
    throw new Error('not followed');
  };
  const streams = { of: unasked, resume: unasked };
  const counters = createRefs({ protocol: counterProtocol, transport, ownership, streams, tracer: tracers[0]! });
  await counters.of(account).ask('add', { amount: 1 });
  const trace = await published;
  await silent.stop();
  t.is(nodes.length, 2);
  const ask = one(await spans(), 'ask counter.add');
  t.is(trace, `00-${ask.traceId}-${ask.spanId}-01`);
});
