// Compares servers that accept mail, under Postfix's load generator and in turns: a node, a node with one process per processor, a Postfix
// that accepts messages and drops them, and a Postfix whose Dovecot stores them. The work of a node after the acceptance, which makes mail
// searchable, ends before the next turn and is counted separately.
import { availableParallelism } from 'node:os';
import { connect, type Sql } from '../../src/store/postgres/driver/client.js';
import { cpuSeconds, difference } from '../support/cpu-time.js';
import { figure, percentile } from '../support/figures.js';
import { type BenchNode, startBenchNode } from '../support/node.js';
import { startDovecot } from '../support/peers/dovecot.js';
import { startPostfix } from '../support/peers/postfix.js';
import { smtpSource } from '../support/peers/smtp-source.js';
import { startJoint } from '../support/processes.js';
import { untilSearchable } from '../support/searchable.js';

const SIZE = 4096;
const PROCESSES = 20;
const PER_CONNECTION = 60;
const ROUNDS = 3;
const USERS = 200;
/** The processes of the second node. */
const NODE_PROCESSES = Math.max(2, availableParallelism());
/** The interval in ms at which a server that stores in the background is asked whether it has finished. */
const POLL_MS = 50;
/** A server that stores no message for this time (ms) is stuck. */
const STUCK_MS = 30_000;

interface Peer {
  readonly name: string;
  readonly port: number;
  readonly messages: number;
  /** The processes whose processor time counts, with all their descendants. */
  readonly pids: readonly number[];
  /** The factor by which Mansio should be faster. */
  readonly goal?: number;
  recipient(i: number): string;
  /** Returns the number of stored messages, for a server that answers before it stores. */
  stored?(): Promise<number>;
  /** Resolves when all work on stored messages is done. */
  finished?(): Promise<void>;
  stop(): Promise<void>;
}

interface Round {
  readonly rate: number;
  readonly micros: number;
  /** The cost of the work after the load. */
  readonly laterMicros: number;
}

/** @throws Error when a message was not accepted */
export async function runPeers(node: BenchNode, emails: readonly string[]): Promise<void> {
  const peers: Peer[] = [];
  const mansio = mansioOf(node, 'Mansio: stored', emails);
  await mansio.finished?.();
  peers.push(mansio, await startProcesses(), ...(await startPeers()));
  try {
    const rounds = new Map(peers.map((peer) => [peer, [] as Round[]]));
    for (const peer of peers) await load(peer, PROCESSES * PER_CONNECTION);
    for (let i = 0; i < ROUNDS; i++) for (const peer of peers) rounds.get(peer)!.push(await load(peer, peer.messages));
    const [own, spread, ...others] = peers.map((peer) => ({ peer, ...medians(rounds.get(peer)!) }));
    for (const { peer, rate, micros, laterMicros } of [own!, spread!, ...others]) {
      const later =
        peer.finished === undefined ? '' : `, and ${laterMicros.toFixed(0)} µs later, until words are found`;
      const ofSpread = `, of ${NODE_PROCESSES} processes ${(spread!.rate / rate).toFixed(1)}`;
      const ratio = peer.goal === undefined ? '' : ratioText(own!.rate / rate, peer.goal) + ofSpread;
      const note = `CPU: ${micros.toFixed(0)} µs${later}${ratio}`;
      figure(
        `${peer.name}, 4 kB, ${PROCESSES} × smtp-source, ${PER_CONNECTION} a connection`,
        rate,
        'messages/s',
        note,
      );
    }
  } finally {
    for (const peer of peers) await peer.stop();
  }
}

function ratioText(ratio: number, goal: number): string {
  return `, Mansio ${ratio.toFixed(1)} times as many, goal ${goal}: ${ratio >= goal ? 'reached' : 'MISSED'}`;
}

function medians(rounds: readonly Round[]): Round {
  const median = (of: (round: Round) => number) => percentile(rounds.map(of), 0.5);
  return {
    rate: median(({ rate }) => rate),
    micros: median(({ micros }) => micros),
    laterMicros: median(({ laterMicros }) => laterMicros),
  };
}

async function load(peer: Peer, messages: number): Promise<Round> {
  const roots = { server: peer.pids };
  const [cpuBefore, storedBefore] = [await cpuSeconds(roots), await peer.stored?.()];
  const started = performance.now();
  const { port, recipient } = peer;
  const result = await smtpSource({
    port,
    processes: PROCESSES,
    messages,
    perConnection: PER_CONNECTION,
    size: SIZE,
    recipient,
  });
  if (result !== undefined && result.accepted < messages) {
    throw new Error(`${peer.name}: ${messages - result.accepted} messages were not accepted`);
  }
  if (storedBefore !== undefined) await untilStored(peer, storedBefore + messages);
  const seconds = (performance.now() - started) / 1000;
  const cpuAfter = await cpuSeconds(roots);
  await peer.finished?.();
  const microsOf = (after: typeof cpuAfter, before: typeof cpuAfter) =>
    (difference(after, before).server / messages) * 1e6;
  return {
    rate: messages / seconds,
    micros: microsOf(cpuAfter, cpuBefore),
    laterMicros: microsOf(await cpuSeconds(roots), cpuAfter),
  };
}

async function untilStored(peer: Peer, wanted: number): Promise<void> {
  let [last, changedAt] = [-1, performance.now()];
  for (;;) {
    const stored = await peer.stored!();
    if (stored >= wanted) return;
    if (stored !== last) [last, changedAt] = [stored, performance.now()];
    if (performance.now() - changedAt > STUCK_MS) throw new Error(`${peer.name} has stored ${stored} of ${wanted}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function mansioOf(node: BenchNode, name: string, emails: readonly string[], natsPids: readonly number[] = []): Peer {
  const sql: Sql = connect(node.database, { max: 1, applicationName: 'bench' });
  return {
    name,
    port: node.port('mx'),
    messages: 3_600,
    pids: [node.process.pid!, ...natsPids],
    recipient: (i) => emails[i % emails.length]!,
    finished: () => untilSearchable(sql),
    stop: () => sql.end(),
  };
}

async function startProcesses(): Promise<Peer> {
  const joint = await startJoint(NODE_PROCESSES);
  const node = await startBenchNode({ ...joint.settings, MANSIO_LOG_LEVEL: 'info' });
  const emails = (await node.createAccounts(USERS)).map(({ email }) => email);
  const natsPids = joint.natsPid === undefined ? [] : [joint.natsPid];
  const peer = mansioOf(node, `Mansio of ${NODE_PROCESSES} processes: stored`, emails, natsPids);
  return {
    ...peer,
    async stop() {
      await peer.stop();
      await node.stop();
      await joint.stop();
    },
  };
}

/** Starts the peers that are installed. */
async function startPeers(): Promise<Peer[]> {
  const recipient = (i: number) => `user${i % USERS}@example.test`;
  const accepting = await startPostfix({ 'example.test': 'discard:' });
  if (accepting === undefined) {
    process.stdout.write('  Postfix is not installed, or this is not root: nothing to compare with\n');
    return [];
  }
  const { port, version, pid } = accepting;
  const stop = () => accepting.stop();
  const peer = { name: `Postfix ${version}: accepted`, port, messages: 2_400, pids: [pid], goal: 3, recipient, stop };
  const dovecot = await startDovecot({ lmtp: true });
  const storing = dovecot && (await startPostfix({ 'example.test': `lmtp:inet:[127.0.0.1]:${dovecot.lmtpPort}` }));
  if (dovecot === undefined || storing === undefined) {
    process.stdout.write('  Dovecot with LMTP is not installed\n');
    return [peer];
  }
  return [
    peer,
    {
      name: `Postfix and Dovecot ${dovecot.version}: stored`,
      port: storing.port,
      messages: 1_200,
      goal: 6,
      pids: [storing.pid, dovecot.process.pid!],
      recipient,
      stored: () => storing.delivered(),
      async stop() {
        await storing.stop();
        await dovecot.stop();
      },
    },
  ];
}
