// Tests housekeeping on a time of its own: each job runs a minute after the start and then at its interval, whatever becomes of the others.

import pino from 'pino';
import { type HousekeepingOptions, startHousekeeping } from '../../../src/node/engine/housekeeping.js';
import { virtualTest } from '../../support/cluster/virtual-test.js';

const MINUTE_MS = 60_000;

/** Jobs that do nothing and count how often they run. */
function start(replaced: Partial<HousekeepingOptions> = {}) {
  const runs: Record<string, number> = {};
  const job = (name: string) => async () => {
    runs[name] = (runs[name] ?? 0) + 1;
    return 0;
  };
  const options = {
    events: { prune: job('events') },
    replies: { forget: job('replies') },
    flushing: { sweep: job('flags') },
    search: { clear: async () => new Set() },
    blobs: { collect: job('blobs') },
    directory: { heldAccounts: async () => [], dropRevokedKeys: job('keys') },
    sessions: { dropEnded: job('sessions') },
    stsPolicies: { dropExpired: job('policies') },
    webhookDeliveries: { prune: job('deliveries') },
    refusals: { prune: job('refusals') },
    reports: { prune: job('reports') },
    greylist: { prune: job('greylist') },
    ownReports: { prune: job('ownReports') },
    ownTlsReports: { prune: job('ownTlsReports') },
    outbound: { store: { expired: async () => [] }, keepDays: 90 },
    mailboxes: {},
    log: pino({ level: 'silent' }),
    ...replaced,
  } as unknown as HousekeepingOptions;
  return { housekeeping: startHousekeeping(options), runs };
}

virtualTest(
  'each job runs a minute after the start, and then at its interval, also after it failed',
  async (t, time) => {
    let failures = 0;
    const blobs = {
      async collect() {
        failures++;
        throw new Error('no database');
      },
    };
    const { housekeeping, runs } = start({ blobs } as unknown as Partial<HousekeepingOptions>);
    await time.advance(MINUTE_MS - 1);
    t.deepEqual(runs, {});
    await time.advance(1);
    t.deepEqual(runs, {
      events: 1,
      replies: 1,
      flags: 1,
      policies: 1,
      deliveries: 1,
      refusals: 1,
      reports: 1,
      greylist: 1,
      ownReports: 1,
      ownTlsReports: 1,
      keys: 1,
      sessions: 1,
    });
    await time.advance(60 * MINUTE_MS);
    t.deepEqual(runs, {
      events: 2,
      replies: 7,
      flags: 7,
      policies: 1,
      deliveries: 7,
      refusals: 2,
      reports: 1,
      greylist: 7,
      ownReports: 1,
      ownTlsReports: 1,
      keys: 1,
      sessions: 1,
    });
    t.is(failures, 7);
    await time.advance(23 * 60 * MINUTE_MS);
    t.is(runs['keys'], 2);
    t.is(runs['sessions'], 2);
    await housekeeping.stop();
  },
);

virtualTest(
  'what merges have left is deleted by the second look that sees it, also after one that failed',
  async (t, time) => {
    const looks: (readonly number[])[] = [];
    const search: HousekeepingOptions['search'] = {
      async clear(seen) {
        looks.push([...seen]);
        if (looks.length === 2) throw new Error('no answer');
        return new Set([looks.length, 7]);
      },
    };
    const { housekeeping } = start({ search });
    await time.advance(MINUTE_MS);
    for (let hour = 0; hour < 3; hour++) await time.advance(60 * MINUTE_MS);
    t.deepEqual(looks, [[], [1, 7], [1, 7], [3, 7]]);
    await housekeeping.stop();
  },
);

virtualTest('a stop waits for the jobs that run, and starts no others', async (t, time) => {
  let end = () => {};
  const blobs = { collect: () => new Promise<number>((resolve) => (end = () => resolve(1))) };
  const { housekeeping, runs } = start({ blobs } as unknown as Partial<HousekeepingOptions>);
  await time.advance(MINUTE_MS);
  let isStopped = false;
  const stopping = housekeeping.stop().then(() => {
    isStopped = true;
  });
  await time.advance(60 * MINUTE_MS);
  t.false(isStopped);
  t.is(runs['replies'], 1);
  end();
  await stopping;
});

virtualTest('replies are forgotten pass after pass while there are many, then at the interval', async (t, time) => {
  let old = 50_000;
  const taken: number[] = [];
  const replies: HousekeepingOptions['replies'] = {
    async forget(_, limit) {
      const count = Math.min(old, limit);
      old -= count;
      taken.push(count);
      return count;
    },
  };
  const { housekeeping } = start({ replies });
  await time.advance(MINUTE_MS);
  t.deepEqual(taken, [20_000]);
  await time.advance(2_000);
  t.deepEqual(taken, [20_000, 20_000, 10_000]);
  await time.advance(10 * MINUTE_MS);
  t.deepEqual(taken, [20_000, 20_000, 10_000, 0]);
  await housekeeping.stop();
});
