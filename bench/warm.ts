// What the first messages after a start cost: processor time a message of node and database, by thousands. A node that was
// filled is killed, and the one after it in the same store is measured. `npm run bench warm [thousands]`.
import { cpuSeconds, difference } from './support/cpu-time.js';
import { figure, withGoal } from './support/figures.js';
import { type BenchNode, startBenchNode } from './support/node.js';
import { smtpLoad } from './support/smtp-load.js';

const ACCOUNTS = 200;
const SIZE = 4096;
const CONNECTIONS = 20;
/** Before the node is killed. */
const FILLING = 3_000;
const THOUSAND = 1_000;
const THOUSANDS = 10;
/** The last ones are the rest that the first is compared with. */
const LAST = 3;
/** The first thousand against the rest. */
const GOAL_RATIO = 2;

interface Cost {
  readonly node: number;
  readonly database: number;
}

export async function run([thousands = `${THOUSANDS}`]: readonly string[]): Promise<void> {
  const node = await startBenchNode({ MANSIO_LOG_LEVEL: 'info' });
  try {
    const emails = (await node.createAccounts(ACCOUNTS)).map(({ email }) => email);
    await costOf(node, emails, FILLING);
    const began = performance.now();
    await node.replace();
    figure('start to the ready line, after a kill', performance.now() - began, 'ms');
    const costs: Cost[] = [];
    for (let i = 0; i < Number(thousands); i++) {
      const cost = await costOf(node, emails, THOUSAND);
      costs.push(cost);
      const note = `node ${cost.node.toFixed(0)} µs, database ${cost.database.toFixed(0)} µs`;
      figure(`CPU of a message, ${i + 1}. thousand`, total(cost), 'µs', note);
    }
    const rest = costs.slice(-LAST).reduce((sum, cost) => sum + total(cost), 0) / Math.min(LAST, costs.length);
    const ratio = total(costs[0]!) / rest;
    figure(`first thousand against the last ${LAST}`, ratio, 'times', withGoal(ratio, GOAL_RATIO));
  } finally {
    await node.stop();
  }
}

/** µs a message. */
async function costOf(node: BenchNode, emails: readonly string[], messages: number): Promise<Cost> {
  const roots = { node: [node.process.pid!], database: [node.databasePid] };
  const before = await cpuSeconds(roots);
  const { accepted } = await smtpLoad({
    ...{ host: '127.0.0.1', ports: [node.port('mx')], connections: CONNECTIONS, messages, size: SIZE },
    recipients: (i) => [emails[i % emails.length]!],
  });
  const used = difference(await cpuSeconds(roots), before);
  if (accepted !== messages) throw new Error(`${messages - accepted} messages were not accepted`);
  const each = 1e6 / messages;
  // The database is started by the node.
  return { node: (used.node - used.database) * each, database: used.database * each };
}

function total({ node, database }: Cost): number {
  return node + database;
}
