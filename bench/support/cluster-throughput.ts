// Measures the messages per second that three, two and one nodes accept over SMTP, and which programs use the processors. Database, NATS
// and load generator share them with the nodes, so more nodes on one machine show what a node costs, not what it adds.
import type { BenchCluster } from './bench-cluster.js';
import { cpuSeconds, difference, sharesOf } from './cpu-time.js';
import { figure } from './figures.js';
import { smtpLoad } from './smtp-load.js';

const CONNECTIONS = 40;
/** The messages for each node: a process that has just started is slow. */
const WARM_EACH = 3_000;
const MESSAGES = 8_000;

/** Stops one node after the other; the last one keeps running. */
export async function throughput(cluster: BenchCluster): Promise<void> {
  const emails = cluster.accounts.map(({ email }) => email);
  for (let count = cluster.nodes.length; count >= 1; count--) {
    await cluster.settled();
    const nodes = cluster.nodes.slice(0, count);
    const load = (messages: number) =>
      smtpLoad({
        host: '127.0.0.1',
        ports: nodes.map(({ mx }) => Number(mx.replace(/^.*:/, ''))),
        connections: CONNECTIONS,
        messages,
        size: 4096,
        recipients: (i) => [emails[i % emails.length]!],
      });
    await load(WARM_EACH * count);
    const pids = {
      nodes: nodes.map((node) => node.process.pid),
      database: [cluster.postgres.pid],
      NATS: cluster.nats.map(({ pid }) => pid),
    };
    const [before, own] = [await cpuSeconds(pids), process.cpuUsage()];
    const { accepted, seconds } = await load(MESSAGES);
    const { user, system } = process.cpuUsage(own);
    const { machine, ...servers } = difference(await cpuSeconds(pids), before);
    if (accepted !== MESSAGES) throw new Error(`${MESSAGES - accepted} messages were not accepted`);
    const used = { ...servers, 'load generator': (user + system) / 1e6 };
    const of = `${count} ${count === 1 ? 'node' : 'nodes'}`;
    figure(`accepted by ${of}, 4 kB, ${CONNECTIONS} connections`, accepted / seconds, 'messages/s');
    const each = Object.entries(used).map(([name, share]) => `${name} ${((share / accepted) * 1e6).toFixed(0)}`);
    process.stdout.write(
      `    CPU ${sharesOf({ machine, ...used }, seconds)}\n    CPU a message in µs: ${each.join(', ')}\n`,
    );
    if (count > 1) await nodes.at(-1)!.stop();
  }
}
