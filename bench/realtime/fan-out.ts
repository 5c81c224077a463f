// Measures many connections of one account: how long after the 250 of SMTP every one of them has the event, how much of the node's memory a
// connection takes, and what a burst of messages costs the node.
import { figure, latency, percentile, withGoal } from '../support/figures.js';
import { BarePeer } from './bare-peer.js';
import type { Arrivals, HubSwarm } from './hub-swarm.js';
import type { KeyedAccount, Target } from './target.js';

/** The connections, and the longest median time of the event, in ms. */
const STEPS: readonly (readonly [connections: number, goalMs: number])[] = [
  [1, 5],
  [1_000, 15],
  [10_000, 50],
];
/** From this number of connections on, the bare server runs too. */
const MANY = 10_000;
const ROUNDS = 20;
const MEMORY_GOAL = 4_096;
const BURST_MESSAGES = 1_000_000;
const BURST_GOAL_SECONDS = 1.5;
const BURSTS = 3;

/** `wanted` selects parts of `latency`, `memory` and `burst`; all need the connections. */
export async function fanOut(target: Target, swarm: HubSwarm, wanted: (part: string) => boolean): Promise<void> {
  const [account] = (await target.accounts(1)) as [KeyedAccount];
  for (const [connections, goalMs] of STEPS) {
    const before = swarm.connections;
    // The first thousand connections make heap and code grow.
    const memory = wanted('memory') && before >= 1_000 ? await target.memory() : undefined;
    const seconds = await swarm.open(target.hub(), [account.key], connections - before);
    if (before > 1)
      figure(`opening ${connections - before} connections`, (connections - before) / seconds, 'connections/s');
    if (memory !== undefined) {
      const each = ((await target.memory()) - memory) / (connections - before);
      figure('memory a connection', each, 'octets', withGoal(each, MEMORY_GOAL));
    }
    if (wanted('latency')) await latencyOf(target, swarm, account, goalMs);
  }
  if (wanted('burst')) await bursts(target, swarm, account);
}

/** Measures connections of one account that are spread over the processes of the node. */
export async function spreadFanOut(target: Target, swarm: HubSwarm): Promise<void> {
  const [account] = (await target.accounts(1)) as [KeyedAccount];
  await swarm.open(target.hub(), [account.key], MANY);
  await latencyOf(target, swarm, account, STEPS.at(-1)![1]);
}

async function latencyOf(target: Target, swarm: HubSwarm, account: KeyedAccount, goalMs: number): Promise<void> {
  const { connections } = swarm;
  const peer = connections >= MANY ? await BarePeer.start(connections) : undefined;
  const sender = await target.sender();
  const ms: number[] = [];
  const sinceSent: number[] = [];
  const answers: number[] = [];
  const lasts: number[] = [];
  const peerLasts: number[] = [];
  let [used, peerUsed] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    let sentAt = 0n;
    let acceptedAt = 0n;
    const before = await target.cpuSeconds();
    const arrivals = await swarm.round('NewEmail', 1, async () => {
      acceptedAt = await target.deliver(sender, account, 'to many', () => {
        sentAt = process.hrtime.bigint();
      });
      return acceptedAt;
    });
    used += (await target.cpuSeconds()) - before;
    const answeredMs = Number(acceptedAt - sentAt) / 1e6;
    const all = arrivals.ms.map((each) => each + answeredMs);
    answers.push(answeredMs);
    lasts.push(all.at(-1)!);
    ms.push(...arrivals.ms);
    sinceSent.push(...all);
    if (peer === undefined) continue;
    const peerBefore = await peer.cpuSeconds();
    peerLasts.push((await peer.round(arrivals.octets / connections)).at(-1)!);
    peerUsed += (await peer.cpuSeconds()) - peerBefore;
  }
  sender.close();
  latency(`250 of SMTP to the event, ${connections} connections`, ms, goalMs);
  latency('  end of DATA to the 250', answers);
  latency('  end of DATA to the event', sinceSent);
  const [each, peerEach] = [used / ROUNDS, peerUsed / ROUNDS];
  figure('  the node a message and its events', each * 1000, 'ms of a processor');
  if (peer === undefined) return;
  const [last, peerLast] = [percentile(lasts, 0.5), percentile(peerLasts, 0.5)];
  const until = `until the last socket has it ${peerLast.toFixed(0)} ms, Mansio ${last.toFixed(0)} ms from the end of DATA`;
  const ratio = `the node takes ${(each / peerEach).toFixed(2)} times as much`;
  figure('  a bare uWebSockets server, the same octets', peerEach * 1000, 'ms of a processor', `${ratio}; ${until}`);
  peer.close();
}

/** Marks the emails of a mailbox read, once by one request (one commit) and once by a request per email. */
async function bursts(target: Target, swarm: HubSwarm, account: KeyedAccount): Promise<void> {
  const emails = Math.ceil(BURST_MESSAGES / swarm.connections);
  const sender = await target.sender();
  for (let i = 0; i < emails; i++) {
    await swarm.round('NewEmail', 1, () => target.deliver(sender, account, `email ${i}`));
  }
  sender.close();
  const ids = await target.newestIds(account, emails);
  let isRead = false;
  const mark = async (chunks: readonly (readonly string[])[]) => {
    isRead = !isRead;
    const began = process.hrtime.bigint();
    await Promise.all(chunks.map((chunk) => target.markRead(account, chunk, isRead)));
    return began;
  };
  await burst(target, swarm, emails, 'in one change', () => mark([ids]));
  await burst(target, swarm, emails, `in ${emails} changes at once`, () => mark(ids.map((id) => [id])));
}

async function burst(
  target: Target,
  swarm: HubSwarm,
  emails: number,
  how: string,
  cause: () => Promise<bigint>,
): Promise<void> {
  const messages = emails * swarm.connections;
  const costs: number[] = [];
  const arrivals: Arrivals[] = [];
  for (let i = 0; i < BURSTS; i++) {
    const used = await target.cpuSeconds();
    arrivals.push(await swarm.round('EmailUpdated', emails, cause));
    costs.push((await target.cpuSeconds()) - used);
  }
  const best = Math.min(...costs);
  const last = Math.min(...arrivals.map(({ ms }) => ms.at(-1)!));
  const megabytes = (arrivals[0]!.octets / 2 ** 20).toFixed(0);
  figure(`${messages} messages ${how}`, best, 's of a processor', withGoal(best, BURST_GOAL_SECONDS));
  figure(`  until the last client has the last, ${megabytes} MiB`, last, 'ms');
}
