// Cuts a node off from PostgreSQL alone, by refused connections and by a black hole: its leases expire and the others take
// over; it never answers wrongly, and recovers by itself. A node whose connections die silently finds that out and opens new
// ones.
import { CLUSTER_ACCOUNTS } from '../../support/amounts.js';
import { serialTestWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { Witness } from './support/witness.js';

serialTestWith('nats-server')('a node that is cut off from the database alone refuses nothing for good', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, { nodes: 3, accounts: CLUSTER_ACCOUNTS, leaseTtlMs: 1_500, viaProxies: true });
  await cluster.settled();
  const followers = await cluster.follow();
  const load = cluster.load({ answerMs: 3_000 });
  await load.more(50);
  for (const mode of ['refuse', 'black hole'] as const) {
    const witness = await Witness.create(cluster.sql, mode.replace(' ', '-'));
    const owner = await cluster.ownerOf(witness.account);
    const [other] = cluster.nodes.filter((node) => node !== owner);
    const emailId = await witness.receive(owner, 'before');

    await owner.cutOff('postgres', mode);
    const marking = witness.mark(owner, emailId, true);
    const sending = witness.send(owner, 'meanwhile');
    await cluster.settled([owner]);
    t.not(await cluster.ownerOf(witness.account), owner);
    await witness.marked(other!, emailId, true);
    await load.more(50);
    // A node that knows the new owner may even succeed.
    const status = await marking;
    t.true(status === 503 || status === 204, `the node has answered ${status}`);
    await eventually(`${owner.name} to say that it is unwell`, async () => {
      return (await fetch(`${owner.http}/healthz`)).status === 503;
    });

    await owner.reconnect();
    const code = await sending;
    t.true(code === 250 || code === 451 || code === 421, `the node has answered ${code}`);
    if (code === 250) await witness.placed('meanwhile');
    await cluster.settled();
    await witness.marked(owner, emailId, false);
    await eventually('the mailbox to be back', async () => (await cluster.ownerOf(witness.account)) === owner);
    await load.more(50);
  }
  await cluster.verify(load);
  await followers.verify(t);
  t.log(load.summary());
});

serialTestWith('nats-server')('a node whose connections to the database die makes new ones', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, { nodes: 3, accounts: CLUSTER_ACCOUNTS, leaseTtlMs: 1_000, viaProxies: true });
  await cluster.settled();
  const followers = await cluster.follow();
  const load = cluster.load({ answerMs: 2_000 });
  await load.more(50);
  const witness = await Witness.create(cluster.sql);
  for (let i = 0; i < 2; i++) {
    const owner = await cluster.ownerOf(witness.account);
    const [other] = cluster.nodes.filter((node) => node !== owner);
    const emailId = await witness.receive(owner, `before ${i}`);
    const since = await witness.clock();
    await owner.cutOff('postgres', 'dead');
    const sending = witness.send(owner, `meanwhile ${i}`);
    const hasRenewed = () => witness.hasExecuted(`mansio ${owner.name} leases`, since);
    // On a busy machine the node may be back before another one has noticed that its lease has expired.
    await eventually(
      'somebody else to own the mailbox, or its owner to be back',
      async () => (await cluster.ownerOf(witness.account)) !== owner || (await hasRenewed()),
    );
    await witness.marked(other!, emailId, true);
    await eventually('leases to be renewed', hasRenewed);
    await cluster.settled();
    const code = await sending;
    t.true(code === 250 || code === 451 || code === 421, `the node has answered ${code}`);
    if (code === 250) await witness.placed(`meanwhile ${i}`);
    await witness.marked(owner, emailId, false);
    await eventually('the mailbox to be back', async () => (await cluster.ownerOf(witness.account)) === owner);
    await load.more(50);
  }
  await cluster.verify(load);
  await followers.verify(t);
  t.log(load.summary());
});
