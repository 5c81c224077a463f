// Measures the messages per second that three, two and one nodes accept over SMTP, and what a message costs whose mailbox is on another
// node than the one that takes it in, beside one of the same node. Database, NATS and load generator share the processors with the nodes,
// so more nodes on one machine show what a node costs, not what it adds.
import type { BenchCluster } from './bench-cluster.js';
import { byTurns, printCosts, type Where } from './message-cost.js';
import { smtpLoad } from './smtp-load.js';

const CONNECTIONS = 40;
/** The messages for each node and kind: a process that has just started is slow. */
const WARM_EACH = 1_000;
const MESSAGES = 1_500;

/** Stops one node after the other; the last one keeps running. */
export async function throughput(cluster: BenchCluster, rounds: number): Promise<void> {
  for (let count = cluster.nodes.length; count >= 1; count--) {
    await cluster.settled();
    const nodes = cluster.nodes.slice(0, count);
    const owner = await cluster.owners();
    const emailsOf = (isWanted: (owner: string | null) => boolean) =>
      cluster.accounts.filter(({ id }) => isWanted(owner(id))).map(({ email }) => email);
    const recipients = nodes.map(({ name }) => ({
      local: emailsOf((each) => each === name),
      remote: emailsOf((each) => each !== name),
      spread: emailsOf(() => true),
    }));
    const load = (where: Where, messages: number, connections = CONNECTIONS) =>
      smtpLoad({
        host: '127.0.0.1',
        ports: nodes.map(({ mx }) => Number(mx.replace(/^.*:/, ''))),
        connections,
        messages,
        size: 4096,
        recipients: (i, { target }) => {
          const emails = recipients[target]![where];
          return [emails[i % emails.length]!];
        },
      });
    const kinds: readonly Where[] = count === 1 ? ['local'] : ['local', 'remote', 'spread'];
    for (const where of kinds.slice(0, 2)) await load(where, WARM_EACH * count);
    const servers = {
      pids: {
        nodes: nodes.map((node) => node.process.pid),
        database: [cluster.postgres.pid],
        NATS: cluster.nats.map(({ pid }) => pid),
      },
      sql: cluster.sql,
    };
    const costs = await byTurns(servers, kinds, rounds, (where) => load(where, MESSAGES));
    printCosts(`${count} ${count === 1 ? 'node' : 'nodes'}, 4 kB, ${CONNECTIONS} connections`, costs);
    if (count === 1) {
      // Statements with one message each: `scaling` reckons what a statement takes and what a message in it takes.
      const single = await byTurns(servers, kinds, rounds, (where) => load(where, MESSAGES / 5, 1));
      printCosts('1 node, 4 kB, 1 connection', single);
    }
    if (count > 1) await nodes.at(-1)!.stop();
  }
}
