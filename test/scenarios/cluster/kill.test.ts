// Kills one of three nodes, and then two, with kill -9 under load: the others take over, every acknowledged message is there
// once, no mail is refused permanently, and hub clients hear of everything on whatever node they are.
import { setTimeout as delay } from 'node:timers/promises';
import { CLUSTER_ACCOUNTS, KILLS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';

testWith('nats-server')('nodes that are killed under load lose and double nothing, and come back', async (t) => {
  t.timeout(900_000);
  const cluster = await startCluster(t, { nodes: 3, accounts: CLUSTER_ACCOUNTS });
  await cluster.settled();
  const followers = await cluster.follow();
  await cluster.readsBodies(cluster.accounts[1]!);
  const load = cluster.load();
  await load.more(100);
  const owner = await cluster.ownerOf(cluster.accounts[0]!);
  await owner.kill();
  await load.more(150);
  await cluster.settled();
  await owner.start();
  await load.more(50);

  const [first, second] = cluster.nodes.filter((node) => node !== owner);
  await first!.kill();
  await load.more(20);
  await second!.kill();
  await load.more(100);
  await cluster.settled();
  await Promise.all([first!.start(), second!.start()]);
  await load.more(50);

  // Further kills come at any moment, also while shards still move.
  for (let kill = 3; kill < KILLS.cluster; kill++) {
    const victim = cluster.nodes[Math.floor(Math.random() * cluster.nodes.length)]!;
    await load.more(10);
    await delay(Math.random() * 300);
    await victim.kill();
    await load.more(20);
    await victim.start();
    if (kill % 3 === 0) await cluster.settled();
  }
  await cluster.settled();
  await cluster.verify(load);
  await followers.verify(t);
  t.log(load.summary());
});
