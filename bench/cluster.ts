// Runs three nodes on this machine and measures how long accounts cannot be written when a node is killed, hangs or is restarted, what the
// cluster accepts with one, two and three nodes, what an ask of another node's mailbox costs, and what clients of another node cost. `npm
// run bench cluster [kill] [hang] [restart] [boundary] [throughput] [asks]` runs the named parts. BENCH_ACCOUNTS and BENCH_ROUNDS set their
// numbers; BENCH_OPERATIONS=IMAP limits the part boundary to operations whose names have this part.
import { boundary } from './boundary/boundary.js';
import { startBenchCluster } from './support/bench-cluster.js';
import { remoteAsks } from './support/cluster-asks.js';
import { hung, killed, rollingRestart } from './support/cluster-faults.js';
import { throughput } from './support/cluster-throughput.js';
import { loadAverage } from './support/machine.js';

const NODES = 3;
const ACCOUNTS = Number(process.env['BENCH_ACCOUNTS'] ?? 120);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7);
const THROUGHPUT_ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const HANGS = Math.ceil(ROUNDS / 2);
const PARTS = ['kill', 'hang', 'restart', 'boundary', 'throughput', 'asks'];

export async function run(args: readonly string[]): Promise<void> {
  const unknown = args.filter((arg) => !PARTS.includes(arg));
  if (unknown.length > 0) throw new Error(`there is no part ${unknown.join(', ')}; there are ${PARTS.join(', ')}`);
  const wanted = (part: string) => args.length === 0 || args.includes(part);
  const cluster = await startBenchCluster(NODES, ACCOUNTS);
  try {
    process.stdout.write(`  load average at the start ${loadAverage()}\n`);
    if (wanted('kill')) await killed(cluster, ROUNDS);
    if (wanted('hang')) await hung(cluster, HANGS);
    if (wanted('restart')) await rollingRestart(cluster);
    if (wanted('boundary')) await boundary(cluster, (name) => name.includes(process.env['BENCH_OPERATIONS'] ?? ''));
    if (wanted('throughput')) await throughput(cluster, THROUGHPUT_ROUNDS);
    if (wanted('asks')) {
      for (const node of cluster.nodes) await node.stop();
      await remoteAsks(cluster);
    }
    process.stdout.write(`  load average at the end ${loadAverage()}\n`);
  } finally {
    await cluster.stop();
  }
}
