// Tests nodes with roles: one speaks HTTP and IMAP, one accepts mail, two have the mailboxes. One of these dies under load and comes
// back; then a node accepts mail while no node can place it.
import { CLUSTER_ACCOUNTS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { Witness } from './support/witness.js';

testWith('nats-server')('nodes with different roles make a cluster that outlives a mailbox node', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, {
    nodes: 4,
    accounts: CLUSTER_ACCOUNTS,
    roles: ['api,imap', 'mx', 'mailbox', 'mailbox'],
  });
  const [api, mx, first, second] = cluster.nodes;
  t.deepEqual(
    cluster.nodes.map((node) => Object.keys(node.process.ready.listeners)),
    [['imap', 'imaps', 'sieve', 'http'], ['mx'], [], []],
  );
  await cluster.settled();
  const targets = () => [{ name: 'front', http: api!.http, mx: mx!.mx, imap: api!.imap }];
  const followers = await cluster.follow(targets);
  const load = cluster.load({ targets });
  await load.more(100);
  await first!.kill();
  await load.more(100);
  await cluster.settled();
  await first!.start();
  await cluster.settled();
  await load.more(50);

  const witness = await Witness.create(cluster.sql);
  await Promise.all([first!.kill(), second!.kill()]);
  t.is(await witness.send(targets()[0]!, 'nobody is there'), 250);
  await Promise.all([first!.start(), second!.start()]);
  await witness.placed('nobody is there');
  await load.more(50);
  await cluster.settled();
  await cluster.verify(load);
  await followers.verify(t);
  t.log(load.summary());
});
