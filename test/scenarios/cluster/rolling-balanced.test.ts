// Tests a rolling restart under load behind HAProxy with the deployed configuration: it follows /healthz, and clients notice nothing.
import { CLUSTER_ACCOUNTS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { assertNothingRefused, ROLLING_ANSWER_MS, roll } from './support/roll.js';

testWith('nats-server', 'haproxy')('a rolling restart behind HAProxy refuses nothing', async (t) => {
  t.timeout(300_000);
  const cluster = await startCluster(t, { nodes: 3, accounts: CLUSTER_ACCOUNTS, balanced: true });
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
});
