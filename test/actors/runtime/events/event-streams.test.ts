import fc from 'fast-check';
import pino from 'pino';
import { exhaustMap, NEVER, type Observable, Subject } from 'rxjs';
import { createEventStreams } from '../../../../src/actors/runtime/events/event-streams.js';
import type { Relocation } from '../../../../src/actors/runtime/ownership/ownership.js';
import type { EventPacket, EventRecord } from '../../../../src/actors/runtime/transport/packet.js';
import { eventSubject } from '../../../../src/actors/runtime/transport/subjects.js';
import type { Transport } from '../../../../src/actors/runtime/transport/transport.js';
import { localTransport } from '../../../../src/actors/runtime/transport/transport-local.js';
import { EVENT_LOG_START, type EventLog } from '../../../../src/store/events.js';
import { shardOf } from '../../../../src/store/shard.js';
import { runs } from '../../../support/amounts.js';
import { deferred } from '../../../support/deferred.js';
import test from '../../../support/test.js';
import { turn, turns } from '../../../support/turns.js';

/** Resolves when everything that takes a few turns has happened. */
const settled = () => turns(20);

const A = '00000000-0000-7000-8000-00000000000a';
const SUBJECT = eventSubject('test', A);
const SHARDS = 16;
const SHARD = shardOf(A, SHARDS);

const event = (seq: number): EventRecord => ({ seq, n: 0, type: 'Tested', at: 0, payload: null });

function streamsOf(
  log: Pick<EventLog, 'read' | 'newest'>,
  transport: Transport,
  relocations$: Observable<Relocation> = NEVER,
) {
  return createEventStreams<EventRecord>({
    protocolName: 'test',
    transport,
    ownership: { shards: SHARDS, relocations$ },
    log: { ...log, prune: async () => 0 },
    logger: pino({ level: 'silent' }),
  });
}

/** `readTurn`: a read sees the log before or after a turn of the event loop, and ends after it. */
function setUp(ready: Promise<void> = Promise.resolve(), readTurn?: 'before' | 'after', lagMs = 0) {
  const log: EventRecord[] = [];
  const breaks = new Subject<void>();
  const local = localTransport({ encoding: true });
  const transport: Transport = { ...local, breaks$: breaks, lagMs };
  let subscriptions = 0;
  let reads = 0;
  const counted: Transport = {
    ...transport,
    subscribe(subject, listener) {
      subscriptions++;
      const registration = local.subscribe(subject, listener);
      const end = () => {
        subscriptions--;
        registration.end();
      };
      return { ready, end };
    },
  };
  const moves = new Subject<Relocation>();
  const streams = streamsOf(
    {
      read: async (_accountId, after, limit) => {
        reads++;
        const page = () => log.filter((row) => row.seq > after).slice(0, limit);
        if (readTurn === undefined) return page();
        const early = page();
        await turn();
        return readTurn === 'before' ? early : page();
      },
      newest: async () => {
        await turn();
        return log.length;
      },
    },
    counted,
    moves,
  );
  /** Commits events and publishes them, unless the packet is lost. */
  const commit = (count: number, published = true) => {
    const after = log.length;
    for (let i = 1; i <= count; i++) log.push(event(after + i));
    const packet: EventPacket = { v: 1, accountId: A, after, seq: log.length, events: log.slice(after) };
    if (published) transport.publish(SUBJECT, packet);
    return packet;
  };
  /** Publishes what an owner does when it has loaded the account's state. */
  const hint = () => transport.publish(SUBJECT, { v: 1, accountId: A, after: log.length, seq: log.length, events: [] });
  return {
    streams,
    commit,
    hint,
    breaks,
    moves,
    transport,
    subscriptions: () => subscriptions,
    reads: () => reads,
  };
}

test('a follower gets the events after its start, and all followers share one bus subscription', async (t) => {
  const { streams, commit, subscriptions } = setUp();
  commit(3);
  const seen: number[] = [];
  const first = streams.of(A).subscribe((events) => seen.push(...events.map((row) => row.seq)));
  // The inner one begins while the outer one is told that it is ready.
  const within: number[] = [];
  const nested$ = streams.of(A).pipe(exhaustMap(() => streams.of(A)));
  const second = nested$.subscribe((events) => within.push(...events.map((row) => row.seq)));
  t.is(subscriptions(), 1);
  commit(2);
  await settled();
  t.deepEqual(seen, [4, 5]);
  commit(1);
  t.deepEqual(seen, [4, 5, 6], 'a known position needs no look-up');
  const third: number[] = [];
  const later = streams.of(A).subscribe((events) => third.push(...events.map((row) => row.seq)));
  commit(1);
  t.deepEqual(third, [7]);
  await settled();
  t.is(within.at(-1), 7);
  later.unsubscribe();
  first.unsubscribe();
  second.unsubscribe();
  t.is(subscriptions(), 0);
});

test('a client that knows more than the followers of this node resumes from where it is', async (t) => {
  const { streams, commit } = setUp();
  commit(5);
  streams.of(A).subscribe();
  await settled();
  commit(1, false);
  const { complete, position } = await streams.resume(A, { seq: 6, at: Date.now() });
  t.deepEqual([complete, position.seq], [true, 6]);
});

test('a follower with a position gets the log from there and then the live events, without gap or repeat', async (t) => {
  const { streams, commit } = setUp();
  commit(1200, false);
  const seen: number[] = [];
  streams.of(A, 10).subscribe((events) => seen.push(...events.map((row) => row.seq)));
  commit(5);
  await settled();
  commit(1);
  t.deepEqual(
    seen,
    Array.from({ length: 1196 }, (_, i) => i + 11),
  );
});

test('after a packet that is not understood followers read the log', async (t) => {
  const { streams, commit, transport } = setUp();
  const seen: number[] = [];
  streams.of(A).subscribe((events) => seen.push(...events.map((row) => row.seq)));
  await settled();
  commit(3, false);
  transport.publish(SUBJECT, { v: 1, kind: 'recheck' });
  await settled();
  t.deepEqual(seen, [1, 2, 3]);
});

test('events that other nodes published before they knew of a follower are read after the lag, as after a break', async (t) => {
  const { streams, commit, breaks, reads, subscriptions } = setUp(undefined, undefined, 50);
  const seen: number[] = [];
  const following = streams.of(A).subscribe((events) => {
    // An empty array says that the stream is ready.
    if (events.length === 0) commit(2, false);
    seen.push(...events.map((row) => row.seq));
  });
  const read = async (times: number) => {
    while (reads() < times) await new Promise((resolve) => setTimeout(resolve, 5));
    await settled();
  };
  await read(1);
  t.deepEqual(seen, [1, 2]);
  breaks.next();
  await read(3);
  following.unsubscribe();
  t.is(subscriptions(), 0);
});

test('a position that cannot be looked up is looked up again, and nothing published meanwhile is lost', async (t) => {
  const rows = [event(1)];
  let failures = 1;
  const transport = localTransport();
  const streams = streamsOf(
    {
      read: async (_accountId, after) => rows.filter((row) => row.seq > after),
      newest: async () => {
        if (failures-- > 0) throw new Error('down');
        return rows.length;
      },
    },
    transport,
  );
  const seen: number[] = [];
  const done = new Promise<void>((resolve) => {
    streams.of(A).subscribe((events) => {
      seen.push(...events.map((row) => row.seq));
      if (events.length > 0) resolve();
    });
  });
  rows.push(event(2));
  transport.publish(SUBJECT, { v: 1, accountId: A, after: 1, seq: 2, events: [event(2)] });
  // The timer keeps the process alive; the pause between two attempts does not.
  const awake = setInterval(() => {}, 1000);
  await done;
  clearInterval(awake);
  t.deepEqual(seen, [2]);
});

test('with the first emission the stream is ready, and only that one may be empty', async (t) => {
  const { promise: ready, resolve: becomeReady } = deferred();
  const { streams, commit } = setUp(ready);
  commit(3);
  const [now, behind, ahead]: number[][][] = [[], [], []];
  const into = (emissions: number[][]) => (events: readonly EventRecord[]) =>
    void emissions.push(events.map(({ seq }) => seq));
  streams.of(A).subscribe(into(now!));
  streams.of(A, 1).subscribe(into(behind!));
  streams.of(A, 3).subscribe(into(ahead!));
  await settled();
  t.deepEqual([now, behind, ahead], [[], [], []], 'nothing before the subscription is ready');
  commit(1, false);
  becomeReady();
  await settled();
  t.deepEqual(now, [[]], 'looked up afterwards');
  t.deepEqual([behind, ahead], [[[2, 3, 4]], [[4]]]);
  const [later, upToDate]: number[][][] = [[], []];
  streams.of(A).subscribe(into(later!));
  t.deepEqual(later, [[]], 'at once when the stream is ready');
  streams.of(A, 4).subscribe(into(upToDate!));
  await settled();
  commit(1);
  t.deepEqual(
    [now, later, upToDate],
    [
      [[], [5]],
      [[], [5]],
      [[], [5]],
    ],
  );
});

test('a follower that leaves while a read is pending leaves nothing behind', async (t) => {
  const { promise: ready, resolve: becomeReady } = deferred();
  const { streams, commit, breaks, subscriptions } = setUp(ready);
  commit(3);
  const silent = () => t.fail('it has left');
  const followers = [streams.of(A).subscribe(silent), streams.of(A, 1).subscribe(silent)];
  breaks.next();
  for (const follower of followers) follower.unsubscribe();
  t.is(subscriptions(), 0);
  becomeReady();
  await settled();
  const seen: number[] = [];
  const leaving = streams.of(A, 0).subscribe((events) => {
    seen.push(...events.map(({ seq }) => seq));
    leaving.unsubscribe();
  });
  await settled();
  t.deepEqual(seen, [1, 2, 3]);
  t.is(subscriptions(), 0);
  streams.of(A).subscribe().unsubscribe();
  await settled();
  t.is(subscriptions(), 0);
});

test('a break does not flood the log, and events that are published meanwhile do not wait', async (t) => {
  const accounts = Array.from({ length: 50 }, (_, i) => `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`);
  const breaks = new Subject<void>();
  const transport: Transport = { ...localTransport(), breaks$: breaks };
  let [reads, most] = [0, 0];
  const open: (() => void)[] = [];
  let slow = false;
  const streams = streamsOf(
    {
      read: async (_accountId, after) => {
        most = Math.max(most, ++reads);
        if (slow) await new Promise<void>((resolve) => open.push(resolve));
        reads--;
        return after === 0 ? [event(1)] : [];
      },
      newest: async () => 0,
    },
    transport,
  );
  const seen = new Map<string, number[]>();
  for (const accountId of accounts) {
    streams.of(accountId).subscribe((events) => {
      seen.set(accountId, [...(seen.get(accountId) ?? []), ...events.map(({ seq }) => seq)]);
    });
  }
  await settled();
  slow = true;
  breaks.next();
  breaks.next();
  await settled();
  t.is(reads, 8);
  const publish = (accountId: string, after: number) => {
    const seq = after + 1;
    transport.publish(eventSubject('test', accountId), { v: 1, accountId, after, seq, events: [event(seq)] });
  };
  const [beingRead, joinsOn, gap] = [accounts[0]!, accounts[40]!, accounts[41]!];
  publish(beingRead, 0);
  publish(joinsOn, 0);
  t.deepEqual([seen.get(beingRead), seen.get(joinsOn)], [[1], [1]], 'go out at once');
  publish(gap, 1);
  t.is(reads, 9, 'is read at once');
  most = 0;
  while (open.length > 0) {
    open.pop()!();
    await settled();
  }
  t.true(most <= 9);
  for (const accountId of accounts) t.deepEqual(seen.get(accountId), [1], accountId);
});

test('whatever happens to packets, a follower gets all events from its position on, once and in order', async (t) => {
  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom('sent', 'lost', 'repeated'), count: fc.integer({ min: 1, max: 120 }) }),
    fc.record({ kind: fc.constantFrom('hint', 'break', 'unclean', 'turn', 'turns', 'joins', 'leaves') }),
    fc.record({ kind: fc.constant('comes'), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.constantFrom('before', 'after'), async (steps, readTurn) => {
      const { streams, commit, hint, breaks, moves, transport, subscriptions } = setUp(Promise.resolve(), readTurn);
      let total = 0;
      const followers: { from: number | undefined; readyAt: number; seen: number[]; leave: () => void }[] = [];
      const follow = (from: number | undefined) => {
        const follower = { from, readyAt: -1, seen: [] as number[], leave: () => {} };
        const subscription = streams.of(A, from).subscribe((events) => {
          if (follower.readyAt >= 0) t.true(events.length > 0);
          else follower.readyAt = total;
          follower.seen.push(...events.map(({ seq }) => seq));
        });
        follower.leave = () => subscription.unsubscribe();
        followers.push(follower);
      };
      follow(undefined);
      for (const each of steps) {
        if ('count' in each) {
          total += each.count;
          const packet = commit(each.count, each.kind !== 'lost');
          if (each.kind === 'repeated') transport.publish(SUBJECT, packet);
        } else if (each.kind === 'hint') hint();
        else if (each.kind === 'break') breaks.next();
        else if (each.kind === 'unclean') moves.next({ shards: [SHARD], unclean: true });
        else if (each.kind === 'turn') await turn();
        else if (each.kind === 'turns') await settled();
        else if (each.kind === 'joins') follow(undefined);
        else if (each.kind === 'leaves') followers.shift()?.leave();
        else if ('share' in each) follow(Math.floor(each.share * total));
      }
      if (steps.at(-1)?.kind === 'lost') breaks.next();
      else hint();
      // At most eight pages of the log are read at a time, one in each turn.
      for (let i = 0; i < 10 + followers.length; i++) await settled();
      for (const { from, readyAt, seen } of followers) {
        const first = seen[0] ?? total + 1;
        if (from === undefined) t.true(first <= readyAt + 1, 'nothing is missed once the stream is ready');
        else t.is(first, from + 1);
        t.deepEqual(
          seen,
          Array.from({ length: total + 1 - first }, (_, i) => first + i),
        );
      }
      for (const { leave } of followers) leave();
      t.is(subscriptions(), 0);
    }),
    { numRuns: runs(300) },
  );
});

test('the log of an account is whole from 0 on until it is pruned', async (t) => {
  let seqs: number[] = [];
  const at = Date.now();
  const streams = streamsOf(
    {
      read: async (_accountId, after, limit) =>
        seqs
          .filter((seq) => seq > after)
          .slice(0, limit)
          .map((seq) => ({ ...event(seq), at })),
      newest: async () => seqs.at(-1) ?? EVENT_LOG_START,
    },
    localTransport({ encoding: true }),
  );
  const resumed = async () => {
    const { position, complete } = await streams.resume(A, { seq: 0 });
    return [position.seq, complete];
  };
  t.deepEqual(await resumed(), [0, true], 'nothing has happened yet');
  seqs = [2, 3];
  t.deepEqual(await resumed(), [0, true]);
  seqs = [3];
  t.deepEqual(await resumed(), [3, false]);
});
