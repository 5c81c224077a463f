// Tests health checks, such as that of the certificate's end; how checks run is tested in test/gateways/http.

import { healthChecks } from '../../../src/node/health/health-checks.js';
import type { ClusterView, NodeState } from '../../../src/store/leases.js';
import test from '../../support/test.js';

const DAY = 86_400_000;
const dataDirectory = { path: '.' };
const breaker = { run: <T>(work: () => Promise<T>) => work() };
const QUIET = { overdueMs: async () => 0, isStranded: async () => false, awaitingRelease: async () => 0 };
const LOCAL = { tls: undefined, natsUrl: undefined, databaseUrl: undefined };
const NEVER = async () => undefined;
const FILES = { cert: '/cert.pem', key: '/key.pem' };

test("the certificate is watched when it is the operator's, degraded near its end and unhealthy behind it", async (t) => {
  const now = Date.UTC(2026, 0, 1);
  let daysLeft = 0;
  const tls = {
    certificates: {
      get presented() {
        return { names: ['mail.example.test'], expiresAt: new Date(now + daysLeft * DAY) };
      },
    },
  };
  const ownership = {
    nodeId: 'a',
    state: 'serving' as const,
    isCurrent: true,
    owned: [0],
    shards: 1,
    view: undefined,
    unreachable: [],
  };
  const names = (files: typeof FILES | undefined) =>
    healthChecks(
      { healthSql: undefined as never, breaker, dataDirectory, tls, config: { ...LOCAL, tls: files && [files] } },
      {
        hub: { connections: 0 },
        commits: { failing: undefined },
        outbound: QUIET,
        lastBackup: NEVER,
        ownership,
        queue: undefined,
        signing: undefined,
        relayLogins: undefined,
        acme: undefined,
      },
      () => now,
    );
  t.deepEqual(
    names(undefined).map(({ name }) => name),
    ['database', 'storage', 'shards', 'signalr', 'delivery-queue', 'backup'],
  );
  const check = names(FILES).at(-1)!;
  t.is(check.name, 'tls-certificate');
  const table = [
    [90, 'Healthy'],
    [21.1, 'Healthy'],
    [21, 'Degraded'],
    [0.1, 'Degraded'],
    [0, 'Unhealthy'],
    [-5, 'Unhealthy'],
  ] as const;
  for (const [days, status] of table) {
    daysLeft = days;
    t.is((await check.run()).status, status, `${days} days`);
  }
});

test('a node that cannot serve is unhealthy; one that is cut off only when others are not', async (t) => {
  const row = { version: '1', roles: [], bus: 'nats', startedAt: 0, silentMs: 0, expired: false } as const;
  const others = (state: NodeState, expired = false): ClusterView => ({
    nodes: [
      { ...row, id: 'a', state: 'cut off' },
      { ...row, id: 'b', state, expired },
    ],
    leases: [],
  });
  const result = async (changed: {
    state?: NodeState;
    isCurrent?: boolean;
    view?: ClusterView;
    unreachable?: string[];
  }) => {
    const ownership = {
      nodeId: 'a',
      state: 'serving',
      isCurrent: true,
      owned: [0],
      shards: 2,
      view: undefined,
      unreachable: [],
    } as const;
    const checks = healthChecks(
      {
        healthSql: undefined as never,
        breaker,
        dataDirectory,
        tls: { certificates: { presented: { names: [], expiresAt: new Date() } } },
        config: LOCAL,
      },
      {
        hub: { connections: 0 },
        commits: { failing: undefined },
        outbound: QUIET,
        lastBackup: NEVER,
        ownership: { ...ownership, ...changed },
        queue: undefined,
        signing: undefined,
        relayLogins: undefined,
        acme: undefined,
      },
    );
    return checks.find(({ name }) => name === 'shards')!.run();
  };
  t.like(await result({}), { status: 'Healthy', data: { owned: 1, shards: 2 } });
  t.like(await result({ unreachable: ['b'] }), { status: 'Degraded', data: { unheard: 1 } });
  t.is((await result({ state: 'draining' })).status, 'Unhealthy');
  t.is((await result({ isCurrent: false })).status, 'Unhealthy');
  t.is((await result({ state: 'cut off', view: others('cut off') })).status, 'Degraded');
  t.is((await result({ state: 'cut off', view: others('serving', true) })).status, 'Degraded');
  t.is((await result({ state: 'cut off', view: others('serving') })).status, 'Unhealthy');
});

test('the queue is unhealthy when it has stopped or does not work, degraded when it lags; without the role it is healthy', async (t) => {
  const well = {
    isStopped: false,
    lookAgeMs: 900,
    failingMs: 0,
    overdueMs: 1_500,
    inFlight: 3,
    shards: 256,
    pollMs: 1_000,
  };
  const result = (queue: typeof well | undefined) => {
    const ownership = {
      nodeId: 'a',
      state: 'serving',
      isCurrent: true,
      owned: [0],
      shards: 1,
      view: undefined,
      unreachable: [],
    } as const;
    const resources = {
      healthSql: undefined as never,
      breaker,
      dataDirectory,
      tls: { certificates: { presented: { names: [], expiresAt: new Date() } } },
      config: LOCAL,
    };
    const check = healthChecks(resources, {
      hub: { connections: 0 },
      commits: { failing: undefined },
      outbound: QUIET,
      lastBackup: NEVER,
      ownership,
      queue,
      signing: undefined,
      relayLogins: undefined,
      acme: undefined,
    }).find(({ name }) => name === 'delivery-queue')!;
    t.deepEqual(check.tags, ['api']);
    return check.run();
  };
  t.deepEqual(await result(well), {
    status: 'Healthy',
    description: 'Outbound mail is delivered as it becomes due.',
    data: { inFlight: 3, shards: 256, overdueMs: 0, awaitingRelease: 0 },
  });
  const without = await result(undefined);
  t.is(without.status, 'Healthy');
  t.regex(without.description!, /does not have the role/);
  const table = [
    [{ isStopped: true }, 'Unhealthy', /has stopped/],
    [{ lookAgeMs: 40_000 }, 'Unhealthy', /could not be read for 40 s/],
    // A long poll interval is no fault.
    [{ lookAgeMs: 40_000, pollMs: 60_000 }, 'Healthy', /as it becomes due/],
    [{ failingMs: 45_000 }, 'Unhealthy', /No delivery could be begun for 45 s/],
    [{ overdueMs: 300_000 }, 'Degraded', /due for 300 s/],
  ] as const;
  for (const [changes, status, words] of table) {
    const found = await result({ ...well, ...changes });
    t.is(found.status, status);
    t.regex(found.description!, words);
  }
});

test('the queue speaks of the cluster: what is due and what no node that lives delivers', async (t) => {
  const row = { id: 'b', version: '1', bus: 'nats', startedAt: 0, silentMs: 0, expired: false } as const;
  const view = (node: object): ClusterView => ({
    nodes: [{ ...row, roles: ['outbound'], state: 'serving' as const, ...node }],
    leases: [],
  });
  const result = async (seen: ClusterView | undefined, overdueMs: number, isStranded = false, awaiting = 0) => {
    const asked: (readonly number[])[] = [];
    const outbound = {
      overdueMs: async (shards: readonly number[]) => {
        asked.push(shards);
        return overdueMs;
      },
      isStranded: async () => isStranded,
      awaitingRelease: async () => awaiting,
    };
    const ownership = {
      nodeId: 'a',
      state: 'serving',
      isCurrent: true,
      owned: [0],
      shards: 3,
      unreachable: [],
    } as const;
    const checks = healthChecks(
      {
        healthSql: undefined as never,
        breaker,
        dataDirectory,
        tls: { certificates: { presented: { names: [], expiresAt: new Date() } } },
        config: LOCAL,
      },
      {
        commits: { failing: undefined },
        hub: undefined,
        ownership: { ...ownership, view: seen },
        queue: undefined,
        signing: undefined,
        relayLogins: undefined,
        acme: undefined,
        outbound,
        lastBackup: NEVER,
      },
    );
    t.deepEqual(
      checks.map(({ name }) => name),
      ['database', 'storage', 'shards', 'delivery-queue', 'backup'],
      'without a hub nothing is said of one',
    );
    const { status } = await checks.find(({ name }) => name === 'delivery-queue')!.run();
    t.deepEqual(asked, [[0, 1, 2]], 'all shards');
    return status;
  };
  const nobody = [{ roles: ['api', 'mailbox'] }, { expired: true }, { state: 'draining' }];
  for (const node of nobody) {
    t.is(await result(view(node), 0), 'Healthy');
    t.is(await result(view(node), 20_000), 'Unhealthy');
    t.is(await result(view(node), 0, true), 'Unhealthy');
  }
  t.is(await result(view({}), 20_000, true), 'Healthy', 'somebody is at it');
  t.is(await result(view({}), 100_000), 'Degraded');
  t.is(await result(undefined, 20_000), 'Healthy');
  t.is(await result(view({}), 0, false, 3), 'Degraded', 'restored emails wait for their release');
});

test('an old backup is degraded; a store that was never saved so is not', async (t) => {
  const now = Date.UTC(2026, 0, 10);
  const result = (daysAgo: number | undefined) => {
    const ownership = {
      nodeId: 'a',
      state: 'serving',
      isCurrent: true,
      owned: [],
      shards: 1,
      view: undefined,
      unreachable: [],
    } as const;
    const resources = {
      healthSql: undefined as never,
      breaker,
      dataDirectory,
      tls: { certificates: { presented: { names: [], expiresAt: new Date() } } },
      config: LOCAL,
    };
    const parts = {
      hub: undefined,
      commits: { failing: undefined },
      outbound: QUIET,
      ownership,
      queue: undefined,
      signing: undefined,
      relayLogins: undefined,
      acme: undefined,
    };
    const lastBackup = async () =>
      daysAgo === undefined ? undefined : { at: now - daysAgo * DAY, bytes: 1, isEncrypted: false };
    return healthChecks(resources, { ...parts, lastBackup }, () => now)
      .find(({ name }) => name === 'backup')!
      .run();
  };
  t.is((await result(undefined)).status, 'Healthy');
  t.like(await result(1), { status: 'Healthy', data: { lastBackupAt: '2026-01-09T00:00:00.000Z', ageHours: 24 } });
  t.is((await result(3)).status, 'Healthy');
  t.is((await result(3.1)).status, 'Degraded');
});
