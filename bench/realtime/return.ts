// All clients of a killed node connect to its successor, each with its cursor, and get what they missed. It also measures how much of the
// node's memory a connection that resumes takes.
import { ownCpuSeconds } from '../support/cpu-time.js';
import { figure, latency, withGoal } from '../support/figures.js';
import { HubSwarm } from './hub-swarm.js';
import type { KeyedAccount, Target } from './target.js';

const CONNECTIONS = 10_000;
/** The first connections make heap and code grow. */
const FIRST = 1_000;
const MISSED = 2;
const GOAL_SECONDS = 3;

/** The connections are spread over `accounts` accounts. */
export async function returning(target: Target, accounts: number): Promise<void> {
  const swarm = new HubSwarm();
  try {
    const owners = await target.accounts(accounts);
    const keys = owners.map(({ key }) => key);
    await swarm.open(target.hub('?resume=true'), keys, FIRST);
    const before = await target.memory();
    await swarm.open(target.hub('?resume=true'), keys, CONNECTIONS - FIRST);
    const memory = ((await target.memory()) - before) / (CONNECTIONS - FIRST);
    await swarm.leave();
    await miss(target, owners);
    await target.node.replace();
    const used = await ownCpuSeconds(target.pid);
    const usedByClients = await ownCpuSeconds(swarm.pid);
    const { ms, openedMs } = await swarm.return(target.hub('?resume=true'), 'NewEmail', MISSED);
    const seconds = ms.at(-1)! / 1000;
    const cost = (await ownCpuSeconds(target.pid)) - used;
    const clients = (await ownCpuSeconds(swarm.pid)) - usedByClients;
    const name = `${CONNECTIONS} clients of ${accounts} accounts resume on a new node`;
    figure(name, seconds, 's', `${withGoal(seconds, GOAL_SECONDS)}; connected after ${(openedMs / 1000).toFixed(2)} s`);
    latency('  each', ms);
    figure('  memory a connection', memory, 'octets');
    figure('  the node a client', (cost / CONNECTIONS) * 1e6, 'µs of a processor');
    figure('  a client itself', (clients / CONNECTIONS) * 1e6, 'µs of a processor');
  } finally {
    swarm.close();
  }
}

async function miss(target: Target, accounts: readonly KeyedAccount[]): Promise<void> {
  const sender = await target.sender();
  for (const account of accounts) {
    for (let i = 0; i < MISSED; i++) await target.deliver(sender, account, `missed ${i}`);
  }
  sender.close();
}
