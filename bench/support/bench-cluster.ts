// A cluster for benchmarks: three nodes, a NATS server and a PostgreSQL as processes of this machine, and accounts in all shards with a key
// and an email each.
import { randomBytes } from 'node:crypto';
import { freeClusterPorts, type LocalCluster, startLocalCluster } from '../../dev/local-cluster.js';
import { isSettled } from '../../dev/settled.js';
import { temporaryDirectoryOnDisk } from '../../dev/temporary-directory.js';
import { newApiKey } from '../../src/actors/directory/api-key.js';
import type { ClusterView } from '../../src/store/leases.js';
import { postgresDirectory } from '../../src/store/postgres/accounts/directory.js';
import { connect, type Sql } from '../../src/store/postgres/driver/client.js';
import { postgresLeases } from '../../src/store/postgres/leases.js';
import { shardOf } from '../../src/store/shard.js';
import { SmtpSender } from './smtp-load.js';
import { type ProbedAccount, pause } from './write-probe.js';

export interface BenchCluster extends LocalCluster {
  readonly dataDir: string;
  /** Connections to the database of the cluster. */
  readonly sql: Sql;
  readonly accounts: readonly (ProbedAccount & { readonly email: string })[];
  /** Reads from the store which node has an account's shard; returns a function that gives the node's name. */
  owners(): Promise<(accountId: string) => string | null>;
  /** Resolves when the running nodes (or `names`) hold the shards that they should. */
  settled(names?: readonly string[]): Promise<void>;
}

const SETTLED_MS = 60_000;

export async function startBenchCluster(nodes: number, accounts: number): Promise<BenchCluster> {
  const dataDir = temporaryDirectoryOnDisk('mansio-bench-');
  const cluster = await startLocalCluster({
    dataDir,
    ports: await freeClusterPorts(nodes, 1),
    balanced: false,
    settings: {
      MANSIO_HOSTED_DOMAINS: 'example.test',
      MANSIO_LOG_LEVEL: process.env['BENCH_LOG_LEVEL'] ?? 'warn',
      MANSIO_ALLOW_PLAINTEXT_AUTH: 'true',
    },
  });
  const sql = connect({ url: cluster.postgres.url }, { max: 4, applicationName: 'bench' });
  const leases = postgresLeases(sql);
  const directory = postgresDirectory(sql, (await leases.view()).leases.length);

  async function account(name: string) {
    const email = `${name}@example.test`;
    const { id } = await directory.createAccount(email, 'Bench');
    const { apiKey, prefix, hash } = newApiKey(randomBytes);
    await directory.createKey({
      accountId: id,
      name: 'bench',
      scopes: ['app', 'imap'],
      serviceWide: false,
      prefix,
      hash,
    });
    return { id, email, key: apiKey };
  }

  async function firstEmail(key: string): Promise<string> {
    const reply = await fetch(`${cluster.nodes[0]!.http}/api/emails`, { headers: { authorization: `Bearer ${key}` } });
    const { items } = (await reply.json()) as { readonly items: readonly { readonly id: string }[] };
    return items[0]!.id;
  }

  async function settled(names?: readonly string[]): Promise<void> {
    for (const deadline = Date.now() + SETTLED_MS; ; ) {
      const view: ClusterView = await leases.view();
      if (isSettled(view, names ?? cluster.nodes.filter(({ running }) => running).map(({ name }) => name))) return;
      if (Date.now() > deadline) throw new Error(`shards do not settle: ${JSON.stringify(view.nodes)}`);
      await pause(25);
    }
  }

  try {
    await settled();
    const made = await Promise.all(Array.from({ length: accounts }, (_, i) => account(`user-${i}`)));
    const [host, port] = cluster.nodes[0]!.mx.split(':') as [string, string];
    const sender = await SmtpSender.open(host, Number(port));
    for (const { email } of made) {
      const message = `From: a@remote.test\r\nTo: ${email}\r\nSubject: one\r\n\r\ntext\r\n.\r\n`;
      if (!(await sender.send('a@remote.test', [email], message))) throw new Error('mail was refused');
    }
    sender.close();
    const withEmail: (ProbedAccount & { readonly email: string })[] = [];
    for (const each of made) withEmail.push({ ...each, emailId: await firstEmail(each.key) });
    return {
      ...cluster,
      dataDir,
      sql,
      accounts: withEmail,
      settled,
      async owners() {
        const { leases: rows } = await leases.view();
        return (accountId) => rows[shardOf(accountId, rows.length)]?.nodeId ?? null;
      },
      async stop() {
        await sql.end({ timeout: 1 });
        await cluster.stop();
      },
    };
  } catch (error) {
    await cluster.abandon();
    throw error;
  }
}
