// Runs the actor of docs/example-actor.md on two nodes of one bus, with its store in PostgreSQL.
import { EventEmitter, once } from 'node:events';
import pino from 'pino';
import { ActorFault } from '../../src/actors/runtime/errors.js';
import { createEventStreams } from '../../src/actors/runtime/events/event-streams.js';
import { startHost } from '../../src/actors/runtime/host.js';
import type { EventOf } from '../../src/actors/runtime/protocol.js';
import { createRefs } from '../../src/actors/runtime/refs.js';
import { localTransport } from '../../src/actors/runtime/transport/transport-local.js';
import { connect } from '../../src/store/postgres/driver/client.js';
import { type Teardown, testDatabase } from '../support/database/embedded-database.js';
import { fixedOwnership } from '../support/ownership.js';
import test from '../support/test.js';
import { type CounterStore, counterBehavior, counterProtocol } from './example-actor.js';
import { postgresCounterLog, postgresCounters, SCHEMA } from './example-store.js';

const ACCOUNT = '00000000-0000-7000-8000-00000000000a';
const logger = pino({ level: 'silent' });

/** A bus, a store with one counter, and the ref of that counter on a node that owns nothing. */
async function cluster(t: Teardown) {
  const sql = connect((await testDatabase(t)).address, { max: 4, applicationName: 'example' });
  t.teardown(() => sql.end());
  await sql.unsafe(SCHEMA);
  await sql`insert into counters (account_id) values (${ACCOUNT})`;
  const store = postgresCounters(sql);
  const transport = localTransport({ encoding: true });

  /** Starts a node that owns all accounts from now on. */
  function startOwner(epoch: number, its: CounterStore = store) {
    const ownership = fixedOwnership(1, () => epoch);
    const behavior = counterBehavior(its);
    const limits = { idleMs: 60_000, sweepMs: 60_000, maxOctets: 1e9, checked: true };
    const host = startHost({ behavior, transport, ownership, log: logger, ...limits });
    void host.acquired(ownership.owned);
    t.teardown(() => host.stop());
  }

  const ownership = fixedOwnership(1, () => undefined);
  const streams = createEventStreams<EventOf<typeof counterProtocol>>({
    protocolName: counterProtocol.name,
    transport,
    ownership,
    log: postgresCounterLog(sql),
    logger,
  });
  const counters = createRefs({ protocol: counterProtocol, transport, ownership, streams });
  const rows = () => sql<{ epoch: number; total: number; seq: number }[]>`select epoch, total, seq from counters`;
  return { store, startOwner, counters, rows };
}

test('commands are planned on what the ones before have planned; replies, refusals and queries are values', async (t) => {
  const { startOwner, counters, rows } = await cluster(t);
  startOwner(1);
  const counter = counters.of(ACCOUNT);
  const asked = [3, 5_000, 4].map((amount) => counter.ask('add', { amount }));
  t.deepEqual(await Promise.all(asked), [{ reply: { total: 3 } }, { refusal: 'tooLarge' }, { reply: { total: 7 } }]);
  t.deepEqual(await counter.ask('total', {}), { reply: { total: 7 } });
  t.deepEqual([...(await rows())], [{ epoch: 1, total: 7, seq: 3 }]);
  const stranger = counters.of('00000000-0000-7000-8000-00000000000b');
  t.is((await t.throwsAsync(stranger.ask('total', {}), { instanceOf: ActorFault })).code, 'no-such-account');
});

test("a fenced-out writer's commit is refused; the caller's command is carried out once, by the new owner", async (t) => {
  const { store, startOwner, counters, rows } = await cluster(t);
  const moments = new EventEmitter();
  const [paused, resumed] = [once(moments, 'paused'), once(moments, 'resumed')];
  const commits: boolean[] = [];
  startOwner(1, {
    ...store,
    async commit(...parts) {
      if (commits.length === 1) {
        moments.emit('paused');
        await resumed;
      }
      commits.push(await store.commit(...parts));
      return commits.at(-1)!;
    },
  });
  const counter = counters.of(ACCOUNT);
  const amounts: number[] = [];
  const followed = new Promise<void>((resolve) => {
    counter.events$(1).subscribe((events) => {
      amounts.push(...events.map(({ payload }) => payload.amount));
      if (amounts.length === 3) resolve();
    });
  });
  t.deepEqual(await counter.ask('add', { amount: 3 }), { reply: { total: 3 } });
  const late = counter.ask('add', { amount: 4 });
  await paused;
  startOwner(2);
  t.deepEqual(await counter.ask('add', { amount: 10 }), { reply: { total: 13 } });
  moments.emit('resumed');
  t.deepEqual(await late, { reply: { total: 17 } });
  t.deepEqual(commits, [true, false]);
  t.deepEqual([...(await rows())], [{ epoch: 2, total: 17, seq: 4 }]);
  await followed;
  t.deepEqual(amounts, [3, 10, 4]);
});

test('a command that is repeated gets its first reply, also from the next owner', async (t) => {
  const { store, startOwner, counters, rows } = await cluster(t);
  startOwner(1, {
    ...store,
    async commit(...parts) {
      await store.commit(...parts);
      startOwner(2);
      return false;
    },
  });
  t.deepEqual(await counters.of(ACCOUNT).ask('add', { amount: 3 }), { reply: { total: 3 } });
  t.deepEqual([...(await rows())], [{ epoch: 2, total: 3, seq: 2 }]);
});
