// Simulates clusters of several sizes from the constants that were measured (bench/scaling/constants.ts), and computes how many accounts they
// hold. The simulation first has to reproduce what one and three nodes were measured to do. `npm run bench scaling heartbeats` measures what
// heartbeats take, which only large clusters feel.

import { heartbeats } from './scaling/heartbeats.js';
import { CONSTANTS, OBSERVED, PROFILE } from './scaling/measured.js';
import { type Cluster, capacityOf, FULL } from './scaling/model.js';
import { simulate } from './scaling/simulation.js';
import { figure } from './support/figures.js';

const SIZES = [1, 3, 10, 100, 1_000];
/** The simulation is believed when it is this near to what was measured. */
const BELIEVED = 0.2;
const CORES = [2, 4, 8, 16];
const CLIENTS_PER_NODE = 20;
const LEAST_MESSAGES = 20_000;
const MACHINES = { databaseCores: 16, natsCores: 12, logOctets: 200e6, nodeMemory: 4 * 2 ** 30 };

export async function run(args: readonly string[]): Promise<void> {
  if (args.includes('heartbeats')) return heartbeats();
  if (args.length > 0) throw new Error('scaling [heartbeats]');
  let isBelieved = true;
  for (const { name, setting, micros } of OBSERVED) {
    const { micros: simulated, rate, statements } = simulate(CONSTANTS, setting);
    const error = simulated / micros - 1;
    const isNear = Math.abs(error) <= BELIEVED;
    isBelieved &&= isNear;
    const note = `measured ${micros}: ${(error * 100).toFixed(0)} %, ${isNear ? 'reached' : 'MISSED'}; ${rate.toFixed(0)} messages/s, ${statements.toFixed(2)} statements a message`;
    figure(`${name}, simulated: processor time a message`, simulated, 'µs', note);
  }
  if (!isBelieved)
    throw new Error('the simulation does not reproduce what was measured, so it says nothing about larger clusters');
  for (const cores of CORES) printProcesses(cores);
  for (const nodes of SIZES) print(nodes);
}

/** Processes of one machine, which PostgreSQL, NATS and the clients share. */
function printProcesses(cores: number): void {
  const counts = [1, 2, 4, 8, 16].filter((count) => count <= cores);
  const rates = counts.map((nodes) => {
    const setting = { nodes, clients: 40 * nodes, messages: LEAST_MESSAGES, databaseCores: cores, natsCores: cores };
    return simulate(CONSTANTS, { ...setting, sharedCores: cores }).rate;
  });
  const each = counts.map((count, i) => `${count}: ${rates[i]!.toFixed(0)}`);
  figure(
    `${cores} cores, simulated: best rate / rate of 1 process`,
    Math.max(...rates) / rates[0]!,
    '',
    each.join(', '),
  );
}

function print(nodes: number): void {
  const clients = nodes * CLIENTS_PER_NODE;
  const { databaseCores, natsCores } = MACHINES;
  const messages = Math.max(LEAST_MESSAGES, clients * 5);
  const { rate, busy, statements } = simulate(CONSTANTS, { nodes, clients, messages, databaseCores, natsCores });
  const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
  const parts = Object.entries(busy).map(([part, share]) => `${part} ${percent(share)}`);
  figure(
    `${nodes} nodes, simulated`,
    rate,
    'messages/s',
    `busy: ${parts.join(', ')}; ${statements.toFixed(2)} statements a message`,
  );
  const cluster: Cluster = { nodes, ...MACHINES };
  const { accounts, bound, heartbeats, databaseConnections } = capacityOf(CONSTANTS, PROFILE, cluster);
  const each = Object.entries(accounts).map(([part, number]) => `${part} ${thousands(number)}`);
  figure(`${nodes} nodes, accounts at ${percent(FULL)}, bound by ${bound}`, accounts[bound], '', each.join(', '));
  const beats = Object.entries(heartbeats).map(([part, share]) => `${part} ${percent(share)}`);
  process.stdout.write(`    heartbeats: ${beats.join(', ')}; ${databaseConnections} connections to the database\n`);
}

const thousands = (number: number): string =>
  Number.isFinite(number) ? `${Math.round(number / 1_000).toLocaleString('en')}k` : 'any number';
