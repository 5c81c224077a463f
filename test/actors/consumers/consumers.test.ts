// Tests the engine of durable consumers over an event log in memory: order, positions, failures, new owners, replays.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import pino from 'pino';
import { type Consumers, createConsumers } from '../../../src/actors/consumers/consumers.js';
import type { DeliveryOutcome, DurableConsumers } from '../../../src/actors/consumers/protocol.js';
import type { MailboxEvent } from '../../../src/actors/mailbox/protocol.js';
import { localTransport } from '../../../src/actors/runtime/transport/transport-local.js';
import { runs } from '../../support/amounts.js';
import { EventBus } from '../../support/event-bus.js';
import { MemoryConsumers } from '../../support/memory-stores/memory-consumers.js';
import { patiently } from '../../support/patience.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';

const ACCOUNT = randomUUID();
const CONSUMER = randomUUID();

/** Consumers of these tests deliver this type of event. */
const NEW = (unread: number) => ({ type: 'UnreadCountChanged', payload: { unread } }) as unknown as MailboxEvent;
const OTHER = { type: 'BodyFiltersEnded', payload: { emailId: randomUUID() } } as unknown as MailboxEvent;

class World {
  readonly bus = new EventBus();
  readonly store = new MemoryConsumers();
  readonly transport = localTransport({ encoding: true });
  /** The seqs in the order of their delivery. */
  readonly delivered: number[] = [];
  /** Accounts whose consumers got deliveries. */
  readonly accounts = new Set<string>();
  /** Consumers that were told that the log is cut. */
  readonly cut: number[] = [];
  /** Returns the outcome of a delivery, by the seq of its change. */
  outcome: (seq: number) => DeliveryOutcome | Promise<DeliveryOutcome> = () => ({ kind: 'delivered' });
  readonly #nodes = new Set<Consumers>();
  #wake = () => {};

  constructor(t: Pick<ExecutionContext, 'teardown'>) {
    this.store.newest = (accountId) => this.bus.rows(accountId).at(-1)?.seq ?? 0;
    t.teardown(() => this.stopAll());
  }

  /** Starts a node that owns everything until it stops. */
  start(
    options: { readonly mostActive?: number; readonly idleMs?: number } = {},
  ): Consumers & { readonly die: () => void } {
    let isOwner = true;
    const consumers = createConsumers({
      store: this.store,
      log: this.bus.log,
      ownership: { shards: 1, owned: [0], epochOf: () => (isOwner ? 1 : undefined) },
      transport: this.transport,
      mailboxes: this.bus.node(),
      logger: pino({ level: 'silent' }),
      scanMs: 60_000,
      ...options,
    });
    const kind: DurableConsumers = {
      kind: 'push',
      concerns: ({ type }) => type === 'UnreadCountChanged',
      deliver: async ({ accountId }, { seq }, { isCurrent }) => {
        const outcome = await this.outcome(seq);
        if (!isCurrent()) return { kind: 'deferred', ms: 0 };
        if (outcome.kind === 'delivered') {
          this.delivered.push(seq);
          this.accounts.add(accountId);
        }
        this.#wake();
        return outcome;
      },
      backoffMs: () => 1,
      interrupted: async ({ seq }) => {
        this.cut.push(seq ?? -1);
        return { kind: 'delivered' };
      },
    };
    consumers.start([kind]);
    void consumers.acquired([0]);
    this.#nodes.add(consumers);
    const die = () => {
      isOwner = false;
      this.#nodes.delete(consumers);
      void consumers.stop(0);
    };
    return Object.assign(consumers, { die });
  }

  commit(...events: MailboxEvent[]): number {
    return this.commitTo(ACCOUNT, ...events);
  }

  commitTo(accountId: string, ...events: MailboxEvent[]): number {
    const seq = this.bus.commit(accountId, events);
    const records = events.map(({ type, payload }, n) => ({ seq, n, type, payload, at: Date.now() }));
    for (const node of this.#nodes) node.published({ v: 1, accountId, after: seq - 1, seq, events: records });
    return seq;
  }

  until(condition: () => boolean): Promise<void> {
    let isOver = false;
    const holds = async () => {
      while (!condition() && !isOver) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
          setTimeout(resolve, 5);
        });
      }
    };
    return patiently(holds(), () => String(condition)).finally(() => {
      isOver = true;
    });
  }

  get position(): number | null | undefined {
    return this.store.rows.get(CONSUMER)?.seq;
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#nodes].map((node) => node.stop(1_000)));
    this.#nodes.clear();
  }
}

test('changes are delivered in order, one at a time, and the position follows', async (t) => {
  const world = new World(t);
  world.store.add(ACCOUNT, CONSUMER, 0);
  let underWay = 0;
  world.outcome = async () => {
    t.is(++underWay, 1);
    await turn();
    underWay--;
    return { kind: 'delivered' };
  };
  for (let i = 0; i < 300; i++) world.commit(i % 3 === 0 ? OTHER : NEW(i));
  world.start();
  await world.until(() => world.delivered.length === 200);
  for (let i = 300; i < 330; i++) world.commit(NEW(i));
  await world.until(() => world.delivered.length === 230);
  const expected = Array.from({ length: 330 }, (_, i) => i + 1).filter((seq) => seq > 300 || (seq - 1) % 3 !== 0);
  t.deepEqual(world.delivered, expected);
  await world.until(() => world.position === 330);
});

test('more accounts than may be active get their turn', async (t) => {
  const world = new World(t);
  const accounts = Array.from({ length: 12 }, () => randomUUID());
  for (const accountId of accounts) {
    world.store.add(accountId, randomUUID(), 0);
    world.commitTo(accountId, NEW(1));
  }
  const node = world.start({ mostActive: 2 });
  await world.until(() => {
    t.true(node.active <= 2);
    return world.delivered.length === accounts.length;
  });
  t.is(world.accounts.size, accounts.length);
});

test('what was not concerned is not delivered again: the position of a stop is stored', async (t) => {
  const world = new World(t);
  world.store.add(ACCOUNT, CONSUMER, 0);
  const node = world.start();
  world.commit(NEW(1));
  await world.until(() => world.position === 1);
  world.commit(OTHER);
  await world.until(() => world.bus.rows(ACCOUNT).length === 2);
  await node.stop(1_000);
  t.true(world.position === 1 || world.position === 2);
  t.deepEqual(world.delivered, [1]);
});

test('changes that are passed over are stored while more of them come', async (t) => {
  const world = new World(t);
  world.store.add(ACCOUNT, CONSUMER, 0);
  world.outcome = () => ({ kind: 'passed' });
  world.start({ idleMs: 50 });
  while (world.position === 0) {
    world.commit(NEW(1));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  t.deepEqual(world.delivered, []);
});

test('consumers that stop while changes come store their position before the next ones begin', async (t) => {
  const world = new World(t);
  world.store.add(ACCOUNT, CONSUMER, 0);
  const node = world.start({ idleMs: 50 });
  world.commit(NEW(1));
  await world.until(() => world.position === 1);
  world.outcome = (seq) => ({ kind: seq === 2 ? 'passed' : 'delivered' });
  world.commit(NEW(2));
  const { advance } = world.store;
  const held = new Promise<() => void>((stopping) => {
    world.store.advance = async (...args) => {
      world.store.advance = advance;
      await new Promise<void>(stopping);
      return advance.apply(world.store, args);
    };
  });
  // The idle consumer stops while its position is not stored yet.
  const store = await held;
  world.commit(NEW(3));
  const { calls } = world.store;
  await world.until(() => node.active === 0 || world.store.calls > calls);
  setTimeout(store, 100);
  await world.until(() => world.position === 3);
  t.deepEqual(world.delivered, [1, 3]);
});

test('a change that fails comes again before those after it, and a success ends the count of failures', async (t) => {
  const world = new World(t);
  world.store.add(ACCOUNT, CONSUMER, 0);
  let failures = 3;
  world.outcome = (seq) => (seq === 2 && failures-- > 0 ? { kind: 'failed' } : { kind: 'delivered' });
  world.start();
  for (let i = 1; i <= 4; i++) world.commit(NEW(i));
  await world.until(() => world.store.rows.get(CONSUMER)!.failures === 2);
  t.is(typeof world.store.rows.get(CONSUMER)!.failingSince, 'number');
  await world.until(() => world.position === 4);
  t.deepEqual(world.delivered, [1, 2, 3, 4]);
  t.like(world.store.rows.get(CONSUMER), { failures: 0, failingSince: null, retryAt: null });
});

test('a change that was delivered in part ends the count of earlier failures', async (t) => {
  const world = new World(t);
  world.store.add(ACCOUNT, CONSUMER, 0);
  world.store.rows.set(CONSUMER, { ...world.store.rows.get(CONSUMER)!, failures: 7, failingSince: 1 });
  world.outcome = () => ({ kind: 'failed', retryAfterMs: 3_600_000, recovered: true });
  world.start();
  world.commit(NEW(1));
  await world.until(() => world.store.rows.get(CONSUMER)!.failures === 1);
  t.true(world.store.rows.get(CONSUMER)!.failingSince! > 1);
});

test('a consumer that fails is not tried before its time, by the next owner either', async (t) => {
  const world = new World(t);
  world.store.add(ACCOUNT, CONSUMER, 0);
  world.outcome = () => ({ kind: 'failed', retryAfterMs: 3_600_000 });
  const node = world.start();
  world.commit(NEW(1));
  await world.until(() => world.store.rows.get(CONSUMER)!.failures === 1);
  await world.until(() => node.active === 0);
  t.is(node.resting, 1);
  node.die();
  world.outcome = () => t.fail() as never;
  const next = world.start();
  await world.until(() => next.accounts === 1);
  world.commit(NEW(2));
  await world.until(() => next.resting === 1);
  t.deepEqual(world.delivered, []);
});

test('a consumer that is given an earlier position gets the changes again', async (t) => {
  const world = new World(t);
  world.store.add(ACCOUNT, CONSUMER, 0);
  const node = world.start();
  for (let i = 1; i <= 5; i++) world.commit(NEW(i));
  await world.until(() => world.position === 5);
  world.store.rows.set(CONSUMER, { ...world.store.rows.get(CONSUMER)!, seq: 2 });
  node.changed(ACCOUNT);
  await world.until(() => world.delivered.length === 8);
  t.deepEqual(world.delivered, [1, 2, 3, 4, 5, 3, 4, 5]);
  await world.until(() => world.position === 5);
});

test('a consumer that fails while another one is stopped waits for its retry', async (t) => {
  const world = new World(t);
  const [one, two] = ['1', '2'].map((digit) => CONSUMER.replace(/^./, digit)) as [string, string];
  world.store.add(ACCOUNT, one, 0);
  world.store.add(ACCOUNT, two, 0);
  const answers: ((outcome: DeliveryOutcome) => void)[] = [];
  world.outcome = () => new Promise((answer) => answers.push(answer));
  const node = world.start();
  world.commit(NEW(1));
  await world.until(() => answers.length === 2);
  // The first consumer is moved, so the look waits for its delivery; the rows are read by then.
  world.store.rows.set(one, { ...world.store.rows.get(one)!, seq: -1 });
  const { calls } = world.store;
  node.changed(ACCOUNT);
  await world.until(() => world.store.calls > calls);
  await new Promise((resolve) => setTimeout(resolve, 20));
  answers[1]!({ kind: 'failed', retryAfterMs: 3_600_000 });
  await world.until(() => world.store.rows.get(two)!.failures === 1);
  await world.until(() => node.resting === 1);
  const attempts = answers.length;
  answers[0]!({ kind: 'delivered' });
  await world.until(() => answers.length > attempts);
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.is(answers.length, attempts + 1);
  for (const answer of answers) answer({ kind: 'delivered' });
});

test('a consumer that was removed gets nothing more', async (t) => {
  const world = new World(t);
  world.store.add(ACCOUNT, CONSUMER, 0);
  const node = world.start();
  world.commit(NEW(1));
  await world.until(() => world.position === 1);
  world.store.rows.delete(CONSUMER);
  node.changed(ACCOUNT);
  await world.until(() => node.accounts === 0 && node.active === 0);
  world.commit(NEW(2));
  t.is(node.active, 0);
  t.deepEqual(world.delivered, [1]);
});

test('a log that was cut is noticed, and the consumer goes on with what is left', async (t) => {
  const world = new World(t);
  world.store.add(ACCOUNT, CONSUMER, 1);
  for (let i = 1; i <= 6; i++) world.commit(NEW(i));
  world.bus.rows(ACCOUNT).splice(0, 3);
  world.start();
  await world.until(() => world.position === 6);
  t.deepEqual(world.cut, [1]);
  t.deepEqual(world.delivered, [4, 5, 6]);
});

test('before the first change of an account nothing was cut', async (t) => {
  const world = new World(t);
  world.store.add(ACCOUNT, CONSUMER, 0);
  for (let i = 1; i <= 3; i++) world.commit(NEW(i));
  world.bus.rows(ACCOUNT).splice(0, 1);
  world.start();
  await world.until(() => world.position === 3);
  t.deepEqual(world.cut, []);
  t.deepEqual(world.delivered, [2, 3]);
});

test('numbers of changes without events are no cut', async (t) => {
  const world = new World(t);
  world.store.add(ACCOUNT, CONSUMER, 1);
  for (let i = 1; i <= 6; i++) world.commit(NEW(i));
  world.bus.rows(ACCOUNT).splice(2, 2);
  world.start();
  await world.until(() => world.position === 6);
  t.deepEqual(world.cut, []);
  t.deepEqual(world.delivered, [2, 5, 6]);
});

test('a store that fails delays what is due, and nothing comes twice', async (t) => {
  const world = new World(t);
  world.store.add(ACCOUNT, CONSUMER, 0);
  world.start();
  world.commit(NEW(1));
  await world.until(() => world.position === 1);
  world.outcome = (seq) => {
    if (seq === 2) world.store.fault = new Error('down');
    return { kind: 'delivered' };
  };
  world.commit(NEW(2));
  world.commit(NEW(3));
  await world.until(() => world.delivered.length === 2);
  world.store.fault = undefined;
  await world.until(() => world.position === 3);
  t.deepEqual(world.delivered, [1, 2, 3]);
});

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant('new' as const) },
  { weight: 3, arbitrary: fc.constant('other' as const) },
  { weight: 2, arbitrary: fc.constant('fail' as const) },
  { weight: 1, arbitrary: fc.constant('die' as const) },
  { weight: 1, arbitrary: fc.constant('move' as const) },
  { weight: 2, arbitrary: fc.constant('wait' as const) },
);

test('whatever fails, dies and moves: nothing is missed, order is kept, and only a death repeats, one change each', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const world = new World({ teardown: () => {} });
      world.store.add(ACCOUNT, CONSUMER, 0);
      let node = world.start();
      let failing = 0;
      let deaths = 0;
      const due: number[] = [];
      world.outcome = () => (failing-- > 0 ? { kind: 'failed' } : { kind: 'delivered' });
      for (const [i, each] of steps.entries()) {
        if (each === 'new') due.push(world.commit(NEW(i)));
        else if (each === 'other') world.commit(OTHER);
        else if (each === 'fail') failing = 1;
        else if (each === 'wait') await new Promise((resolve) => setTimeout(resolve, 1));
        else {
          if (each === 'move') await node.released([0]);
          else deaths++;
          node.die();
          node = world.start();
        }
      }
      failing = 0;
      await world.until(() => (due.at(-1) ?? 0) <= (world.position ?? 0));
      await world.stopAll();
      t.deepEqual([...new Set(world.delivered)], due);
      t.true(world.delivered.length <= due.length + deaths);
      // A repetition begins where the previous owner has stopped.
      for (const [i, seq] of world.delivered.slice(1).entries()) t.true(seq >= world.delivered[i]!);
    }),
    { numRuns: runs(60) },
  );
});
