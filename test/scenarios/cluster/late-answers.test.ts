// Interrupts the owner of a mailbox while messages for it are under way at other nodes, for longer than these wait for it: it hangs, its
// commits are held back, or only what it says, or only what it hears, on the bus. The nodes acknowledge what they have stored themselves.
// Then the owner goes on with the commands and commits that it has, and each message is there once. Likewise the commits of all nodes are held
// back, and arrive together.
import type { ClusterNode } from '../../../dev/local-node.js';
import { CLUSTER_ACCOUNTS, INTERRUPTION_ROUNDS } from '../../support/amounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster, type TestCluster } from './support/cluster.js';
import { eventually } from './support/eventually.js';
import type { Load } from './support/load.js';
import type { WayName } from './support/ways.js';

/** In ms. A node that is interrupted keeps its leases, mostly. */
const LEASE_TTL_MS = 8_000;
/** Messages that are acknowledged without the owner before it goes on, or wait for an answer. */
const MESSAGES = 3;
/** In ms. A message without an answer for this long is stuck. */
const STUCK_MS = 500;

/** Each way meets each interruption. */
const WAYS: readonly WayName[] = ['mx', 'append', 'submission', 'mx', 'rest', 'append', 'mx', 'submission', 'rest'];

interface Scene {
  readonly cluster: TestCluster;
  readonly load: Load;
  readonly owner: ClusterNode;
  /** The accounts that it owns when it is interrupted: on a busy machine it may lose its leases meanwhile. */
  readonly owned: ReadonlySet<string>;
}

interface Interruption {
  readonly name: string;
  begin(scene: Scene): Promise<unknown>;
  /** Resolves when messages depend on what follows. */
  reached(scene: Scene): Promise<unknown>;
  end(scene: Scene): Promise<unknown>;
}

const cutOff = (name: string, ...of: Parameters<ClusterNode['cutOff']>): Interruption => ({
  name,
  begin: ({ owner }) => owner.cutOff(...of),
  reached: passedOver,
  end: ({ owner }) => owner.reconnect(),
});

const INTERRUPTIONS: readonly Interruption[] = [
  {
    name: 'hangs',
    begin: async ({ owner }) => owner.pause(),
    reached: passedOver,
    end: async ({ owner }) => owner.resume(),
  },
  cutOff('cannot commit', 'postgres', 'black hole'),
  cutOff('is not heard on the bus', 'nats', 'mute'),
  cutOff('hears nothing on the bus', 'nats', 'deaf'),
  cutOff('has dead connections to the bus', 'nats', 'dead'),
  cutOff('reaches neither database nor bus', 'both', 'black hole'),
  {
    name: 'cannot commit, nor can another node',
    begin: ({ cluster }) => Promise.all(cluster.nodes.map((node) => node.cutOff('postgres', 'black hole'))),
    reached: stuck,
    end: ({ cluster }) => Promise.all(cluster.nodes.map((node) => node.reconnect())),
  },
];

testWith('nats-server')('an owner that goes on too late doubles nothing that others have stored', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, {
    nodes: 3,
    accounts: CLUSTER_ACCOUNTS,
    leaseTtlMs: LEASE_TTL_MS,
    viaProxies: true,
  });
  await cluster.settled();
  const followers = await cluster.follow();
  await cluster.readsBodies(cluster.accounts[1]!);
  const load = cluster.load({ ways: WAYS, answerMs: 20_000, perConnection: 3 });
  await load.more(20);
  let turn = 0;
  for (let round = 0; round < INTERRUPTION_ROUNDS; round++) {
    for (const { name, begin, reached, end } of INTERRUPTIONS) {
      const owner = await cluster.ownerOf(cluster.accounts[turn++ % cluster.accounts.length]!);
      const scene = { cluster, load, owner, owned: await ownedBy(owner, cluster) };
      const began = performance.now();
      await begin(scene);
      await reached(scene);
      await end(scene);
      t.log(`${owner.name} ${name}: ${Math.round(performance.now() - began)} ms`);
      await load.more(20);
      await cluster.settled();
    }
  }
  await cluster.verify(load);
  await followers.verify(t);
  t.log(load.summary());
});

/** Returns the addresses of the accounts. */
async function ownedBy(owner: ClusterNode, cluster: TestCluster): Promise<ReadonlySet<string>> {
  const owned = new Set<string>();
  for (const account of cluster.accounts) if ((await cluster.ownerOf(account)) === owner) owned.add(account.email);
  return owned;
}

/** Resolves when other nodes have acknowledged messages that were sent since now to mailboxes of the owner. */
async function passedOver({ load, owner, owned }: Scene): Promise<void> {
  const { mail } = load;
  const before = new Set(mail.tried.keys());
  const isPassedOver = () => {
    const since = [...mail.accepted.values()].filter(
      ({ id, way, at, copies }) =>
        !before.has(id) && way === 'mx' && at !== owner.name && copies.some(({ email }) => owned.has(email)),
    );
    return since.length >= MESSAGES;
  };
  await load.during(eventually(`mail past ${owner.name}`, isPassedOver));
}

/** Resolves when messages wait for their answers. */
async function stuck({ load }: Scene): Promise<void> {
  const { mail } = load;
  const since = new Map<string, number>();
  const areStuck = () => {
    const now = performance.now();
    for (const id of mail.underWay) since.set(id, since.get(id) ?? now);
    return [...mail.underWay].filter((id) => now - since.get(id)! > STUCK_MS).length >= MESSAGES;
  };
  await load.during(eventually('messages to be stuck', areStuck));
}
