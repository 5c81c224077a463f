// A whole cluster on this machine: PostgreSQL, NATS servers, nodes and, on request, HAProxy in front of them; for `npm run cluster`, tests
// and benchmarks. The caller chooses the data directory and the ports, and stops the cluster.
import { join } from 'node:path';
import { type ClusterNode, clusterNode } from './local-node.js';
import { UNLIMITED } from './node-process.js';
import { freePorts } from './ports.js';
import { BALANCER_NETWORK, type Balancer, startHaproxy } from './servers/haproxy.js';
import { type NatsPorts, type NatsServer, startNatsCluster, urlsOf } from './servers/nats-server.js';
import { type PostgresServer, startPostgresServer, urlOn } from './servers/postgres-server.js';
import { startTcpProxy, type TcpProxy } from './servers/tcp-proxy.js';

interface NodePorts {
  readonly http: number;
  readonly mx: number;
  readonly imap: number;
  readonly pop3: number;
  readonly submission: number;
  readonly metrics?: number;
}

export interface ClusterPorts {
  readonly postgres: number;
  readonly nats: readonly NatsPorts[];
  readonly balancer: { readonly http: number; readonly mx: number; readonly imap: number; readonly pop3: number };
  readonly nodes: readonly NodePorts[];
}

export interface ClusterOptions {
  readonly dataDir: string;
  readonly ports: ClusterPorts;
  readonly balanced: boolean;
  /** Every node reaches NATS and PostgreSQL through its own proxies. */
  readonly viaProxies?: boolean;
  /** The settings of every node; they override those that make it a cluster. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The settings of single nodes, by their index. */
  readonly settingsOf?: (i: number) => Readonly<Record<string, string>>;
  readonly postgresSettings?: Readonly<Record<string, string>>;
  /** The bin/mansio with which the nodes are started first; this one's by default. */
  readonly program?: string | undefined;
}

export interface LocalCluster {
  readonly postgres: PostgresServer;
  readonly nats: readonly NatsServer[];
  readonly nodes: readonly ClusterNode[];
  readonly balancer: Balancer | undefined;
  /** Stops the nodes first, in order, then the servers that they need. Never fails. */
  stop(): Promise<void>;
  /** Kills everything at once. */
  abandon(): Promise<void>;
}

export async function freeClusterPorts(nodes: number, natsServers: number): Promise<ClusterPorts> {
  const ports = await freePorts(5 + 5 * nodes + 2 * natsServers);
  const next = () => ports.pop()!;
  return {
    postgres: next(),
    balancer: { http: next(), mx: next(), imap: next(), pop3: next() },
    nats: Array.from({ length: natsServers }, () => ({ client: next(), route: next() })),
    nodes: Array.from({ length: nodes }, () => ({
      http: next(),
      mx: next(),
      imap: next(),
      pop3: next(),
      submission: next(),
    })),
  };
}

/** If a step fails, everything that was started is stopped again. @throws MissingProgram, LocalFault, NotReady */
export async function startLocalCluster(options: ClusterOptions): Promise<LocalCluster> {
  const { dataDir, ports } = options;
  const undo: ((abandoned: boolean) => Promise<unknown>)[] = [];
  const end = async (abandoned: boolean) => {
    for (const step of undo.splice(0).reverse()) await step(abandoned).catch(() => {});
  };
  try {
    const nats = await startNatsCluster({ ports: ports.nats });
    undo.push((abandoned) => Promise.all(nats.map((server) => (abandoned ? server.kill() : server.stop()))));
    const postgres = await startPostgresServer({
      dataDir,
      port: ports.postgres,
      ...(options.postgresSettings === undefined ? {} : { settings: options.postgresSettings }),
    });
    undo.push((abandoned) => (abandoned ? postgres.kill() : postgres.stop()));
    const backends = ports.nodes.map(({ http, mx, imap, pop3 }, i) => ({
      name: `node-${i + 1}`,
      http,
      mx,
      imap,
      pop3,
    }));
    const balancer = options.balanced ? await startHaproxy({ ...ports.balancer, backends }) : undefined;
    undo.push(async () => balancer?.stop());

    const nodes: ClusterNode[] = [];
    const believed: Record<string, string> = options.balanced ? { MANSIO_PROXY_NETWORKS: BALANCER_NETWORK } : {};
    for (const [i, own] of ports.nodes.entries()) {
      const links = options.viaProxies === true ? await linksTo(nats, postgres) : undefined;
      undo.push(async () => links?.all.forEach((proxy) => void proxy.close()));
      const name = `node-${i + 1}`;
      const settings = {
        ...believed,
        DATABASE_URL: links === undefined ? postgres.url : urlOn(links.postgres.port),
        NATS_URL: urlsOf(links?.natsUrls ?? nats),
        ...UNLIMITED,
        MANSIO_DATA_DIR: join(dataDir, name),
        MANSIO_NODE_ID: name,
        MANSIO_HTTP_PORT: String(own.http),
        MANSIO_MX_PORT: String(own.mx),
        MANSIO_SUBMISSION_PORT: String(own.submission),
        MANSIO_SUBMISSIONS_PORT: '0',
        MANSIO_IMAP_PORT: String(own.imap),
        MANSIO_IMAPS_PORT: '0',
        MANSIO_POP3_PORT: String(own.pop3),
        MANSIO_POP3S_PORT: '0',
        MANSIO_SIEVE_PORT: '0',
        ...(own.metrics === undefined ? {} : { MANSIO_METRICS_PORT: String(own.metrics) }),
        ...options.settings,
        ...options.settingsOf?.(i),
      };
      nodes.push(clusterNode(name, settings, { ...own, links }));
    }
    undo.push(async (abandoned) => {
      // The nodes stop one after the other, so that each hands over to the remaining ones.
      if (abandoned) await Promise.all(nodes.map((node) => node.kill()));
      else for (const node of nodes) await node.stop();
    });
    // The first node makes the schema; the others would only wait for it.
    await nodes[0]?.start({}, options.program);
    await Promise.all(nodes.slice(1).map((node) => node.start({}, options.program)));
    return { postgres, nats, nodes, balancer, stop: () => end(false), abandon: () => end(true) };
  } catch (error) {
    await end(true);
    throw error;
  }
}

async function linksTo(nats: readonly NatsServer[], postgres: PostgresServer) {
  const toPostgres = await startTcpProxy(postgres.port);
  const toNats: TcpProxy[] = await Promise.all(nats.map(({ port }) => startTcpProxy(port)));
  return {
    postgres: toPostgres,
    nats: toNats,
    all: [toPostgres, ...toNats],
    natsUrls: toNats.map(({ port }) => ({ url: `nats://127.0.0.1:${port}` })),
  };
}
