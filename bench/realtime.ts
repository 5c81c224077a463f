// Measures the real-time hub under load: fan-out to many connections, many accounts, live queries, and clients that return after their
// node was killed. `npm run bench realtime [latency] [memory] [burst] [processes] [accounts] [lists] [resume]` runs the named parts.
import { fanOut, spreadFanOut } from './realtime/fan-out.js';
import { HubSwarm } from './realtime/hub-swarm.js';
import { differentLists, oneList } from './realtime/live-lists.js';
import { manyAccounts } from './realtime/many-accounts.js';
import { returning } from './realtime/return.js';
import { Target } from './realtime/target.js';
import { loadAverage } from './support/machine.js';

const FAN_OUT = ['latency', 'memory', 'burst'];
const PARTS = [...FAN_OUT, 'processes', 'accounts', 'lists', 'resume'];
/** The numbers of accounts over which the returning clients are spread. */
const RETURNING_ACCOUNTS = [1, 1_000];

export async function run(args: readonly string[]): Promise<void> {
  const unknown = args.filter((arg) => !PARTS.includes(arg));
  if (unknown.length > 0) throw new Error(`there is no part ${unknown.join(', ')}; there are ${PARTS.join(', ')}`);
  const wanted = (part: string) => args.length === 0 || args.includes(part);
  process.stdout.write(`  load average at the start ${loadAverage()}\n`);
  if (FAN_OUT.some(wanted)) await withSwarm((target, swarm) => fanOut(target, swarm, wanted));
  if (wanted('processes')) {
    process.stdout.write('  a node of two processes, which share the connections\n');
    await withSwarm(spreadFanOut, 2);
  }
  if (wanted('accounts')) await withSwarm(manyAccounts);
  if (wanted('lists')) {
    await withSwarm(differentLists);
    await withSwarm(oneList);
  }
  if (wanted('resume')) {
    for (const accounts of RETURNING_ACCOUNTS) await withTarget((target) => returning(target, accounts));
  }
  process.stdout.write(`  load average at the end ${loadAverage()}\n`);
}

function withSwarm(part: (target: Target, swarm: HubSwarm) => Promise<void>, processes = 1): Promise<void> {
  return withTarget(async (target) => {
    const swarm = new HubSwarm();
    try {
      await part(target, swarm);
    } finally {
      swarm.close();
    }
  }, processes);
}

/** Gives each part its own node, so that it does not measure what another part left. */
async function withTarget(part: (target: Target) => Promise<void>, processes = 1): Promise<void> {
  const target = await Target.start(processes);
  try {
    await part(target);
  } finally {
    await target.stop();
  }
}
