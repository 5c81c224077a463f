// `npm run cluster`: three nodes with PostgreSQL, three NATS servers and HAProxy on this machine, without Docker, to try failover. Killed
// nodes are not started again: killing them is the purpose.
import { mkdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { LocalFault } from '../src/store/local/local-fault.js';
import { clusterText, deathText } from './cluster-text.js';
import { demoAccount } from './demo-account.js';
import { findProgram, MissingProgram } from './executables.js';
import { type ClusterPorts, type LocalCluster, startLocalCluster } from './local-cluster.js';
import { isFree } from './ports.js';
import { NotReady } from './program.js';
import { temporaryDirectoryOnDisk } from './temporary-directory.js';

const NODES = 3;
const NATS_SERVERS = 3;
/** npm forwards the Ctrl-C that the terminal has already sent to its child: this second signal within the time is ignored. */
const ECHO_MS = 250;

const HELP = `npm run cluster [-- options]

  --base-port N   the lowest of the ports, default 8000 (or MANSIO_CLUSTER_BASE_PORT)
  --temporary     keep nothing: data in a temporary directory instead of ./data/cluster
`;

const say = (text: string) => void process.stdout.write(`${text}\n`);

class Wrong extends Error {}

function portsFrom(base: number): ClusterPorts {
  const places = <T>(count: number, of: (i: number) => T) => Array.from({ length: count }, (_, i) => of(i + 1));
  return {
    balancer: { http: base + 80, mx: base + 25, imap: base + 143, pop3: base + 110 },
    nodes: places(NODES, (i) => ({
      http: base + 80 + i,
      mx: base + 25 + i,
      imap: base + 143 + i,
      pop3: base + 110 + i,
      submission: base + 187 + i,
      metrics: base + 90 + i,
    })),
    postgres: base + 32,
    nats: places(NATS_SERVERS, (i) => ({ client: base + 42 + i, route: base + 62 + i })),
  };
}

function basePort(text: string): number {
  const base = Number(text);
  if (!/^\d+$/.test(text) || base < 1 || base > 65_300) throw new Wrong(`not a base port from 1 to 65300: ${text}`);
  return base;
}

async function assertFree({ balancer, nodes, postgres, nats }: ClusterPorts, base: number): Promise<void> {
  const wanted = [balancer, ...nodes, ...nats].flatMap((each): number[] => Object.values(each)).concat(postgres);
  const free = await Promise.all(wanted.map(isFree));
  const taken = wanted.filter((_, i) => !free[i]);
  if (taken.length === 0) return;
  throw new Wrong(`in use by others: port ${taken.join(', ')}; try npm run cluster -- --base-port ${base + 1000}`);
}

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: {
      'base-port': { type: 'string', default: process.env['MANSIO_CLUSTER_BASE_PORT'] || '8000' },
      temporary: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return say(HELP);
  const base = basePort(values['base-port']);
  const ports = portsFrom(base);
  await assertFree(ports, base);
  const dataDir = values.temporary ? temporaryDirectoryOnDisk('mansio-cluster-') : resolve('data', 'cluster');
  mkdirSync(dataDir, { recursive: true });

  const balanced = findProgram('haproxy') !== undefined;
  say('starting PostgreSQL, three NATS servers and three nodes …');
  const settings = { MANSIO_HOSTED_DOMAINS: 'example.test' };
  const cluster = await startLocalCluster({ dataDir: realpathSync(dataDir), ports, balanced, settings });
  // From this point on, the first signal stops everything in order.
  const asked = stopRequest(cluster);
  for (const node of cluster.nodes) {
    void node.process.exited.then((exit) => asked.stopping || say(deathText(node, exit)));
  }
  const api = balanced ? `http://127.0.0.1:${ports.balancer.http}` : cluster.nodes[0]!.http;
  const account = await demoAccount(cluster.postgres.url, join(dataDir, 'demo-api-key'), async (key) => {
    const reply = await fetch(`${cluster.nodes[0]!.http}/api/emails`, { headers: { authorization: `Bearer ${key}` } });
    return reply.ok;
  });
  const mx = balanced ? `127.0.0.1:${ports.balancer.mx}` : cluster.nodes[0]!.mx;
  const imap = balanced ? `127.0.0.1:${ports.balancer.imap}` : cluster.nodes[0]!.imap;
  const pop3 = balanced ? `127.0.0.1:${ports.balancer.pop3}` : cluster.nodes[0]!.pop3;
  say(clusterText({ cluster, account, api, mx, imap, pop3, swaks: findProgram('swaks') !== undefined }));
  await asked.done;
}

function stopRequest(cluster: LocalCluster): { readonly stopping: boolean; readonly done: Promise<void> } {
  let at: number | undefined;
  // A pending promise alone does not keep a process alive.
  const awake = setInterval(() => {}, 2 ** 30);
  const done = new Promise<void>((finished) => {
    const handle = () => {
      if (at === undefined) {
        at = Date.now();
        say('\nstopping: nodes one after the other, then HAProxy, PostgreSQL and NATS (Ctrl-C again: at once) …');
        void cluster.stop().then(finished);
      } else if (Date.now() - at > ECHO_MS) void cluster.abandon().then(() => process.exit(130));
    };
    process.on('SIGINT', handle);
    process.on('SIGTERM', handle);
  }).finally(() => clearInterval(awake));
  return {
    get stopping() {
      return at !== undefined;
    },
    done,
  };
}

try {
  await run();
  process.exit(0);
} catch (error) {
  const expected = [Wrong, MissingProgram, LocalFault, NotReady].some((type) => error instanceof type);
  const { message, stack, code } = error as NodeJS.ErrnoException;
  const known = expected || code?.startsWith('ERR_PARSE_ARGS') === true;
  process.stderr.write(`npm run cluster: ${known ? message : stack}\n`);
  process.exit(1);
}
