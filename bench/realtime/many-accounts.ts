// Measures many accounts with one connection each, and a steady stream of emails to them: how long after its 250 each email is at its
// client, and what it costs the node.
import { figure, latency } from '../support/figures.js';
import { EmailStream } from './email-stream.js';
import type { HubSwarm } from './hub-swarm.js';
import type { Target } from './target.js';

const ACCOUNTS = 1_000;
const A_SECOND = 100;
const SECONDS = 10;

export async function manyAccounts(target: Target, swarm: HubSwarm): Promise<void> {
  const accounts = await target.accounts(ACCOUNTS);
  const keys = accounts.map(({ key }) => key);
  await swarm.open(target.hub(), keys, ACCOUNTS);
  const stream = new EmailStream(target, A_SECOND, SECONDS, (i) => accounts[(i * 7) % ACCOUNTS]!);
  const arrivals = await swarm.trace('NewEmail', A_SECOND * SECONDS, () => stream.run());
  latency(`250 of SMTP to the event, ${A_SECOND} emails/s to ${ACCOUNTS} accounts`, stream.latencies(arrivals));
  figure('  the node an email', await stream.cost(), 'µs of a processor');
}
