// Many accounts with a connection each, and a steady stream of emails to them: how long after its 250 each is at its client,
// and what it costs the node.
import { ownCpuSeconds } from '../support/cpu-time.js';
import { figure, latency } from '../support/figures.js';
import { pause } from '../support/write-probe.js';
import type { HubSwarm } from './hub-swarm.js';
import type { Target } from './target.js';

const ACCOUNTS = 1_000;
const A_SECOND = 100;
const SECONDS = 10;
const SENDERS = 8;

export async function manyAccounts(target: Target, swarm: HubSwarm): Promise<void> {
  const accounts = await target.accounts(ACCOUNTS);
  await swarm.open(
    target.hub(),
    accounts.map(({ key }) => key),
    ACCOUNTS,
  );
  const senders = await Promise.all(Array.from({ length: SENDERS }, () => target.sender()));
  const accepted: bigint[] = [];
  let next = 0;
  let used = 0;
  const arrivals = await swarm.trace(A_SECOND * SECONDS, async () => {
    used = await ownCpuSeconds(target.pid);
    const began = performance.now();
    await Promise.all(
      senders.map(async (sender) => {
        while (next < A_SECOND * SECONDS) {
          const i = next++;
          await pause(Math.max(0, began + (i * 1000) / A_SECOND - performance.now()));
          accepted[i] = await target.deliver(sender, accounts[(i * 7) % ACCOUNTS]!, `#${i}`);
        }
      }),
    );
  });
  const cost = ((await ownCpuSeconds(target.pid)) - used) / arrivals.size;
  for (const sender of senders) sender.close();
  const ms = [...arrivals].map(([i, ns]) => Number(ns - accepted[i]!) / 1e6);
  latency(`250 of SMTP to the event, ${A_SECOND} emails/s to ${ACCOUNTS} accounts`, ms);
  figure('  the node an email', cost * 1e6, 'µs of a processor');
}
