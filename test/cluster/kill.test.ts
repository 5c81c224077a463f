// kill -9 of one of three nodes under load: the others take over, every acknowledged message is there once, and nobody is
// refused for good.
import { testWith } from '../support/test-with.js';
import { startCluster } from './support/cluster.js';

testWith('nats-server')('a node that is killed under load loses and doubles nothing, and comes back', async (t) => {
  t.timeout(180_000);
  const cluster = await startCluster(t, { nodes: 3, accounts: 12 });
  await cluster.settled();
  const load = cluster.load();
  await load.more(150);
  await cluster.nodes[1]!.kill();
  await load.more(300);
  await cluster.settled();
  await cluster.nodes[1]!.start();
  await load.more(150);
  await cluster.settled();
  await cluster.verify(load);
  t.log(load.summary());
});
