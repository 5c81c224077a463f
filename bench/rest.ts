// Measures REST on a store of a million emails, 100,000 of them in one mailbox: reads and marks by one client and by 32, also while mail
// arrives; searches; and the export of a mailbox with the memory that it takes. `npm run bench rest 20000 reads mark`: a store of 20,000
// emails, half of them in the one mailbox, only one part, and only its figures with `mark` in their names.
//
// Filling the store takes most of the time. `BENCH_STORES=DIRECTORY` keeps filled stores there, which later runs copy, also those of other
// versions: the node migrates the schema. `BENCH_STORES=DIRECTORY npm run bench rest fill` only makes such a store.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect } from '../src/store/postgres/driver/client.js';
import { cpuSeconds, difference, ownCpuSeconds } from './support/cpu-time.js';
import { figure, latency, percentile, withGoal } from './support/figures.js';
import { HttpConnection, type LoadReply, requestOctets } from './support/http-load.js';
import { fillStore, rareWordOf, wordOf } from './support/large-store.js';
import { startMail } from './support/mail-stream.js';
import { type BenchAccount, type BenchNode, startBenchNode } from './support/node.js';
import type { BareListening } from './support/peers/bare-http.js';

const PARTS = ['reads', 'search', 'export', 'fill'] as const;
const EMAILS = 1_000_000;
const MOST_IN_ONE = 100_000;
const ENVIRONMENT = { MANSIO_LOG_LEVEL: 'warn', MANSIO_MBOX_EXPORT_INTERVAL: '0' };
const ACCOUNTS = 50;
const CLIENTS = 32;
const SAMPLES = 200;
/** The samples of runs with all clients: enough for a 99th percentile and for the clock of processor time. */
const MANY_SAMPLES = 3_200;
/** The requests of each operation before its figures: V8 compiles their code a second time, and uses a core for that. */
const WARM_SAMPLES = 6_400;
/** The time of mail before the figures with mail: messages load the mailboxes of all accounts and compile the code. */
const WARM_MAIL_SECONDS = 10;
/** The time of a run with continuous mail: hundreds of messages arrive meanwhile. */
const MAIL_SECONDS = 3;
const ARRIVING = 200;
/** The requests per second of each client that pauses between requests. */
const PACE = 10;

type Part = (typeof PARTS)[number];
/** Returns the request with this number. */
type Request = (i: number) => Buffer;

interface Bench {
  readonly node: BenchNode;
  readonly accounts: readonly BenchAccount[];
  /** The number of emails of the large mailbox. */
  readonly large: number;
  isWanted(figure: string): boolean;
  readonly key: string;
  readonly connections: readonly HttpConnection[];
  get(path: string): Buffer;
}

export async function run(args: readonly string[] = []): Promise<void> {
  const emails = Number(args.find((arg) => /^\d+$/.test(arg)) ?? EMAILS);
  const named = PARTS.filter((part) => args.includes(part));
  const parts: readonly Part[] = named.length === 0 ? PARTS : named;
  const names = args.filter((arg) => !/^\d+$/.test(arg) && !PARTS.some((part) => part === arg));
  const isWanted = (figure: string) => names.length === 0 || names.some((name) => figure.includes(name));
  const large = Math.min(MOST_IN_ONE, Math.ceil(emails / 2));
  const kept = await keepFilled(emails, large);
  if (parts.every((part) => part === 'fill')) return;
  const node = kept === undefined ? await startFilled(emails, large) : await startBenchNode(ENVIRONMENT, kept);
  try {
    const accounts = await accountsOf(node);
    const key = await node.createKey(accounts[0]!.id);
    const connections = Array.from({ length: CLIENTS }, () => new HttpConnection(node.port('http')));
    const get = (path: string) => requestOctets('GET', path, key);
    const bench = { node, accounts, large, isWanted, key, connections, get };
    const first = performance.now();
    const ids = idsOf(await asked(bench, get('/api/emails?pageSize=100')));
    figure(`first list of ${large}, which loads the mailbox`, performance.now() - first, 'ms');
    if (parts.includes('reads')) await measureReads(bench, ids);
    if (parts.includes('search')) await measureSearch(bench);
    for (const connection of connections) connection.close();
    if (parts.includes('export')) await exported(node, key);
  } finally {
    await node.stop();
  }
}

/** Returns the directory of a stored copy with `emails` emails; undefined when none are kept. */
async function keepFilled(emails: number, large: number): Promise<string | undefined> {
  const stores = process.env['BENCH_STORES'];
  if (stores === undefined) return undefined;
  const kept = join(stores, `rest-${emails}`);
  if (!existsSync(kept)) {
    await mkdir(stores, { recursive: true });
    await (await startFilled(emails, large)).stopAndKeep(kept);
  }
  return kept;
}

/** Starts a node whose store has `emails` emails, `large` of them in the first account. */
async function startFilled(emails: number, large: number): Promise<BenchNode> {
  const node = await startBenchNode(ENVIRONMENT);
  try {
    await fill(node, emails, large);
    return node;
  } catch (error) {
    await node.stop();
    throw error;
  }
}

async function fill(node: BenchNode, emails: number, large: number): Promise<void> {
  const accounts = await node.createAccounts(ACCOUNTS);
  const others = Math.floor((emails - large) / (ACCOUNTS - 1));
  const started = performance.now();
  await fillStore(node.database, new Map(accounts.map(({ id }, i) => [id, i === 0 ? large : others])));
  figure(`made a searchable store of ${emails} emails`, (performance.now() - started) / 1000, 's');
}

/** The account with the most emails is the first. */
async function accountsOf(node: BenchNode): Promise<readonly BenchAccount[]> {
  const sql = connect(node.database, { max: 1, applicationName: 'bench' });
  const accounts = await sql<BenchAccount[]>`
    select a.id, a.email from accounts a join folders f on f.account_id = a.id and f.role = 'inbox' order by f.total desc`;
  await sql.end();
  return accounts;
}

async function measureReads(bench: Bench, ids: readonly string[]): Promise<void> {
  const { key, get } = bench;
  const idOf = (i: number) => ids[i % ids.length]!;
  const labelOf = requestOctets('POST', '/api/labels', key, { name: 'Bench', color: '#808080', sortOrder: 0 });
  const { id: labelId } = JSON.parse((await asked(bench, labelOf, 201)).body.toString()) as { id: string };
  for (const id of ids) {
    await asked(bench, requestOctets('POST', `/api/labels/emails/${id}`, key, { labelId }), 204);
  }
  const goal = { median: 5, p99: 25 };
  const operations: readonly (readonly [string, Request, { median: number; p99: number }?])[] = [
    ['list, page 1 to 3', (i) => get(`/api/emails?page=${1 + (i % 3)}`), goal],
    ['list of a label', () => get(`/api/labels/${labelId}/emails`)],
    ['detail', (i) => get(`/api/emails/${idOf(i)}`), goal],
    ['thread', (i) => get(`/api/emails/threads/${idOf(i)}`), goal],
    [
      'mark read',
      // Each request of a round changes one email; the next round marks it the other way.
      (i) => requestOctets('PATCH', `/api/emails/${idOf(i)}`, key, { isRead: Math.floor(i / ids.length) % 2 === 0 }),
      goal,
    ],
  ];
  await timed(bench, 'list, first of the node', { clients: CLIENTS, samples: MANY_SAMPLES }, operations[0]![1]);
  for (const [, request] of operations) await load(bench, { clients: CLIENTS, samples: WARM_SAMPLES }, request);
  for (const [name, request] of operations) await both(bench, name, request);
  await bareList(bench, operations[0]![1](0));
  const { node, accounts } = bench;
  const mail = await startMail(
    node.port('mx'),
    accounts.map(({ email }) => email),
    ARRIVING,
  );
  process.stdout.write(`  While ${ARRIVING} messages a second arrive for ${ACCOUNTS} accounts, by turns:\n`);
  const loading = { clients: CLIENTS, seconds: MAIL_SECONDS };
  await timed(bench, 'list, while the first mail loads the mailboxes', loading, operations[0]![1]);
  // Clients send requests meanwhile, because the node closes connections that are silent for this time.
  await load(bench, { clients: CLIENTS, seconds: WARM_MAIL_SECONDS, pace: 1 }, operations[0]![1]);
  for (const [name, request, goal] of operations) {
    const unpaced = { clients: CLIENTS, seconds: MAIL_SECONDS, goal, showsCpu: true };
    await timed(bench, `${name}, with mail`, unpaced, request);
    const paced = { clients: CLIENTS, samples: MANY_SAMPLES, pace: PACE, goal };
    await timed(bench, `${name}, with mail, ${PACE}/s each`, paced, request);
  }
  figure('messages that arrived', await mail.stop(), 'messages/s');
}

/** Serves the same octets from a server that does nothing else, which shows how much of a list the library and the kernel take. */
async function bareList(bench: Bench, request: Buffer): Promise<void> {
  const label = `list, the same octets of a bare uWebSockets server, ${CLIENTS} client(s)`;
  if (!bench.isWanted(label)) return;
  const { body } = await asked(bench, request);
  const server = fork(fileURLToPath(new URL('support/peers/bare-http.js', import.meta.url)), [String(body.length)]);
  const [{ port }] = (await once(server, 'message')) as [BareListening];
  const connections = Array.from({ length: CLIENTS }, () => new HttpConnection(port));
  await load({ connections }, { clients: CLIENTS, samples: WARM_SAMPLES }, () => request);
  const before = await ownCpuSeconds(server.pid!);
  const takenMs = await load({ connections }, { clients: CLIENTS, samples: MANY_SAMPLES }, () => request);
  const used = (await ownCpuSeconds(server.pid!)) - before;
  for (const connection of connections) connection.close();
  server.kill();
  latency(label, takenMs);
  figure('', (used / takenMs.length) * 1e6, 'µs', `CPU a request of ${body.length} octets`);
}

async function measureSearch(bench: Bench): Promise<void> {
  const { large } = bench;
  const get = (path: string) => bench.get(`/api/emails/search?${path}`);
  const found = async (q: string) => {
    const { totalCount } = JSON.parse((await asked(bench, get(`q=${q}`))).body.toString()) as { totalCount: number };
    figure(`matches of ${q}`, totalCount, 'emails');
  };
  await both(bench, 'search, a rare word', (i) => get(`q=${rareWordOf(1 + ((i * 37) % large))}`));
  await found(wordOf(0));
  // The searches run one after the other, each for the first time.
  const once = { clients: 1, samples: 20, warm: 0 };
  await timed(bench, 'search, a frequent word not asked before', once, (i) => get(`q=${wordOf(i + 1)}`));
  await both(bench, 'search, a frequent word', (i) => get(`q=${wordOf(i % 20)}&page=${1 + (i % 5)}`));
  const prefixes = [...'bcdfghjklmnpqrstvwxyz'].map((letter) => `${letter}a`);
  await found(prefixes[0]!);
  await timed(bench, 'search, a prefix of two letters not asked before', once, (i) => get(`q=${prefixes[i]}`));
  await both(bench, 'search, a prefix', (i) => get(`q=${prefixes[i % 20]}`));
  await both(bench, 'search, two words', (i) => get(`q=${wordOf(i % 50)}+${wordOf(100 + (i % 1000))}`), 800);
  await both(bench, 'search, a phrase', (i) => get(`q=%22${wordOf(200 + (i % 500))}+${wordOf(i % 50)}%22`), 800);
  await both(bench, 'search, flags alone', () => get('isRead=false&hasAttachments=true'));
}

async function both(bench: Bench, name: string, request: Request, samples = MANY_SAMPLES): Promise<void> {
  await timed(bench, name, { clients: 1, samples: SAMPLES }, request);
  await timed(bench, name, { clients: CLIENTS, samples, showsCpu: true }, request);
}

interface Load {
  readonly clients: number;
  /** The number of requests; `seconds` limits the time instead. */
  readonly samples?: number;
  readonly seconds?: number;
  /** The requests per second of each client; without it a client sends the next request as soon as it has its answer. */
  readonly pace?: number;
}

interface Timing extends Load {
  readonly warm?: number;
  readonly showsCpu?: boolean;
  readonly goal?: { readonly median: number; readonly p99: number } | undefined;
}

async function timed(bench: Bench, name: string, timing: Timing, request: Request): Promise<void> {
  const { warm = 20, goal } = timing;
  const label = `${name}, ${timing.clients} client(s)`;
  if (!bench.isWanted(label)) return;
  for (let i = 0; i < warm; i++) await asked(bench, request(i));
  const roots = { node: [bench.node.process.pid!], database: [bench.node.databasePid], client: [process.pid] };
  const before = await cpuSeconds(roots);
  const started = performance.now();
  const takenMs = await load(bench, timing, request);
  const seconds = (performance.now() - started) / 1000;
  const used = difference(await cpuSeconds(roots), before);
  if (goal !== undefined) {
    const p99 = percentile(takenMs, 0.99);
    const note = `p99 ${p99.toFixed(2)} ms, ${withGoal(p99, goal.p99)}`;
    const median = percentile(takenMs, 0.5);
    figure(`${label}, median`, median, 'ms', `${withGoal(median, goal.median)}; ${note}`);
  } else latency(label, takenMs);
  if (timing.showsCpu !== true) return;
  // The node has started the database, and this process has started the node.
  const shares = { node: used.node - used.database, database: used.database, client: used.client - used.node };
  const each = (of: number) => `${((of / takenMs.length) * 1e6).toFixed(0)} µs`;
  const cpu = Object.entries(shares).map(([name, share]) => `${name} ${each(share)}`);
  figure('', takenMs.length / seconds, 'requests/s', `CPU a request: ${cpu.join(', ')}`);
}

/** Returns the duration of each request, in ms. */
async function load(
  { connections }: Pick<Bench, 'connections'>,
  { clients, samples = Number.POSITIVE_INFINITY, seconds = Number.POSITIVE_INFINITY, pace }: Load,
  request: Request,
): Promise<number[]> {
  const takenMs: number[] = [];
  let next = 0;
  const started = performance.now();
  await Promise.all(
    connections.slice(0, clients).map(async (connection, client) => {
      for (let n = 0; next < samples && performance.now() - started < seconds * 1000; n++) {
        const octets = request(next++);
        const due = pace === undefined ? 0 : started + ((n + client / clients) / pace) * 1000;
        const begun = performance.now();
        if (due > begun) await delay(due - begun);
        const { status } = await connection.send(octets);
        // The time counts from when the request was due, so that a delayed client does not hide waiting time.
        takenMs.push(performance.now() - (pace === undefined ? begun : Math.max(due, started)));
        if (status >= 300) throw new Error(`${octets.toString().split('\r\n')[0]}: ${status}`);
      }
    }),
  );
  return takenMs;
}

async function asked({ connections }: Bench, octets: Buffer, expected?: number): Promise<LoadReply> {
  const reply = await connections[0]!.send(octets);
  if (expected === undefined ? reply.status < 300 : reply.status === expected) return reply;
  throw new Error(`${octets.toString().split('\r\n')[0]}: ${reply.status}`);
}

function idsOf({ body }: LoadReply): readonly string[] {
  const { items } = JSON.parse(body.toString()) as { readonly items: readonly { readonly id: string }[] };
  return items.map(({ id }) => id);
}

async function exported(node: BenchNode, key: string): Promise<void> {
  const agent = new Agent();
  const before = residentMb(node);
  let most = before;
  const watching = setInterval(() => {
    most = Math.max(most, residentMb(node));
  }, 50);
  const started = performance.now();
  const { emails, octets } = await new Promise<{ emails: number; octets: number }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    request({ agent, port: node.port('http'), path: '/api/emails/export/mbox', headers }, (response) => {
      let [emails, octets, tail] = [0, 0, ''];
      response.on('data', (piece: Buffer) => {
        octets += piece.length;
        const text = tail + piece.toString('latin1');
        emails += text.split('From ann@').length - 1;
        tail = text.slice(-8);
      });
      response.on('end', () => resolve({ emails, octets }));
      response.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
  clearInterval(watching);
  agent.destroy();
  const seconds = (performance.now() - started) / 1000;
  figure(`export of ${emails} emails`, emails / seconds, 'emails/s', `${(octets / 1e6 / seconds).toFixed(0)} MB/s`);
  figure("the node's memory at most during it", most, 'MB', `${before.toFixed(0)} MB before`);
}

function residentMb(node: BenchNode): number {
  const [kilobytes] = /\d+(?= kB)/.exec(/VmRSS:.*/.exec(readFileSync(`/proc/${node.process.pid}/status`, 'utf8'))![0])!;
  return Number(kilobytes) / 1024;
}
