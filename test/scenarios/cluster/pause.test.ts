// Pauses an owner past its lease (SIGSTOP): others take over, and its late commit is refused. Once it continues, it knows that
// it owns nothing and serves again, and its hub clients hear what they missed.

import type { ClusterNode } from '../../../dev/local-node.js';
import { CLUSTER_ACCOUNTS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster, TAKEOVER_MS, type TestCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { Witness } from './support/witness.js';

const NOTICED = /shards were taken over by others|shard leases have expired/;

testWith('nats-server')('an owner that hangs past its lease commits nothing any more, and comes back', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, { nodes: 3, accounts: CLUSTER_ACCOUNTS, leaseTtlMs: 1_000, viaProxies: true });
  await cluster.settled();
  const followers = await cluster.follow();
  const witness = await Witness.create(cluster.sql);
  const emailId = await witness.receive(cluster.nodes[0]!, 'late commit');
  const { owner, other, marking } = await heldBack(cluster, witness, emailId);
  const pausedAt = performance.now();
  owner.pause();
  const load = cluster.load({ answerMs: 2_000 });
  await cluster.settled([owner]);
  const tookMs = performance.now() - pausedAt;
  const status = await marking;
  t.true(status === 204 || (status === 503 && tookMs > TAKEOVER_MS), `who asked was told ${status} of the takeover`);
  await witness.marked(other, emailId, false);
  const before = await witness.row();

  const passedAt = await witness.clock();
  await owner.reconnect();
  await eventually('the late commit to arrive', () => witness.hasExecuted(`mansio ${owner.name} commits`, passedAt));
  t.deepEqual(await witness.row(), before, 'an owner of before has committed');
  await load.more(50);
  owner.resume();
  await eventually('the owner to notice', () => owner.logs.some((line) => NOTICED.test(line)));
  await cluster.settled();
  await witness.marked(owner, emailId, true);
  t.is((await witness.row()).modseq, before.modseq + 1);

  // A node may also be paused at any moment: it continues its work when it wakes.
  for (const node of cluster.nodes.slice(0, 2)) {
    await load.more(20);
    node.pause();
    await cluster.settled([node]);
    await load.more(50);
    node.resume();
    await cluster.settled();
  }
  await load.more(50);
  await cluster.verify(load);
  await followers.verify(t);
  t.log(load.summary());
});

/**
 * Returns the owner of the mailbox with a commit on its way, which it holds back, and the request for it at another node. There is no load
 * yet: commits run one after the other, and another one would go first. An owner whose lease has ended before it commits is passed over, so
 * then the next owner is cut off.
 */
async function heldBack(cluster: TestCluster, witness: Witness, emailId: string) {
  for (;;) {
    const owner = await cluster.ownerOf(witness.account);
    const other: ClusterNode = cluster.nodes.find((node) => node !== owner)!;
    // Only a prepared statement is sent completely at once.
    for (const isRead of [true, false]) await witness.marked(owner, emailId, isRead);
    await owner.cutOff('postgres', 'black hole');
    const marking = witness.mark(other, emailId, true);
    const outcome = await eventually('the commit to be sent, or the next owner', async () => {
      if (owner.holdsBack(emailId)) return 'sent';
      return (await cluster.ownerOf(witness.account)) === owner ? undefined : 'late';
    });
    if (outcome === 'sent') return { owner, other, marking };
    await marking;
    await owner.reconnect();
    await cluster.settled();
  }
}
