import test from 'ava';
import fc from 'fast-check';
import pino from 'pino';
import { Subject } from 'rxjs';
import { createEventStreams } from '../../../src/actors/runtime/event-streams.js';
import type { EventPacket, EventRecord } from '../../../src/actors/runtime/packet.js';
import type { Transport } from '../../../src/actors/runtime/transport.js';
import { localTransport } from '../../../src/actors/runtime/transport-local.js';

const A = '00000000-0000-7000-8000-00000000000a';
const SUBJECT = `mansio.events.test.${A}`;

const event = (seq: number): EventRecord => ({ seq, n: 0, type: 'Tested', at: 0, payload: null });

function setUp() {
  const log: EventRecord[] = [];
  const breaks = new Subject<void>();
  const local = localTransport({ encoding: true });
  const transport: Transport = { ...local, breaks$: breaks };
  let subscriptions = 0;
  let lookUps = 0;
  /** What the look-ups found, in order. */
  const found: number[] = [];
  const counted: Transport = {
    ...transport,
    subscribe(subject, listener) {
      subscriptions++;
      const registration = local.subscribe(subject, listener);
      const end = () => {
        subscriptions--;
        registration.end();
      };
      return { ...registration, end };
    },
  };
  const streams = createEventStreams<EventRecord>({
    protocolName: 'test',
    transport: counted,
    log: {
      read: async (_accountId, after, limit) => log.filter((row) => row.seq > after).slice(0, limit),
      newest: async () => {
        lookUps++;
        await new Promise((resolve) => setImmediate(resolve));
        found.push(log.length);
        return log.length;
      },
      prune: async () => 0,
    },
    logger: pino({ level: 'silent' }),
  });
  /** Commits events and, unless the packet is to get lost, publishes them. */
  const commit = (count: number, published = true) => {
    const after = log.length;
    for (let i = 1; i <= count; i++) log.push(event(after + i));
    const packet: EventPacket = { v: 1, accountId: A, after, seq: log.length, events: log.slice(after) };
    if (published) transport.publish(SUBJECT, packet);
    return packet;
  };
  /** What the owner publishes when it has loaded the account's state. */
  const hint = () => transport.publish(SUBJECT, { v: 1, accountId: A, after: log.length, seq: log.length, events: [] });
  return {
    streams,
    commit,
    hint,
    found,
    breaks,
    transport,
    subscriptions: () => subscriptions,
    lookUps: () => lookUps,
  };
}

const turns = async () => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

test('a subscriber sees what is published after it came, all share one subscription', async (t) => {
  const { streams, commit, subscriptions, lookUps } = setUp();
  commit(3);
  const seen: number[] = [];
  const first = streams.of(A).subscribe((events) => seen.push(...events.map((row) => row.seq)));
  const second = streams.of(A).subscribe();
  t.is(subscriptions(), 1);
  commit(2);
  await turns();
  t.deepEqual(seen, [4, 5]);
  commit(1);
  t.deepEqual(seen, [4, 5, 6], 'a known position needs no look-up');
  const third: number[] = [];
  const later = streams.of(A).subscribe((events) => third.push(...events.map((row) => row.seq)));
  commit(1);
  t.deepEqual(third, [7]);
  t.is(lookUps(), 1, 'one look-up an account');
  later.unsubscribe();
  first.unsubscribe();
  second.unsubscribe();
  t.is(subscriptions(), 0);
});

test('who names a position gets the log from there and then the live events, without gap or repeat', async (t) => {
  const { streams, commit } = setUp();
  commit(1200, false);
  const seen: number[] = [];
  streams.of(A, 10).subscribe((events) => seen.push(...events.map((row) => row.seq)));
  commit(5);
  await turns();
  commit(1);
  t.deepEqual(
    seen,
    Array.from({ length: 1196 }, (_, i) => i + 11),
  );
});

test('a break makes followers read on from where they were', async (t) => {
  const { streams, commit, breaks } = setUp();
  const seen: number[] = [];
  streams.of(A).subscribe((events) => seen.push(...events.map((row) => row.seq)));
  await turns();
  commit(1);
  commit(2, false);
  breaks.next();
  await turns();
  t.deepEqual(seen, [1, 2, 3]);
});

test('whatever packets are lost or repeated, a follower has every event once and in order', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.constantFrom('sent', 'lost', 'repeated', 'pause')), {
        maxLength: 30,
      }),
      async (steps) => {
        const { streams, commit, transport } = setUp();
        const seen: number[] = [];
        streams.of(A, 0).subscribe((events) => seen.push(...events.map((row) => row.seq)));
        let total = 0;
        for (const [count, fate] of steps) {
          total += count;
          const packet = commit(count, fate !== 'lost');
          if (fate === 'repeated') transport.publish(SUBJECT, packet);
          if (fate === 'pause') await turns();
        }
        commit(1);
        await turns();
        t.deepEqual(
          seen,
          Array.from({ length: total + 1 }, (_, i) => i + 1),
        );
      },
    ),
    { numRuns: 50 },
  );
});

test('what went unpublished before the first packet is not skipped', async (t) => {
  const { streams, commit } = setUp();
  commit(3);
  const seen: number[] = [];
  streams.of(A).subscribe((events) => seen.push(...events.map((row) => row.seq)));
  await turns();
  commit(2, false);
  commit(1);
  await turns();
  t.deepEqual(seen, [4, 5, 6]);
});

test('a hint alone brings what went unpublished', async (t) => {
  const { streams, commit, hint } = setUp();
  const seen: number[] = [];
  streams.of(A).subscribe((events) => seen.push(...events.map((row) => row.seq)));
  await turns();
  commit(2, false);
  hint();
  await turns();
  t.deepEqual(seen, [1, 2]);
});

test('a position that cannot be looked up is looked up again, and nothing published meanwhile is lost', async (t) => {
  const rows = [event(1)];
  let failures = 1;
  const transport = localTransport();
  const streams = createEventStreams<EventRecord>({
    protocolName: 'test',
    transport,
    log: {
      read: async (_accountId, after) => rows.filter((row) => row.seq > after),
      newest: async () => {
        if (failures-- > 0) throw new Error('down');
        return rows.length;
      },
      prune: async () => 0,
    },
    logger: pino({ level: 'silent' }),
  });
  const seen: number[] = [];
  const done = new Promise<void>((resolve) => {
    streams.of(A).subscribe((events) => {
      seen.push(...events.map((row) => row.seq));
      resolve();
    });
  });
  rows.push(event(2));
  transport.publish(SUBJECT, { v: 1, accountId: A, after: 1, seq: 2, events: [event(2)] });
  // The pause between two tries keeps no process alive.
  const awake = setInterval(() => {}, 1000);
  await done;
  clearInterval(awake);
  t.deepEqual(seen, [2]);
});

test('whoever names no position has everything from its look-up or the first packet on, whatever is lost', async (t) => {
  const fates = fc.constantFrom('sent', 'lost', 'repeated', 'hint', 'pause');
  const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fates), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 5 }), steps, async (before, history) => {
      const { streams, commit, hint, found, transport } = setUp();
      if (before > 0) commit(before);
      const seen: number[] = [];
      streams.of(A).subscribe((events) => seen.push(...events.map((row) => row.seq)));
      let total = before;
      let announced = Number.POSITIVE_INFINITY;
      for (const [count, fate] of history) {
        const packet = commit(count, fate === 'sent' || fate === 'repeated');
        total += count;
        if (fate === 'repeated') transport.publish(SUBJECT, packet);
        if (fate === 'hint') {
          hint();
          announced = Math.min(announced, total);
        }
        if (fate === 'sent' || fate === 'repeated') announced = Math.min(announced, packet.after);
        if (fate === 'pause') await turns();
      }
      commit(1);
      announced = Math.min(announced, total);
      await turns();
      const start = Math.min(found[0]!, announced);
      t.deepEqual(
        seen,
        Array.from({ length: total + 1 - start }, (_, i) => start + 1 + i),
      );
      t.true(start >= before);
    }),
    { numRuns: 200 },
  );
});
