// Cuts a node off from NATS alone, by refused connections and by a black hole: the others take its mailboxes and deliver the mail
// that it accepts, its clients are told to connect again, and it recovers by itself.
import { CLUSTER_ACCOUNTS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import { PATIENT_TTL_MS } from './support/roll.js';
import { Witness } from './support/witness.js';

testWith('nats-server')('a node that is cut off from the bus alone takes mail for the others', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, {
    nodes: 3,
    accounts: CLUSTER_ACCOUNTS,
    leaseTtlMs: PATIENT_TTL_MS,
    viaProxies: true,
  });
  await cluster.settled();
  const followers = await cluster.follow();
  const load = cluster.load({ answerMs: 3_000 });
  await load.more(50);
  for (const mode of ['refuse', 'black hole'] as const) {
    const witness = await Witness.create(cluster.sql, mode.replace(' ', '-'));
    const owner = await cluster.ownerOf(witness.account);
    const [other] = cluster.nodes.filter((node) => node !== owner);
    const emailId = await witness.receive(owner, 'before');
    const isCutOff = async () => (await cluster.view()).nodes.find(({ id }) => id === owner.name)?.state === 'cut off';

    await owner.cutOff('nats', mode);
    await eventually(`${owner.name} to notice`, isCutOff);
    await cluster.settled();
    t.not(await cluster.ownerOf(witness.account), owner);
    await eventually('bad health', async () => (await fetch(`${owner.http}/healthz`)).status === 503);
    // The old owner may keep the account until the new one has loaded it.
    await witness.marked(other!, emailId, true);
    t.is(await witness.mark(owner, emailId, false), 503);
    t.is(await witness.send(owner, 'meanwhile'), 250);
    await witness.placed('meanwhile');
    await load.more(20);

    await owner.reconnect();
    await eventually(`${owner.name} to be back`, async () => !(await isCutOff()));
    await cluster.settled();
    await witness.marked(owner, emailId, false);
    await eventually('good health', async () => (await fetch(`${owner.http}/healthz`)).status === 200);
    t.deepEqual(await cluster.ownerOf(witness.account), owner);
    await load.more(50);
  }
  await cluster.verify(load);
  await followers.verify(t);
  t.log(load.summary());
});
