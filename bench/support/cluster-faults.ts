// Measures how long accounts cannot be written when a node is killed, hangs, or is restarted: one probe per account writes through the
// other nodes.
import type { ClusterNode } from '../../dev/local-node.js';
import type { BenchCluster } from './bench-cluster.js';
import { cpuSeconds, difference } from './cpu-time.js';
import { figure, percentile } from './figures.js';
import { pause, type Write, WriteProbe } from './write-probe.js';

/** The pause of each probe in the outage tests. */
const IDLE_PAUSE_MS = 1_000;
const QUIET_MS = 1_500;
/** This pause is short enough to see nearly the whole outage; only a few accounts are probed, so that the probes do not cause it. */
const BUSY_PAUSE_MS = 15;
const BUSY_ACCOUNTS = 15;

/** Runs until every account was written again after the fault, in several rounds; each round takes the next node. */
async function outages(cluster: BenchCluster, rounds: number, fault: Fault): Promise<void> {
  const untilAll: number[] = [];
  const ofVictims: number[] = [];
  const cpu = { nodes: [] as number[], database: [] as number[] };
  let failures = 0;
  for (let round = 0; round < rounds; round++) {
    const victim = cluster.nodes[round % cluster.nodes.length]!;
    const probes = probesBeside(cluster, cluster.accounts, victim, IDLE_PAUSE_MS);
    await pause(QUIET_MS);
    const owner = await cluster.owners();
    const others = cluster.nodes.filter((node) => node !== victim);
    const pids = { nodes: others.map((node) => node.process.pid), database: [cluster.postgres.pid] };
    const before = await cpuSeconds(pids);
    const began = performance.now();
    fault.breakNode(victim);
    for (const probe of probes) probe.poke();
    const writes = await Promise.all(probes.map((probe) => probe.after(began)));
    const used = difference(await cpuSeconds(pids), before);
    cpu.nodes.push(used.nodes * 1000);
    cpu.database.push(used.database * 1000);
    const times = writes.map(({ acknowledged }) => acknowledged - began);
    untilAll.push(Math.max(...times));
    ofVictims.push(...times.filter((_, i) => owner(probes[i]!.account.id) === victim.name));
    failures += writes.reduce((sum, write) => sum + write.failures, 0);
    await Promise.all(probes.map((probe) => probe.stop()));
    await fault.mend(victim);
    await cluster.settled();
  }
  const of = `${cluster.accounts.length} accounts, ${rounds} rounds`;
  figure(
    `${fault.name}: all accounts writable, median`,
    percentile(untilAll, 0.5),
    'ms',
    `goal ${fault.goalMs}; ${of}`,
  );
  const spent = `CPU meanwhile: nodes ${median(cpu.nodes)} ms, database ${median(cpu.database)} ms`;
  figure(`${fault.name}: all accounts writable, slowest round`, Math.max(...untilAll), 'ms', spent);
  figure(`${fault.name}: one account of its, median`, percentile(ofVictims, 0.5), 'ms', `${failures} writes refused`);
}

interface Fault {
  readonly name: string;
  readonly goalMs: number;
  breakNode(node: ClusterNode): void;
  mend(node: ClusterNode): Promise<void>;
}

export function killed(cluster: BenchCluster, rounds: number): Promise<void> {
  return outages(cluster, rounds, {
    name: 'kill -9 of one of three nodes',
    goalMs: 1_000,
    breakNode: (node) => void node.kill(),
    mend: (node) => node.start(),
  });
}

export function hung(cluster: BenchCluster, rounds: number): Promise<void> {
  return outages(cluster, rounds, {
    name: 'SIGSTOP of one of three nodes',
    goalMs: 4_000,
    breakNode: (node) => node.pause(),
    mend: async (node) => node.resume(),
  });
}

/** Stops every node by SIGTERM and starts it again, one after the other. */
export async function rollingRestart(cluster: BenchCluster): Promise<void> {
  const accounts = cluster.accounts.slice(0, BUSY_ACCOUNTS);
  const away: number[] = [];
  const back: number[] = [];
  const beside: number[] = [];
  let usual = 0;
  let failures = 0;
  for (const node of cluster.nodes) {
    const owner = await cluster.owners();
    const probes = probesBeside(cluster, accounts, node, BUSY_PAUSE_MS);
    await pause(QUIET_MS);
    const stopping = performance.now();
    usual = percentile(
      probes.flatMap(({ writes }) => writes.map(took)),
      0.5,
    );
    await node.stop();
    await cluster.settled();
    const starting = performance.now();
    await node.start();
    await cluster.settled();
    await pause(QUIET_MS / 2);
    await Promise.all(probes.map((probe) => probe.stop()));
    for (const { account, writes } of probes) {
      const slowest = (of: readonly Write[]) => Math.max(0, ...of.map(took)) - usual;
      const [before, after] = [
        writes.filter(({ began }) => began < starting),
        writes.filter((w) => w.began >= starting),
      ];
      const whileStopping = before.filter(({ acknowledged }) => acknowledged >= stopping);
      failures += writes.reduce((sum, write) => sum + write.failures, 0);
      if (owner(account.id) === node.name) {
        away.push(slowest(whileStopping));
        back.push(slowest(after));
      } else beside.push(slowest(writes.filter(({ acknowledged }) => acknowledged >= stopping)));
    }
  }
  pauses('rolling restart: account handed over, its longest pause', away, `goal 100; ${failures} writes refused`);
  pauses('rolling restart: account given back, its longest pause', back, 'goal 100');
  pauses('beside it: slowest write of accounts that stay', beside, `usual ${usual.toFixed(1)} ms is subtracted`);
}

const median = (samples: readonly number[]) => percentile(samples, 0.5).toFixed(0);
const took = ({ began, acknowledged }: Write) => acknowledged - began;

function pauses(name: string, samples: readonly number[], note: string): void {
  const [p99, max] = [percentile(samples, 0.99), Math.max(...samples)];
  figure(name, percentile(samples, 0.5), 'ms', `p99 ${p99.toFixed(0)}, max ${max.toFixed(0)} ms; ${note}`);
}

/** Returns probes that write through the nodes other than `node`, in turn. */
function probesBeside(
  cluster: BenchCluster,
  accounts: BenchCluster['accounts'],
  node: ClusterNode,
  pauseMs: number,
): WriteProbe[] {
  const others = cluster.nodes.filter((each) => each !== node);
  return accounts.map((account, i) => new WriteProbe(account, () => others[i % others.length]!.http, pauseMs));
}
