// Kills PostgreSQL (kill -9 of the server) and restarts it, before and after the leases expire: no acknowledged message or change
// is lost, and the nodes keep their shards instead of taking each other's.
import { CLUSTER_ACCOUNTS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';

testWith('nats-server')('a cluster outlives its database', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, { nodes: 3, accounts: CLUSTER_ACCOUNTS, leaseTtlMs: PATIENT_TTL_MS });
  await cluster.settled();
  const followers = await cluster.follow();
  const load = cluster.load();
  const owners = async () => (await cluster.view()).leases.map(({ nodeId }) => nodeId);
  const before = await owners();
  await load.more(50);

  await cluster.postgres.kill();
  await cluster.postgres.start();
  await load.more(50);
  await cluster.settled();
  t.deepEqual(await owners(), before, 'shards have moved after a short outage');

  await cluster.postgres.kill();
  for (const { name, http } of cluster.nodes) {
    await eventually(`${name} to say that it is unwell`, async () => (await fetch(`${http}/healthz`)).status === 503);
  }
  // The outage is longer than a lease.
  await eventually('leases to run out', async () => {
    const texts = cluster.nodes.map(async ({ http }) => (await fetch(`${http}/healthz`)).text());
    return (await Promise.all(texts)).every((text) => text.includes('could not renew its leases'));
  });
  await cluster.postgres.start();
  await load.more(50);
  await cluster.settled();
  t.deepEqual(await owners(), before, 'shards have moved after a long outage');
  await load.more(50);
  await cluster.verify(load);
  await followers.verify(t);
  t.log(load.summary());
});
