// Delivered messages a second: small messages by submission to ten domains, each with a server of its own on loopback, from
// the first that is handed in to the last that is delivered; and the same through Postfix, when it is installed. Both have
// five connections a destination and the same number of clients.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startDnsServer, type Zone } from '../dev/dns-server.js';
import { freePort } from '../dev/ports.js';
import { cpuSeconds, difference } from './support/cpu-time.js';
import { figure, percentile } from './support/figures.js';
import { startBenchNode } from './support/node.js';
import { startPostfix } from './support/postfix.js';
import { SmtpSender } from './support/smtp-load.js';

const MESSAGES = Number(process.env['BENCH_OUTBOUND_MESSAGES'] ?? 10_000);
const ROUNDS = 5;
const CLIENTS = 20;
const DOMAINS = Array.from({ length: 10 }, (_, i) => `d${i}.test`);
const addressOf = (i: number) => `127.0.0.${10 + i}`;
const BODY = 'The quick brown fox jumps over the lazy dog; again and again.\r\n'.repeat(60);
/** Nothing arrived for so long: something is stuck. */
const STUCK_MS = 30_000;

interface Sinks {
  readonly port: number;
  readonly pid: number;
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
  const postfix = await startPostfixServer(sinks);
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
    for (const [name, each] of Object.entries(used)) {
      figure(`Mansio: CPU of the ${name} a message`, (each / MESSAGES) * 1e6, 'µs');
    }
    if (postfix === undefined) {
      process.stdout.write('  Postfix is not installed, or this is not root: nothing to compare with\n');
    }
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
  const node = await startBenchNode({
    MANSIO_LOG_LEVEL: 'info',
    MANSIO_ALLOW_PLAINTEXT_AUTH: 'true',
    MANSIO_OUTBOUND_DNS: dns.address,
    MANSIO_OUTBOUND_PORT: String(sinks.port),
    MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true',
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
  let delivered = 0;
  let wake = () => {};
  child.on('message', (count: number) => {
    delivered = count;
    wake();
  });
  return {
    port,
    pid: child.pid!,
    async reached(count) {
      while (delivered < count) {
        const before = delivered;
        let stuck: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          stuck = setTimeout(resolve, STUCK_MS);
        });
        clearTimeout(stuck);
        if (delivered === before) throw new Error(`${count - delivered} messages did not arrive`);
      }
    },
    stop: () => void child.disconnect(),
  };
}
