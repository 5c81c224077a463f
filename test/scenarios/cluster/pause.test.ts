// Pauses an owner past its lease (SIGSTOP): others take over, and its late commit is refused. Once it continues, it knows that
// it owns nothing and serves again, and its hub clients hear what they missed.
import { CLUSTER_ACCOUNTS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { Witness } from './support/witness.js';

const NOTICED = /shards were taken over by others|shard leases have expired/;

testWith('nats-server')('an owner that hangs past its lease commits nothing any more, and comes back', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, { nodes: 3, accounts: CLUSTER_ACCOUNTS, leaseTtlMs: 1_000, viaProxies: true });
  await cluster.settled();
  const followers = await cluster.follow();
  const witness = await Witness.create(cluster.sql);
  const owner = await cluster.ownerOf(witness.account);
  const [other] = cluster.nodes.filter((node) => node !== owner);
  const emailId = await witness.receive(other!, 'late commit');
  // Only a prepared statement is sent completely at once.
  for (const isRead of [true, false]) t.is(await witness.mark(owner, emailId, isRead), 204);
  // The commit is on its way when the owner is paused, and arrives at the end. There is no load until then: commits run one
  // after the other, and another one would go first.
  await owner.cutOff('postgres', 'black hole');
  const marking = witness.mark(other!, emailId, true);
  await eventually('the commit to be sent', () => owner.holdsBack(emailId));
  owner.pause();
  const load = cluster.load({ answerMs: 2_000 });
  await cluster.settled([owner]);
  t.is(await marking, 204, 'who asked was not told of the takeover');
  t.is(await witness.mark(other!, emailId, false), 204);
  const before = await witness.row();

  const passedAt = await witness.clock();
  await owner.reconnect();
  await eventually('the late commit to arrive', () => witness.hasExecuted(`mansio ${owner.name} commits`, passedAt));
  t.deepEqual(await witness.row(), before, 'an owner of before has committed');
  await load.more(50);
  owner.resume();
  await eventually('the owner to notice', () => owner.logs.some((line) => NOTICED.test(line)));
  await cluster.settled();
  t.is(await witness.mark(owner, emailId, true), 204);
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
