// Tests a rolling restart under load without a balancer: /healthz tells clients where to connect next, and 421 or
// `Connection: close` when. No client is refused anything.
import { CLUSTER_ACCOUNTS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { healthyOnes } from './support/healthy.js';
import { assertNothingRefused, ROLLING_ANSWER_MS, roll } from './support/roll.js';

testWith('nats-server')('a rolling restart refuses nothing to clients that leave when they are told', async (t) => {
  t.timeout(300_000);
  const cluster = await startCluster(t, { nodes: 3, accounts: CLUSTER_ACCOUNTS });
  await cluster.settled();
  const targets = await healthyOnes(t, cluster.nodes);
  const followers = await cluster.follow(targets);
  const load = cluster.load({ targets, answerMs: ROLLING_ANSWER_MS });
  await load.more(50);
  await roll(t, cluster, load);
  await cluster.verify(load);
  assertNothingRefused(t, load);
  await followers.verify(t);
  t.log(load.summary());
});
