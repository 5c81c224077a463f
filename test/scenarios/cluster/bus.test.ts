// Kills NATS servers, one of three and then all. Nodes connect to another server, or keep what they own until the servers are
// back; mail is accepted all the while, and hub clients miss nothing.
import { CLUSTER_ACCOUNTS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';

testWith('nats-server')('a cluster outlives its NATS servers, one and all', async (t) => {
  t.timeout(180_000);
  const cluster = await startCluster(t, { nodes: 3, natsServers: 3, accounts: CLUSTER_ACCOUNTS });
  await cluster.settled();
  const followers = await cluster.follow();
  const load = cluster.load();
  await load.more(50);
  for (const server of cluster.nats) {
    await server.kill();
    await load.more(40);
    await server.start();
  }
  await cluster.settled();
  await load.more(50);

  const states = async (wanted: string) =>
    (await cluster.view()).nodes.every(({ state, expired }) => state === wanted && !expired);
  const owners = async () => (await cluster.view()).leases.map(({ nodeId }) => nodeId);
  const before = await owners();
  await Promise.all(cluster.nats.map((server) => server.kill()));
  await eventually('all nodes to be cut off', () => states('cut off'));
  await load.more(40);
  t.deepEqual(await owners(), before, 'nodes that are cut off alike took from each other');
  await Promise.all(cluster.nats.map((server) => server.start()));
  await eventually('all nodes to be back', () => states('serving'));
  await load.more(50);
  await cluster.settled();
  t.deepEqual(await owners(), before, 'shards have moved for nothing');
  await cluster.verify(load);
  await followers.verify(t);
  t.log(load.summary());
});
