// The heartbeat of a node alone on its store, over leases in memory that can be taken away, fail or hang.
import test, { type ExecutionContext } from 'ava';
import pino from 'pino';
import { ownAllShards } from '../../../src/actors/runtime/ownership.js';
import type { LeaseStore } from '../../../src/store/leases.js';

const SHARDS = 4;

async function start(t: ExecutionContext, ttlMs = 30) {
  const lines: { level: number; msg: string; missing?: number }[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const state = { others: 0, renewals: 0, acquire: undefined as Error | undefined, renew: undefined as unknown };
  let held = 0;
  const store: LeaseStore = {
    shardCount: async () => SHARDS,
    acquire: async () => {
      held = SHARDS - state.others;
      // The leases are taken all the same: only the answer is lost.
      if (state.acquire !== undefined) throw state.acquire;
      return Array.from({ length: held }, (_, shard) => ({ shard, epoch: 1 }));
    },
    renew: async () => {
      state.renewals++;
      if (state.renew === 'hangs') return new Promise(() => {});
      if (state.renew instanceof Error) throw state.renew;
      held = Math.min(held, SHARDS - state.others);
      return held;
    },
    release: async () => {},
  };
  const ownership = await ownAllShards({ store, nodeId: 'a', ttlMs, shards: SHARDS, log });
  t.teardown(() => ownership.release());
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  const beats = async (count: number) => {
    const from = state.renewals;
    await until(() => state.renewals >= from + count);
  };
  return { ownership, state, lines, until, beats };
}

test('shards that another node took are missing and said once; so is their return', async (t) => {
  const { ownership, state, lines, until, beats } = await start(t);
  t.is(ownership.missing, 0);
  state.others = 3;
  await until(() => ownership.missing === 3);
  await beats(5);
  t.deepEqual(
    lines.map(({ level, missing }) => [level, missing]),
    [[50, 3]],
  );
  state.others = 0;
  await until(() => ownership.missing === 0);
  await beats(5);
  t.is(lines.length, 2);
  t.is(lines[1]!.level, 30);
});

test('a renewal that never returns does not end the heartbeat', async (t) => {
  const { ownership, state, lines, until, beats } = await start(t);
  state.renew = 'hangs';
  await beats(3);
  t.is(lines.length, 1, 'one warning however long it lasts');
  state.renew = undefined;
  await until(() => lines.length === 2);
  t.is(ownership.missing, 0);
});

test('leases taken by an acquire whose answer was lost are owned after the next beat', async (t) => {
  const { ownership, state, until } = await start(t);
  state.others = 4;
  state.acquire = new Error('the connection broke');
  await until(() => ownership.missing === 4);
  state.others = 0;
  await new Promise((resolve) => setTimeout(resolve, 50));
  state.acquire = undefined;
  await until(() => ownership.missing === 0);
  t.deepEqual(ownership.owned, [0, 1, 2, 3]);
});
