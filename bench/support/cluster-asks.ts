// Measures what a command or query costs when its mailbox is on another node: two engines in two processes with NATS between them. One asks
// its own mailboxes, then those of the other.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '../../dev/node-process.js';
import { urlsOf } from '../../dev/servers/nats-server.js';
import type { AskOrder, AskReport } from './ask-node.js';
import type { BenchCluster } from './bench-cluster.js';
import { cpuSeconds, difference } from './cpu-time.js';
import { figure } from './figures.js';
import { bareRequestMs } from './nats-echo.js';

const ACCOUNTS_EACH = 20;
const IN_FLIGHT = 64;
const WARM_MS = 1_000;
const RUN_MS = 2_000;

/** The nodes of the cluster must have stopped; its database and NATS server are used. */
export async function remoteAsks(cluster: BenchCluster): Promise<void> {
  const names = ['asker', 'other'];
  const nodes = await Promise.all(names.map((name) => startAskNode(cluster, name)));
  try {
    await cluster.settled(names);
    const owner = await cluster.owners();
    for (const operation of ['query', 'command'] as const) {
      for (const where of ['here', 'there'] as const) {
        const targets = cluster.accounts
          .filter(({ id }) => owner(id) === names[where === 'here' ? 0 : 1])
          .slice(0, ACCOUNTS_EACH)
          .map(({ id, emailId }) => ({ accountId: id, emailId }));
        const name = `${operation}, mailbox ${where === 'here' ? 'of this node' : 'of another node'}`;
        const run = (inFlight: number, milliseconds: number) =>
          told(nodes[0]!, { targets, operation, inFlight, milliseconds });
        await run(IN_FLIGHT, WARM_MS);
        const { medianMs } = await run(1, RUN_MS);
        const bare = where === 'here' ? undefined : await bareRequestMs(cluster.nats[0]!.url, RUN_MS);
        const beside = bare === undefined ? '' : `a request of the bare NATS client ${(bare * 1000).toFixed(0)} µs`;
        figure(`${name}, one in flight, median`, medianMs * 1000, 'µs', beside);
        const pids = {
          nodes: nodes.map(({ pid }) => pid!),
          database: [cluster.postgres.pid],
          NATS: cluster.nats.map(({ pid }) => pid),
        };
        const before = await cpuSeconds(pids);
        const { asks, seconds } = await run(IN_FLIGHT, RUN_MS);
        const used = difference(await cpuSeconds(pids), before);
        const each = (share: number) => `${((share / asks) * 1e6).toFixed(0)} µs`;
        const note = `CPU an ask: nodes ${each(used.nodes)}, NATS ${each(used.NATS)}, database ${each(used.database)}`;
        figure(`${name}, ${IN_FLIGHT} in flight`, asks / seconds, 'asks/s', note);
      }
    }
  } finally {
    for (const node of nodes) node.disconnect();
    await Promise.all(nodes.map((node) => once(node, 'exit')));
  }
}

async function startAskNode({ postgres, nats, dataDir }: BenchCluster, name: string): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('ask-node.js', import.meta.url)), {
    execArgv: process.env['BENCH_NODE_OPTIONS']?.split(' ') ?? [],
    env: {
      ...bareEnvironment(),
      DATABASE_URL: postgres.url,
      NATS_URL: urlsOf(nats),
      MANSIO_DATA_DIR: join(dataDir, name),
      MANSIO_NODE_ID: name,
      MANSIO_HOSTED_DOMAINS: 'example.test',
    },
  });
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`${name} ended with code ${code} before it was ready`);
    }),
  ]);
  return child;
}

async function told(node: ChildProcess, order: AskOrder): Promise<AskReport> {
  node.send(order);
  const [report] = (await once(node, 'message')) as [AskReport];
  return report;
}
