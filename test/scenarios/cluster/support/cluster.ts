// Starts a cluster for tests: real nodes, NATS servers and PostgreSQL on free ports, accounts with keys, and load on all of it; checks
// afterwards that nothing was lost, doubled or refused. It is stopped and removed however the test ends.
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { freeClusterPorts, type LocalCluster, startLocalCluster } from '../../../../dev/local-cluster.js';
import type { ClusterNode } from '../../../../dev/local-node.js';
import { createAccount, type TestAccount } from '../../../../dev/node-accounts.js';
import { isSettled } from '../../../../dev/settled.js';
import type { ClusterView } from '../../../../src/store/leases.js';
import { connect, type Sql } from '../../../../src/store/postgres/driver/client.js';
import { postgresLeases } from '../../../../src/store/postgres/leases.js';
import { shardOf } from '../../../../src/store/shard.js';
import { MailboxClient } from '../../../support/clients/mailbox-client.js';
import { giveCertificate, preparedDirectory } from '../../../support/database/prepared-cluster.js';
import { eventually } from './eventually.js';
import { Followers } from './followers.js';
import { Load, type LoadOptions, type Target } from './load.js';
import { verify } from './verify.js';

export interface TestClusterOptions {
  /** Default 3. */
  readonly nodes?: number;
  /** Default 1; three are one NATS cluster. */
  readonly natsServers?: number;
  /** Default 3. */
  readonly accounts?: number;
  /** Default: that of the nodes. */
  readonly leaseTtlMs?: number;
  /** Roles of the nodes by their index; default: all. */
  readonly roles?: readonly string[];
  /** Needed for `cutOff` of nodes. */
  readonly viaProxies?: boolean;
  /** HAProxy runs in front of the nodes. */
  readonly balanced?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  /** The bin/mansio with which the nodes are started first; this one's by default. */
  readonly program?: string;
  /** Additional settings of one node. */
  readonly settingsOf?: (place: number) => Readonly<Record<string, string>>;
}

export interface TestCluster extends LocalCluster {
  /** Connects to the database directly, not through a proxy. */
  readonly sql: Sql;
  readonly accounts: readonly TestAccount[];
  /** HAProxy, when the cluster is `balanced`. */
  readonly front: Target;
  /** Starts senders and readers on the nodes (default: all of them). */
  load(options?: LoadOptions): Load;
  /** Starts hub clients of all accounts, on all nodes or on `targets`. */
  follow(targets?: () => readonly Target[]): Promise<Followers>;
  /** Gives the account a filter that reads bodies and matches none: its mailbox places only messages that are stored already. */
  readsBodies(account: TestAccount): Promise<void>;
  view(): Promise<ClusterView>;
  /** Resolves when a node owns the account: nobody does for a moment while its shard moves. */
  ownerOf(account: Pick<TestAccount, 'id'>): Promise<ClusterNode>;
  /** Resolves when the running nodes, except `without`, hold all shards and exactly those that they should. */
  settled(without?: readonly ClusterNode[]): Promise<void>;
  /** Stops the load and fails `t` unless each acknowledged message is there once, and no mail was refused. */
  verify(load: Load): Promise<void>;
}

/** In ms, and less than a node waits for the owner of a mailbox before it answers that it is unavailable (`actors/runtime/refs.ts`). */
export const TAKEOVER_MS = 5_000;
/** Senders of the load submit mail, and append it. */
const SCOPES = ['app', 'smtp', 'imap'] as const;
const LOG_LINES = 100;
const LOG_WIDTH = 600;
/** Every message causes one of these lines. */
const USUAL = /"msg":"(message accepted|new email sent to hub connections)"/;

export async function startCluster(t: ExecutionContext, options: TestClusterOptions = {}): Promise<TestCluster> {
  const { leaseTtlMs, roles } = options;
  const ports = await freeClusterPorts(options.nodes ?? 3, options.natsServers ?? 1);
  const dataDir = await preparedDirectory('mansio-cluster-');
  for (const i of ports.nodes.keys()) await giveCertificate(join(dataDir, `node-${i + 1}`));
  const cluster = await startLocalCluster({
    dataDir,
    ports,
    balanced: options.balanced ?? false,
    viaProxies: options.viaProxies ?? false,
    program: options.program,
    settings: {
      MANSIO_HOSTED_DOMAINS: 'example.test',
      MANSIO_ALLOW_PLAINTEXT_AUTH: 'true',
      ...(leaseTtlMs === undefined ? {} : { MANSIO_LEASE_TTL_MS: String(leaseTtlMs) }),
      ...options.settings,
    },
    settingsOf: (i): Record<string, string> => ({
      ...(roles?.[i] === undefined ? {} : { MANSIO_ROLES: roles[i] }),
      ...options.settingsOf?.(i),
    }),
    postgresSettings: { shared_buffers: '64MB', max_wal_size: '512MB' },
  });
  t.teardown(async () => {
    if (!t.passed) tellLogs(t, cluster);
    await cluster.abandon();
  });
  // The client has few connections and retries: tests stop and kill the server under it.
  const sql = connect({ url: cluster.postgres.url }, { max: 2, applicationName: 'test' });
  t.teardown(() => sql.end({ timeout: 1 }));

  const accounts: TestAccount[] = [];
  for (let i = 1; i <= (options.accounts ?? 3); i++)
    accounts.push(await createAccount(sql, `user${i}@example.test`, SCOPES));
  const view = () => postgresLeases(sql).view();
  const processes = Number(options.settings?.['MANSIO_PROCESSES'] ?? 1);
  /** Names of a node in the store: processes of a parent have its name and a number. */
  const namesOf = ({ name }: ClusterNode) =>
    processes === 1 ? [name] : Array.from({ length: processes }, (_, i) => `${name}.${i + 1}`);
  return {
    ...cluster,
    sql,
    accounts,
    front: {
      name: 'haproxy',
      http: `http://127.0.0.1:${ports.balancer.http}`,
      mx: `127.0.0.1:${ports.balancer.mx}`,
      imap: `127.0.0.1:${ports.balancer.imap}`,
    },
    load(of = {}) {
      const load = new Load(of.targets ?? (() => cluster.nodes), accounts, of);
      t.teardown(() => load.stop());
      return load;
    },
    async follow(targets = () => cluster.nodes) {
      const followers = await Followers.start({ accounts, targets, sql });
      t.teardown(() => followers.stop());
      return followers;
    },
    async readsBodies({ key }) {
      const node = cluster.nodes.find(({ running }) => running)!;
      const rule = { name: 'none', isEnabled: true, priority: 1, bodyContains: 'in no message', markAsRead: true };
      const { status } = await new MailboxClient(node.process, key).request('POST', '/api/filters', rule);
      if (status !== 201) throw new Error(`the filter was answered ${status}`);
    },
    view,
    async ownerOf({ id }) {
      const found = await eventually(`an owner of account ${id}`, async () => {
        const { leases } = await view();
        const owner = leases[shardOf(id, leases.length)]?.nodeId;
        return cluster.nodes.find((each) => owner != null && namesOf(each).includes(owner));
      });
      return found!;
    },
    async settled(without = []) {
      let seen: ClusterView | undefined;
      await eventually('shards to settle', async () => {
        const running = cluster.nodes.filter((node) => node.running && !without.includes(node));
        seen = await view();
        return isSettled(seen, running.flatMap(namesOf));
      }).catch((error: Error) => {
        throw new Error(`${error.message} ${JSON.stringify(seen?.nodes)}`);
      });
    },
    async verify(load) {
      await load.stop();
      const reader = cluster.nodes.find((node) => node.running);
      if (reader === undefined) throw new Error('no node runs that could be asked what there is');
      await verify(t, { load, sql, accounts, node: reader });
    },
  };
}

function tellLogs(t: ExecutionContext, { nodes, nats }: LocalCluster): void {
  for (const { name, logs } of [...nodes, ...nats]) {
    const unusual = logs.filter((line) => !USUAL.test(line)).slice(-LOG_LINES);
    t.log(`${name}:\n${unusual.map((line) => line.slice(0, LOG_WIDTH)).join('\n')}`);
  }
}
