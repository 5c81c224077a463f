// Measures delivered messages per second: small messages are submitted to ten domains, each with its own server on loopback, and timed from
// the first submission to the last delivery. The same runs through smtp-server and nodemailer alone, which store nothing, and through
// Postfix if it is installed: alone, and with a login, a check of the sender and OpenDKIM. All use five connections per destination and the
// same number of clients. All but the bare Postfix sign every message (RSA, 2,048 bits). Clients log in before the clock starts.
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { freePort } from '../dev/ports.js';
import {
  type Client,
  type Contender,
  startBarePostfix,
  startBareRelay,
  startMansio,
  startSigningPostfix,
} from './outbound/contenders.js';
import { cpuSeconds, difference, ownCpuSeconds, sharesOf } from './support/cpu-time.js';
import { figure, percentile, withGoal } from './support/figures.js';

const MESSAGES = Number(process.env['BENCH_OUTBOUND_MESSAGES'] ?? 10_000);
const SERVERS = process.env['BENCH_OUTBOUND_SERVERS']?.split(',') ?? ['mansio', 'processes', 'relay', 'postfix'];
/** The processes of the second Mansio. */
const PROCESSES = Math.max(2, availableParallelism());
const ROUNDS = 5;
const CLIENTS = 20;
const DOMAINS = Array.from({ length: 10 }, (_, i) => `d${i}.test`);
const addressOf = (i: number) => `127.0.0.${10 + i}`;
const BODY = 'The quick brown fox jumps over the lazy dog; again and again.\r\n'.repeat(60);
/** The goal in µs of node and database per message. */
const GOAL_US = 1_600;
/** The goal for messages per second, as a multiple of a bare Postfix. */
const GOAL_RATIO = 2;
/** When nothing arrives for this time (ms), the run is stuck. */
const STUCK_MS = 30_000;

interface SinkCounts {
  readonly delivered: number;
  readonly signed: number;
}

interface Sinks {
  readonly port: number;
  readonly pid: number;
  /** Returns the counts since the start, as far as they are known. */
  counts(): SinkCounts;
  /** Resolves when this many messages have arrived since the start. */
  reached(count: number): Promise<void>;
  stop(): void;
}

interface Turns {
  readonly rates: number[];
  /** The processor time in seconds, by the name of the process. */
  used: Readonly<Record<string, number>>;
  seconds: number;
  signed: number;
}

/** The machine's speed drifts: all servers run side by side and take turns, so that the drift affects all of them. */
export async function run(): Promise<void> {
  const sinks = await startSinks();
  const to = { port: sinks.port, addresses: new Map(DOMAINS.map((domain, i) => [domain, addressOf(i)])) };
  const mansio = await startMansio(to, CLIENTS);
  const processes = SERVERS.includes('processes') ? await startMansio(to, CLIENTS, PROCESSES) : undefined;
  const relay = SERVERS.includes('relay') ? await startBareRelay(to, CLIENTS) : undefined;
  const hasPeers = SERVERS.includes('postfix');
  const postfix = hasPeers ? await startBarePostfix(to, CLIENTS) : undefined;
  const signing = hasPeers ? await startSigningPostfix(to, CLIENTS) : undefined;
  const contenders = [mansio, processes, relay, postfix, signing].filter((each) => each !== undefined);
  try {
    // This load warms up: pools are open, tables have a size at which query plans are stable, and code is compiled, which takes thousands
    // of messages.
    for (const { clients } of contenders) await seconds(sinks, MESSAGES / 2, await clients());
    const turns = new Map<Contender, Turns>(
      contenders.map((each) => [each, { rates: [], used: {}, seconds: 0, signed: 0 }]),
    );
    for (let round = 0; round < ROUNDS; round++) {
      for (const [contender, each] of turns) await takeTurn(sinks, contender, each);
    }
    for (const [contender, each] of turns) print(contender, each);
    const rate = (of: Contender) => percentile(turns.get(of)!.rates, 0.5);
    if (postfix === undefined) {
      process.stdout.write('  Postfix is not installed, or this is not root: nothing to compare with\n');
    }
    if (signing === undefined) {
      process.stdout.write('  OpenDKIM or Dovecot is not installed: no Postfix that signs\n');
    }
    for (const own of [mansio, processes]) {
      if (own === undefined) continue;
      if (relay !== undefined) {
        const note = 'it has one process, stores nothing, and answers when the message is delivered';
        figure(`${own.name} / bare relay`, rate(own) / rate(relay), '', note);
      }
      if (postfix !== undefined) {
        const ratio = rate(own) / rate(postfix);
        const reached = ratio >= GOAL_RATIO ? 'reached' : 'MISSED';
        const note = `goal ${GOAL_RATIO}: ${reached}; it checks no login and signs nothing`;
        figure(`${own.name} / Postfix`, ratio, '', note);
      }
      if (signing !== undefined) {
        const ratio = rate(own) / rate(signing);
        figure(`${own.name} / Postfix with SASL and OpenDKIM`, ratio, '', 'it keeps no copy of what was sent');
      }
    }
  } finally {
    for (const contender of contenders) await contender.stop();
    sinks.stop();
  }
}

async function takeTurn(sinks: Sinks, { clients, pids }: Contender, turns: Turns): Promise<void> {
  const open = await clients();
  const roots = {
    ...Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, [pid]])),
    sinks: [sinks.pid],
  };
  const signedBefore = sinks.counts().signed;
  const usage = async (): Promise<Record<string, number>> => ({
    ...(await cpuSeconds(roots)),
    clients: await ownCpuSeconds(process.pid),
  });
  const before = await usage();
  const took = await seconds(sinks, MESSAGES / ROUNDS, open);
  const used = difference(await usage(), before);
  // The node has started the database.
  if (used['node'] !== undefined) used['node'] -= used['database']!;
  turns.rates.push(MESSAGES / ROUNDS / took);
  turns.used = Object.fromEntries(Object.entries(used).map(([name, each]) => [name, each + (turns.used[name] ?? 0)]));
  turns.seconds += took;
  turns.signed += sinks.counts().signed - signedBefore;
}

function print({ name, pids }: Contender, { rates, used, seconds, signed }: Turns): void {
  const note = `rounds: ${rates.map((rate) => rate.toFixed(0)).join(', ')}; ${signed} of ${MESSAGES} signed`;
  figure(`${name}: delivered, 4 kB, median`, percentile(rates, 0.5), 'messages/s', note);
  const cpu = Object.keys(pids).map((process) => [process, (used[process]! / MESSAGES) * 1e6] as const);
  const inAll = cpu.reduce((sum, [, each]) => sum + each, 0);
  const parts = cpu.map(([process, each]) => `${process} ${each.toFixed(0)}`).join(', ');
  const goal = pids['node'] === undefined ? '' : `; ${withGoal(inAll, GOAL_US)}`;
  figure(`${name}: CPU a message`, inAll, 'µs', `${parts}${goal}`);
  process.stdout.write(`  ${name}: ${sharesOf(used, seconds)}\n`);
}

let expected = 0;

/** Returns the seconds from the first submission to the last delivery. */
async function seconds(sinks: Sinks, messages: number, clients: readonly Client[]): Promise<number> {
  let next = 0;
  expected += messages;
  const started = performance.now();
  const all = sinks.reached(expected);
  await Promise.all(
    clients.map(async ({ sender, from }) => {
      while (next < messages) {
        const i = next++;
        const to = `someone${i}@${DOMAINS[i % DOMAINS.length]}`;
        const header =
          `From: <${from}>\r\nTo: <${to}>\r\nSubject: Load ${i}\r\n` +
          `Message-ID: <${i}.${started}@example.test>\r\nDate: Sat, 21 Nov 2026 12:00:00 +0000\r\n\r\n`;
        if (!(await sender.send(from, [to], `${header}${BODY}.\r\n`))) throw new Error('a message was refused');
      }
    }),
  );
  await all;
  const took = (performance.now() - started) / 1000;
  for (const { sender } of clients) sender.close();
  return took;
}

async function startSinks(): Promise<Sinks> {
  const port = await freePort();
  const script = fileURLToPath(new URL('./support/peers/smtp-sink.js', import.meta.url));
  const child = fork(script, [String(port), ...DOMAINS.map((_, i) => addressOf(i))]);
  let counts: SinkCounts = { delivered: 0, signed: 0 };
  let wake = () => {};
  child.on('message', (told: SinkCounts) => {
    counts = told;
    wake();
  });
  return {
    port,
    pid: child.pid!,
    counts: () => counts,
    async reached(count) {
      while (counts.delivered < count) {
        const before = counts.delivered;
        let stuck: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          stuck = setTimeout(resolve, STUCK_MS);
        });
        clearTimeout(stuck);
        if (counts.delivered === before) throw new Error(`${count - before} messages did not arrive`);
      }
    },
    stop: () => void child.disconnect(),
  };
}
