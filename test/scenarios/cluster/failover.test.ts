// Three machines with the files of deploy/three-machines under load, as docs/go-live.md sets them up: the machine with the primary of
// PostgreSQL loses its power, hangs for longer than the primary's lease, loses PostgreSQL alone, or gives its role away as planned; and the
// machine of the standby that commits wait for loses its power. What was acknowledged is stored once, nothing is refused for good, and the
// machine comes back.

import { createAccount, type TestAccount } from '../../../dev/node-accounts.js';
import { connect } from '../../../src/store/postgres/driver/client.js';
import { CLUSTER_ACCOUNTS, KILLS } from '../../support/amounts.js';
import test from '../../support/test.js';
import { testWith } from '../../support/test-with.js';
import { Load } from './support/load.js';
import { type Machine, postgresVersion, startThreeMachines, type ThreeMachines } from './support/three-machines.js';
import { verify } from './support/verify.js';

// The certificate of the nodes is self-signed. Each test file is a process of its own.
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';

/** A fail-over takes 25 s on a machine with nothing else to do. */
const RECOVERED_MS = 180_000;

const FAULTS: readonly [
  name: string,
  strike: (machines: ThreeMachines, primary: Machine, load: Load) => Promise<void>,
][] = [
  [
    'power cut',
    async (_, primary, load) => {
      await primary.cutPower();
      await load.more(30, RECOVERED_MS);
      await primary.start();
    },
  ],
  ['switchover', (machines) => machines.switchover()],
  [
    'hang',
    async (machines, primary, load) => {
      primary.pause();
      while ((await machines.primary()) === primary) await new Promise((resolve) => setTimeout(resolve, 200));
      await load.more(30, RECOVERED_MS);
      primary.resume();
    },
  ],
  ['end of PostgreSQL', async (_, primary) => primary.killPostgres()],
  [
    'power cut of the synchronous standby',
    async (machines, _, load) => {
      const standby = await machines.synchronousStandby();
      await standby.cutPower();
      await load.more(30, RECOVERED_MS);
      await standby.start();
    },
  ],
];

const failoverTest =
  postgresVersion() === undefined ? test.skip : testWith('patroni', 'etcd', 'nats-server', 'haproxy', 'openssl');

failoverTest('machines whose primary is lost under load lose and double nothing, and come back', async (t) => {
  t.timeout(1_800_000);
  const machines = await startThreeMachines(t);
  const sql = connect({ url: machines.all[0]!.databaseUrl }, { max: 2, applicationName: 'test' });
  t.teardown(() => sql.end({ timeout: 1 }));
  const accounts: TestAccount[] = [];
  for (let i = 1; i <= CLUSTER_ACCOUNTS; i++)
    accounts.push(await createAccount(sql, `user${i}@example.test`, ['app', 'smtp', 'imap']));
  const load = new Load(() => machines.up.map(({ front }) => front), accounts, {});
  t.teardown(() => load.stop());
  await load.more(50, RECOVERED_MS);

  for (let i = 0; i < KILLS.failover; i++) {
    const [name, strike] = FAULTS[i % FAULTS.length]!;
    const gap = longestGap(load);
    await strike(machines, await machines.primary(), load);
    await load.more(30, RECOVERED_MS);
    t.log(`${name}: nothing was accepted for ${gap()} ms`);
    await machines.settled();
  }
  await load.stop();
  t.log(load.summary());
  await verify(t, { load, sql, accounts, node: { process: machines.up[0]!.node } });
});

/** Returns the longest time without an accepted message so far, in ms. */
function longestGap(load: Load): () => number {
  let [accepted, since, longest] = [load.accepted, performance.now(), 0];
  const look = () => {
    longest = Math.max(longest, performance.now() - since);
    if (load.accepted === accepted) return;
    [accepted, since] = [load.accepted, performance.now()];
  };
  const timer = setInterval(look, 20);
  return () => {
    clearInterval(timer);
    return Math.round(longest);
  };
}
