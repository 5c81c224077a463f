// Delivered messages a second: small messages by submission to ten domains, each with a server of its own on loopback, from
// the first that is handed in to the last that is delivered; and the same through Postfix, when it is installed. Both have
// five connections a destination and the same number of clients. Mansio signs every message with DKIM (RSA of 2,048 bits);
// Postfix has no milter and signs nothing.
import { fork } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDnsServer, type Zone } from '../dev/dns-server.js';
import { freePort } from '../dev/ports.js';
import { cpuSeconds, difference } from './support/cpu-time.js';
import { figure, percentile, withGoal } from './support/figures.js';
import { startBenchNode } from './support/node.js';
import { startPostfix } from './support/postfix.js';
import { SmtpSender } from './support/smtp-load.js';

const MESSAGES = Number(process.env['BENCH_OUTBOUND_MESSAGES'] ?? 10_000);
const SERVERS = process.env['BENCH_OUTBOUND_SERVERS']?.split(',') ?? ['mansio', 'postfix'];
const ROUNDS = 5;
const CLIENTS = 20;
const DOMAINS = Array.from({ length: 10 }, (_, i) => `d${i}.test`);
const addressOf = (i: number) => `127.0.0.${10 + i}`;
const BODY = 'The quick brown fox jumps over the lazy dog; again and again.\r\n'.repeat(60);
/** Of node and database a message. */
const GOAL_US = 1_600;
/** Messages a second, of Mansio to Postfix. */
const GOAL_RATIO = 2;
/** Nothing arrived for so long: something is stuck. */
const STUCK_MS = 30_000;

interface SinkCounts {
  readonly delivered: number;
  readonly signed: number;
}

interface Sinks {
  readonly port: number;
  readonly pid: number;
  /** Since the start, as far as they are known. */
  counts(): SinkCounts;
  /** Resolves when so many messages came since the start. */
  reached(count: number): Promise<void>;
  stop(): void;
}

type Client = { readonly sender: SmtpSender; readonly from: string };

interface Contender {
  readonly name: string;
  /** With connections that are open. */
  clients(): Promise<readonly Client[]>;
  stop(): Promise<void>;
}

/** The machine's speed drifts: both stand side by side and take turns, so that it drifts for both. */
export async function run(): Promise<void> {
  const sinks = await startSinks();
  const mansio = await startMansio(sinks);
  const postfix = SERVERS.includes('postfix') ? await startPostfixServer(sinks) : undefined;
  const contenders = [mansio, ...(postfix === undefined ? [] : [postfix])];
  try {
    // Warm: pools open, tables of a size at which plans settle, code compiled, which goes on for thousands of messages.
    for (const { clients } of contenders) await seconds(sinks, MESSAGES / 2, await clients());
    const roots = { node: [mansio.pid], database: [mansio.databasePid], sinks: [sinks.pid] };
    const used = { node: 0, database: 0 };
    const rates = new Map<string, number[]>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const contender of contenders) {
        const before = await cpuSeconds(roots);
        const took = await seconds(sinks, MESSAGES / ROUNDS, await contender.clients());
        const all = difference(await cpuSeconds(roots), before);
        rates.set(contender.name, [...(rates.get(contender.name) ?? []), MESSAGES / ROUNDS / took]);
        if (contender !== mansio) continue;
        // The database is started by the node.
        used.node += all.node - all.database;
        used.database += all.database;
      }
    }
    for (const [name, each] of rates) {
      const note = `rounds: ${each.map((rate) => rate.toFixed(0)).join(', ')}`;
      figure(`${name}: delivered, 4 kB, 10 domains, median`, percentile(each, 0.5), 'messages/s', note);
    }
    const perMessage = (seconds: number) => (seconds / MESSAGES) * 1e6;
    for (const [name, each] of Object.entries(used)) {
      figure(`Mansio: CPU of the ${name} a message`, perMessage(each), 'µs');
    }
    const inAll = perMessage(used.node + used.database);
    figure('Mansio: CPU a message in all', inAll, 'µs', withGoal(inAll, GOAL_US));
    const { signed } = sinks.counts();
    process.stdout.write(
      `  Mansio: ${signed} of ${MESSAGES / 2 + MESSAGES} messages had a DKIM signature (RSA, 2,048 bits)\n`,
    );
    if (postfix === undefined) {
      process.stdout.write('  Postfix is not installed, or this is not root: nothing to compare with\n');
      return;
    }
    const [own, peer] = [mansio, postfix].map(({ name }) => percentile(rates.get(name)!, 0.5));
    const ratio = own! / peer!;
    const reached = ratio >= GOAL_RATIO ? 'reached' : 'MISSED';
    figure('Mansio / Postfix', ratio, '', `goal ${GOAL_RATIO}: ${reached}; Postfix has no milter: it signs nothing`);
  } finally {
    for (const contender of contenders) await contender.stop();
    sinks.stop();
  }
}

let expected = 0;

async function startMansio(sinks: Sinks): Promise<Contender & { readonly pid: number; readonly databasePid: number }> {
  const zones: Record<string, Zone> = {};
  for (const [i, domain] of DOMAINS.entries()) {
    zones[domain] = { MX: [[10, `mx.${domain}`]] };
    zones[`mx.${domain}`] = { A: [addressOf(i)] };
  }
  const dns = await startDnsServer(zones);
  const directory = await mkdtemp(join(tmpdir(), 'mansio-dkim-'));
  const dkimKey = join(directory, 'key.pem');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(dkimKey, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const node = await startBenchNode({
    MANSIO_LOG_LEVEL: 'info',
    MANSIO_ALLOW_PLAINTEXT_AUTH: 'true',
    MANSIO_OUTBOUND_DNS: dns.address,
    MANSIO_OUTBOUND_PORT: String(sinks.port),
    MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
    MANSIO_DKIM_SELECTOR: 'bench',
    MANSIO_DKIM_KEY: dkimKey,
  });
  const accounts = await node.createAccounts(CLIENTS);
  const logins = await Promise.all(
    accounts.map(async ({ id, email }) => ({ email, key: await node.createKey(id, ['smtp']) })),
  );
  const port = node.port('submission');
  const open = async ({ email, key }: { email: string; key: string }) => {
    const sender = await SmtpSender.open('127.0.0.1', port);
    await sender.authenticate(email, key);
    return { sender, from: email };
  };
  return {
    name: 'Mansio',
    pid: node.process.pid!,
    databasePid: node.databasePid,
    clients: () => Promise.all(logins.map(open)),
    async stop() {
      await node.stop();
      await dns.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function startPostfixServer(sinks: Sinks): Promise<Contender | undefined> {
  const routes = Object.fromEntries(DOMAINS.map((domain, i) => [domain, `${addressOf(i)}:${sinks.port}`]));
  const server = await startPostfix(routes);
  if (server === undefined) return undefined;
  const open = async () => ({ sender: await SmtpSender.open('127.0.0.1', server.port), from: 'sender@example.test' });
  return {
    name: `Postfix ${server.version}`,
    clients: () => Promise.all(Array.from({ length: CLIENTS }, open)),
    stop: () => server.stop(),
  };
}

/** From the first message handed in to the last one delivered. */
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
  const script = fileURLToPath(new URL('./support/smtp-sink.js', import.meta.url));
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
