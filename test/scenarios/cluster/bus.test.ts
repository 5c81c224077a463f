// Kills each of three NATS servers in turn, so that each node loses the one that it is connected to; hangs one; and kills all. Nodes connect
// to another server, or keep what they own until the servers are back; mail is accepted all the while, and hub clients miss nothing.
import type { ClusterNode } from '../../../dev/local-node.js';
import type { NatsServer } from '../../../dev/servers/nats-server.js';
import { amount, CLUSTER_ACCOUNTS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster, type TestCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';

const HUNG_SERVERS = amount(1, 3);

testWith('nats-server')('a cluster outlives its NATS servers, one and all', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, {
    nodes: 3,
    natsServers: 3,
    accounts: CLUSTER_ACCOUNTS,
    leaseTtlMs: PATIENT_TTL_MS,
  });
  await cluster.settled();
  const followers = await cluster.follow();
  const load = cluster.load();
  await load.more(50);
  for (const server of cluster.nats) {
    await server.kill();
    await abandoned(cluster, server);
    await load.more(40);
    await cluster.settled();
    await server.start();
  }
  for (let i = 0; i < HUNG_SERVERS; i++) {
    const server = cluster.nats.find(({ port }) => port === busPortOf(cluster.nodes[i % cluster.nodes.length]!))!;
    server.pause();
    await abandoned(cluster, server);
    await load.more(40);
    server.resume();
    await cluster.settled();
  }
  await load.more(50);
  t.deepEqual(load.mail.temporary, [], 'mail was refused although two servers were there');

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

/** Resolves when every node is connected to another server. */
function abandoned(cluster: TestCluster, server: NatsServer): Promise<unknown> {
  const hasLeft = (node: ClusterNode) => busPortOf(node) !== server.port;
  return eventually(`the nodes to leave ${server.name}`, () => cluster.nodes.every(hasLeft));
}

/** Returns the port of the NATS server to which the node has connected last. */
function busPortOf({ logs }: ClusterNode): number {
  const line = logs.findLast((text) => text.includes('"msg":"connected to the bus'))!;
  return Number((JSON.parse(line) as { readonly server: string }).server.replace(/^.*:/, ''));
}
