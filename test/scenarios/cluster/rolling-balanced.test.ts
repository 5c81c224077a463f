// Tests a rolling return from a later version under load behind HAProxy with the deployed configuration: it follows /healthz, and clients
// notice nothing. Every table has columns that this version does not know.
import { CLUSTER_ACCOUNTS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { ADDS_TO_ALL_TABLES, laterVersion } from './support/later-version.js';
import { assertNothingRefused, PATIENT_TTL_MS, ROLLING_ANSWER_MS, roll } from './support/roll.js';

testWith('nats-server', 'haproxy')(
  'a rolling return to the version before behind HAProxy refuses nothing',
  async (t) => {
    t.timeout(600_000);
    const { program, version, migration } = laterVersion(ADDS_TO_ALL_TABLES);
    const cluster = await startCluster(t, {
      nodes: 3,
      accounts: CLUSTER_ACCOUNTS,
      balanced: true,
      program,
      leaseTtlMs: PATIENT_TTL_MS,
    });
    await cluster.settled();
    const { front } = cluster;
    const targets = () => [front];
    const followers = await cluster.follow(targets);
    const load = cluster.load({ targets, answerMs: ROLLING_ANSWER_MS });
    await load.more(50);
    await roll(t, cluster, load);
    const { nodes } = await cluster.view();
    t.false(nodes.some((node) => node.version === version));
    const [row] = await cluster.sql`select max(name) as newest from schema_migrations`;
    t.is(row!['newest'], migration);
    await cluster.verify(load);
    assertNothingRefused(t, load);
    await followers.verify(t);
    t.log(load.summary());
  },
);
