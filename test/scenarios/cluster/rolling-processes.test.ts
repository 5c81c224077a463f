// Tests a rolling restart of two machines with several processes each, under load, behind HAProxy with the deployed configuration.
// The processes of a machine drain in turn; the balancer leaves the machine only while its last process drains.
import { CLUSTER_ACCOUNTS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { assertNothingRefused, PATIENT_TTL_MS, ROLLING_ANSWER_MS, roll } from './support/roll.js';

testWith('nats-server', 'haproxy')(
  'a rolling restart of machines with several processes refuses nothing',
  async (t) => {
    t.timeout(600_000);
    const settings = { MANSIO_PROCESSES: '2' };
    const cluster = await startCluster(t, {
      nodes: 2,
      accounts: CLUSTER_ACCOUNTS,
      balanced: true,
      leaseTtlMs: PATIENT_TTL_MS,
      settings,
    });
    await cluster.settled();
    const { front } = cluster;
    const targets = () => [front];
    const followers = await cluster.follow(targets);
    const load = cluster.load({ targets, answerMs: ROLLING_ANSWER_MS });
    await load.more(50);
    await roll(t, cluster, load);
    await cluster.verify(load);
    assertNothingRefused(t, load);
    await followers.verify(t);
    t.log(load.summary());
  },
);
