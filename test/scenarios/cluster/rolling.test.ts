// Tests a rolling upgrade to a later version under load without a balancer: /healthz tells clients where to connect next, and 421 or
// `Connection: close` when. No client is refused anything, while nodes of both versions run on the store that the first one has migrated.
import { CLUSTER_ACCOUNTS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { healthyOnes } from './support/healthy.js';
import { ADDS_A_TABLE, laterVersion } from './support/later-version.js';
import { assertNothingRefused, PATIENT_TTL_MS, ROLLING_ANSWER_MS, roll } from './support/roll.js';

testWith('nats-server')('a rolling upgrade refuses nothing to clients that leave when they are told', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, { nodes: 3, accounts: CLUSTER_ACCOUNTS, leaseTtlMs: PATIENT_TTL_MS });
  await cluster.settled();
  const targets = await healthyOnes(t, cluster.nodes);
  const followers = await cluster.follow(targets);
  const load = cluster.load({ targets, answerMs: ROLLING_ANSWER_MS });
  await load.more(50);
  const later = laterVersion(ADDS_A_TABLE);
  await roll(t, cluster, load, later.program);
  const { nodes } = await cluster.view();
  t.deepEqual([...new Set(nodes.map(({ version }) => version))], [later.version]);
  const [row] =
    await cluster.sql`select count(*)::int as notes, (select max(name) from schema_migrations) as newest from later_notes`;
  t.deepEqual({ ...row }, { notes: cluster.accounts.length, newest: later.migration });
  await cluster.verify(load);
  assertNothingRefused(t, load);
  await followers.verify(t);
  t.log(load.summary());
});
