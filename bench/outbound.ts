// Delivered messages a second: small messages by submission to ten domains, each with a server of its own on loopback, from
// the first that is handed in to the last that is delivered; and the same through Postfix, when it is installed. Both have
// five connections a destination and the same number of clients.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startDnsServer, type Zone } from '../dev/dns-server.js';
import { freePort } from '../dev/ports.js';
import { cpuSeconds, difference, sharesOf } from './support/cpu-time.js';
import { figure } from './support/figures.js';
import { startBenchNode } from './support/node.js';
import { startPostfix } from './support/postfix.js';
import { SmtpSender } from './support/smtp-load.js';

const MESSAGES = Number(process.env['BENCH_OUTBOUND_MESSAGES'] ?? 10_000);
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

export async function run(): Promise<void> {
  const sinks = await startSinks();
  try {
    await mansio(sinks);
    await postfix(sinks);
  } finally {
    sinks.stop();
  }
}

let expected = 0;

async function mansio(sinks: Sinks): Promise<void> {
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
  try {
    const accounts = await node.createAccounts(CLIENTS);
    const clients = await Promise.all(
      accounts.map(async ({ id, email }) => ({ email, key: await node.createKey(id, ['smtp']) })),
    );
    const port = node.port('submission');
    const open = async ({ email, key }: { email: string; key: string }) => {
      const sender = await SmtpSender.open('127.0.0.1', port);
      await sender.authenticate(email, key);
      return { sender, from: email };
    };
    // Warm: pools open, tables of a size at which plans settle, code compiled, which goes on for thousands of messages.
    await measured('', sinks, MESSAGES / 2, await Promise.all(clients.map(open)));
    const roots = { node: [node.process.pid!], database: [node.databasePid], sinks: [sinks.pid] };
    const before = await cpuSeconds(roots);
    const seconds = await measured('Mansio', sinks, MESSAGES, await Promise.all(clients.map(open)));
    const all = difference(await cpuSeconds(roots), before);
    // The database is started by the node.
    const used = { ...all, node: all.node - all.database };
    figure('Mansio: CPU of the node a message', (used.node / MESSAGES) * 1e6, 'µs', sharesOf(used, seconds));
    figure('Mansio: CPU of the database a message', (used.database / MESSAGES) * 1e6, 'µs');
  } finally {
    await node.stop();
    await dns.close();
  }
}

async function postfix(sinks: Sinks): Promise<void> {
  const routes = Object.fromEntries(DOMAINS.map((domain, i) => [domain, `${addressOf(i)}:${sinks.port}`]));
  const server = await startPostfix(routes);
  if (server === undefined) {
    process.stdout.write('  Postfix is not installed, or this is not root: nothing to compare with\n');
    return;
  }
  try {
    const open = async () => ({ sender: await SmtpSender.open('127.0.0.1', server.port), from: 'sender@example.test' });
    const clients = () => Promise.all(Array.from({ length: CLIENTS }, open));
    await measured('', sinks, MESSAGES / 2, await clients());
    await measured(`Postfix ${server.version}`, sinks, MESSAGES, await clients());
  } finally {
    await server.stop();
  }
}

/** Seconds from the first message handed in to the last one delivered; no name: not told. */
async function measured(
  name: string,
  sinks: Sinks,
  messages: number,
  clients: readonly { readonly sender: SmtpSender; readonly from: string }[],
): Promise<number> {
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
  const handedIn = (performance.now() - started) / 1000;
  await all;
  const seconds = (performance.now() - started) / 1000;
  for (const { sender } of clients) sender.close();
  if (name !== '') {
    figure(`${name}: delivered, 4 kB, 10 domains`, messages / seconds, 'messages/s');
    figure(`${name}: handed in meanwhile`, messages / handedIn, 'messages/s');
  }
  return seconds;
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
