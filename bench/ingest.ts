// Measures accepted messages per second and the time from the end of DATA to the hub's event. It compares them with their upper bounds:
// smtp-server with an empty handler, and single-row inserts into the same PostgreSQL; and with Postfix, with and without Dovecot. All are
// part of one run, since the speed of machines drifts. Arguments select parts by the names of their figures: `npm run bench ingest '4 kB,
// 20' peers`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { connect, type Sql } from '../src/store/postgres/driver/client.js';
import { junkFilterCosts } from './ingest/junk-filter.js';
import { runPeers } from './ingest/peers.js';
import { cpuSeconds, difference } from './support/cpu-time.js';
import { databaseWork, hotShare } from './support/database-work.js';
import { figure, latency, percentile, withGoal } from './support/figures.js';
import { type BenchNode, startBenchNode } from './support/node.js';
import { untilSearchable } from './support/searchable.js';
import { SmtpSender, smtpLoad } from './support/smtp-load.js';
import { textOf } from './support/text.js';

const ACCOUNTS = 200;
const LATENCY_SAMPLES = 300;
const TEXTS = 500;
/** In octets, approximately. */
const HEADER = 180;
const RECIPIENTS = [
  { recipients: 1, messages: 3_000 },
  { recipients: 2, messages: 3_000 },
  { recipients: 100, messages: 150 },
];
/** In the first turns, V8 compiles the code that delivers a message to several mailboxes. */
const WARM_TURNS = 3;
const TURNS = 5;

interface Scenario {
  readonly name: string;
  readonly size: number;
  readonly connections: number;
  readonly messages: number;
  /** In µs of processor time per message. */
  readonly goal?: number;
  /** True when the text has some hundred different words, as real mail has; otherwise it has fifteen. */
  readonly hasManyWords?: boolean;
}

const SCENARIOS: readonly Scenario[] = [
  { name: '4 kB, 1 connection, 1 recipient', size: 4096, connections: 1, messages: 2_000 },
  {
    name: '4 kB, 20 connections, 1 recipient',
    size: 4096,
    connections: 20,
    messages: 12_000,
    goal: 600,
  },
  {
    name: '4 kB of many words, 20 connections, 1 recipient',
    size: 4096,
    connections: 20,
    messages: 6_000,
    hasManyWords: true,
  },
  { name: '4 kB, 40 connections, 1 recipient', size: 4096, connections: 40, messages: 12_000 },
  { name: '50 kB, 1 connection, 1 recipient', size: 50_000, connections: 1, messages: 1_000 },
  {
    name: '50 kB, 20 connections, 1 recipient',
    size: 50_000,
    connections: 20,
    messages: 3_000,
    goal: 1000,
  },
];

export async function run(wanted: readonly string[]): Promise<void> {
  const isWanted = (name: string) => wanted.length === 0 || wanted.some((part) => name.includes(part));
  const node = await startBenchNode({ MANSIO_LOG_LEVEL: 'info' });
  const sql = connect(node.database, { max: 1, applicationName: 'bench' });
  try {
    const accounts = await node.createAccounts(ACCOUNTS);
    const emails = accounts.map(({ email }) => email);
    // This load warms up: code is compiled, pools are open, and tables have a size at which query plans are stable.
    await load(node.port('mx'), { size: 4096, connections: 20, messages: 5_000 }, emails);
    await untilSearchable(sql);
    for (const scenario of SCENARIOS.filter(({ name }) => isWanted(name))) {
      await runScenario(node, sql, scenario, emails);
    }
    if (isWanted('further recipient')) await furtherRecipients(node, sql, emails);
    if (isWanted('peers')) await runPeers(node, emails);
    if (isWanted('empty handler')) await bareServer();
    if (isWanted('inserts')) await plainInserts(node);
    if (isWanted('event')) await eventLatency(node);
    if (isWanted('junk filter')) await junkFilterCosts();
  } finally {
    await sql.end();
    await node.stop();
  }
}

async function runScenario(node: BenchNode, sql: Sql, scenario: Scenario, emails: readonly string[]): Promise<void> {
  const workBefore = await databaseWork(sql);
  const { rate, node: own, database, words } = await costsOf(node, sql, scenario, emails);
  const workAfter = await databaseWork(sql);
  const wal = ((workAfter.walOctets - workBefore.walOctets) / scenario.messages / 1000).toFixed(1);
  const hot = ['accounts', 'folders'].map((table) => `${table} ${hotShare(workBefore, workAfter, table).toFixed(0)} %`);
  const inAll = own + database + words;
  const goal = scenario.goal === undefined ? '' : `, ${withGoal(inAll, scenario.goal)}`;
  const cpu = `${costText({ node: own, database, words })}: ${inAll.toFixed(0)}${goal}`;
  figure(`accepted, ${scenario.name}`, rate, 'messages/s', `CPU: ${cpu}; WAL ${wal} kB; HOT: ${hot.join(', ')}`);
}

/**
 * Sends messages to one, two and a hundred mailboxes in turns: the cost of a further recipient is smaller than the drift of the machine.
 */
async function furtherRecipients(node: BenchNode, sql: Sql, emails: readonly string[]): Promise<void> {
  const costs = RECIPIENTS.map(() => [] as Costs[]);
  for (let turn = 0; turn < WARM_TURNS + TURNS; turn++) {
    for (const [i, { recipients, messages }] of RECIPIENTS.entries()) {
      const each = await costsOf(node, sql, { size: 4096, connections: 20, messages, recipients }, emails);
      if (turn >= WARM_TURNS) costs[i]!.push(each);
    }
  }
  const medians = costs.map(medianOf);
  const single = medians[0]!;
  for (const [i, { recipients }] of RECIPIENTS.entries()) {
    const each = medians[i]!;
    const note = `${(each.rate * recipients).toFixed(0)} deliveries/s, CPU: ${costText(each)}`;
    figure(`by turns, 4 kB, recipients: ${recipients}`, each.rate, 'messages/s', note);
    if (recipients === 1) continue;
    const further = (of: (costs: Costs) => number) => (of(each) - of(single)) / (recipients - 1);
    const words = further((costs) => costs.words);
    const inAll = further(({ node, database }) => node + database) + words;
    const ofThem = `${words.toFixed(0)} of them for words, ${withGoal(inAll, 150)}`;
    figure(`CPU of a further recipient of ${recipients}`, inAll, 'µs', ofThem);
  }
}

/** In µs of processor time per message. */
interface Costs {
  /** In messages per second. */
  readonly rate: number;
  /** The cost until the acceptance. */
  readonly node: number;
  readonly database: number;
  /** The cost of node and database after the acceptance, until the words are found. */
  readonly words: number;
}

type Load = Omit<Scenario, 'name' | 'goal'> & { readonly recipients?: number };

async function costsOf(node: BenchNode, sql: Sql, scenario: Load, emails: readonly string[]): Promise<Costs> {
  const roots = { node: [node.process.pid!], database: [node.databasePid] };
  const before = await cpuSeconds(roots);
  const { accepted, seconds } = await load(node.port('mx'), scenario, emails);
  const after = await cpuSeconds(roots);
  const used = difference(after, before);
  if (accepted !== scenario.messages) throw new Error(`${scenario.messages - accepted} messages were not accepted`);
  await untilSearchable(sql);
  const later = difference(await cpuSeconds(roots), after);
  const micros = (cpu: number) => (cpu / accepted) * 1e6;
  // The node has started the database.
  return {
    rate: accepted / seconds,
    node: micros(used.node - used.database),
    database: micros(used.database),
    words: micros(later.node),
  };
}

function medianOf(costs: readonly Costs[]): Costs {
  const median = (of: (costs: Costs) => number) => percentile(costs.map(of), 0.5);
  return {
    rate: median(({ rate }) => rate),
    node: median(({ node }) => node),
    database: median(({ database }) => database),
    words: median(({ words }) => words),
  };
}

const costText = ({ node, database, words }: Omit<Costs, 'rate'>): string =>
  `node ${node.toFixed(0)} µs + database ${database.toFixed(0)} µs + ${words.toFixed(0)} µs later, until words are found`;

function load(port: number, scenario: Load, emails: readonly string[]) {
  const { recipients = 1 } = scenario;
  const texts = Array.from({ length: scenario.hasManyWords === true ? TEXTS : 0 }, (_, n) =>
    textOf(n, scenario.size - HEADER),
  );
  return smtpLoad({
    ...scenario,
    ...(texts.length > 0 && { texts }),
    host: '127.0.0.1',
    ports: [port],
    recipients: (i) => Array.from({ length: recipients }, (_, r) => emails[(i + r) % emails.length]!),
  });
}

async function bareServer(): Promise<void> {
  const script = fileURLToPath(new URL('./support/peers/empty-smtp.js', import.meta.url));
  const server = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  for (const connections of [1, 20]) {
    const messages = connections === 1 ? 5_000 : 20_000;
    const scenario = { size: 4096, connections, messages };
    await load(Number(line), { ...scenario, messages: 2_000 }, ['you@example.test']);
    const { accepted, seconds } = await load(Number(line), scenario, ['you@example.test']);
    figure(`smtp-server, empty handler: 4 kB, ${connections} connection(s)`, accepted / seconds, 'messages/s');
  }
  server.kill();
}

async function plainInserts(node: BenchNode): Promise<void> {
  const sql = connect(node.database, { max: 20, applicationName: 'bench' });
  await sql`create table if not exists bench_insert (id bigint generated always as identity primary key, data text)`;
  const data = 'x'.repeat(4096);
  for (const workers of [1, 20]) {
    let left = workers === 1 ? 3_000 : 10_000;
    const rows = left;
    const started = performance.now();
    await Promise.all(
      Array.from({ length: workers }, async () => {
        while (left-- > 0) await sql`insert into bench_insert (data) values (${data})`;
      }),
    );
    const seconds = (performance.now() - started) / 1000;
    figure(`plain insert loop, one 4 kB row a commit, ${workers} at once`, rows / seconds, 'rows/s');
  }
  await sql`drop table bench_insert`;
  await sql.end();
}

/** Sends one message at a time to an idle node: the 250 and the event are timed from the last octet of DATA. */
async function eventLatency(node: BenchNode): Promise<void> {
  const [account] = await node.createAccounts(1);
  const key = await node.createKey(account!.id);
  const hub = new HubConnectionBuilder()
    .withUrl(`http://127.0.0.1:${node.port('http')}/hubs/email`, { accessTokenFactory: () => key })
    .configureLogging(LogLevel.None)
    .build();
  let arrived: ((at: number) => void) | undefined;
  hub.on('NewEmail', () => arrived?.(performance.now()));
  await hub.start();
  const sender = await SmtpSender.open('127.0.0.1', node.port('mx'));
  const toReply: number[] = [];
  const toEvent: number[] = [];
  for (let i = 0; i < LATENCY_SAMPLES; i++) {
    const event = new Promise<number>((resolve) => {
      arrived = resolve;
    });
    const message = `From: a@remote.test\r\nTo: ${account!.email}\r\nSubject: ${i}\r\n\r\n${'text\r\n'.repeat(650)}.\r\n`;
    let sent = 0;
    await sender.send('a@remote.test', [account!.email], message, () => {
      sent = performance.now();
    });
    const replied = performance.now();
    toEvent.push((await event) - sent);
    toReply.push(replied - sent);
  }
  sender.close();
  await hub.stop();
  latency('end of DATA to hub event, 4 kB, unloaded', toEvent.slice(20), 3);
  latency('end of DATA to 250, 4 kB, unloaded', toReply.slice(20));
}
