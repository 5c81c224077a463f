// Measures what the first messages after a start cost: processor time of node and database per message, by thousands. A node that was
// filled is killed, and its successor on the same store is measured. V8 compiles and collects garbage on its own threads, which are counted
// apart from the event loop. `npm run bench warm [thousands]`.
import { cpuSeconds, difference, eventLoopSeconds } from './support/cpu-time.js';
import { figure, withGoal } from './support/figures.js';
import { type BenchNode, startBenchNode } from './support/node.js';
import { smtpLoad } from './support/smtp-load.js';

const ACCOUNTS = 200;
const SIZE = 4096;
const CONNECTIONS = 20;
/** The messages before the node is killed. */
const FILLING = 3_000;
const THOUSAND = 1_000;
const THOUSANDS = 10;
/** The first thousand is compared with the last ones. */
const LAST = 3;
/** The cost of the first thousand as a multiple of the last ones. */
const GOAL_RATIO = 2;

interface Cost {
  readonly eventLoop: number;
  /** The other threads of the node, mainly V8's. */
  readonly otherThreads: number;
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
      const parts = [cost.eventLoop, cost.otherThreads, cost.database].map((part) => `${part.toFixed(0)} µs`);
      const note = `event loop ${parts[0]}, other threads ${parts[1]}, database ${parts[2]}`;
      figure(`CPU of a message, ${i + 1}. thousand`, total(cost), 'µs', note);
    }
    const rest = costs.slice(-LAST).reduce((sum, cost) => sum + total(cost), 0) / Math.min(LAST, costs.length);
    const ratio = total(costs[0]!) / rest;
    figure(`first thousand against the last ${LAST}`, ratio, 'times', withGoal(ratio, GOAL_RATIO));
  } finally {
    await node.stop();
  }
}

/** In µs per message. */
async function costOf(node: BenchNode, emails: readonly string[], messages: number): Promise<Cost> {
  const pid = node.process.pid!;
  const roots = { node: [pid], database: [node.databasePid] };
  const usedSoFar = async () => ({ ...(await cpuSeconds(roots)), eventLoop: await eventLoopSeconds(pid) });
  const before = await usedSoFar();
  const { accepted } = await smtpLoad({
    ...{ host: '127.0.0.1', ports: [node.port('mx')], connections: CONNECTIONS, messages, size: SIZE },
    recipients: (i) => [emails[i % emails.length]!],
  });
  const used = difference(await usedSoFar(), before);
  if (accepted !== messages) throw new Error(`${messages - accepted} messages were not accepted`);
  const each = 1e6 / messages;
  // The node has started the database.
  const otherThreads = used.node - used.database - used.eventLoop;
  return { eventLoop: used.eventLoop * each, otherThreads: otherThreads * each, database: used.database * each };
}

function total({ eventLoop, otherThreads, database }: Cost): number {
  return eventLoop + otherThreads + database;
}
