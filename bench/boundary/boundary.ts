// Measures what it costs a client that its node does not own its mailbox: each operation by turns at the owner and at another node, the time
// of one alone, and the processor time of nodes, database and NATS with several at once.
import { inTime } from '../../src/concurrency/time-bounds.js';
import type { BenchCluster } from '../support/bench-cluster.js';
import { cpuSeconds, difference } from '../support/cpu-time.js';
import { figure, percentile, withGoal } from '../support/figures.js';
import { idleUse, type Servers } from '../support/message-cost.js';
import { untilSearchable } from '../support/searchable.js';
import { smtpLoad } from '../support/smtp-load.js';
import { type Client, OPERATIONS, type Operation, type Place } from './operations.js';

const ACCOUNTS = 8;
const MESSAGES_EACH = 200;
const EMAILS = 20;
const ROUNDS = 4;
/** Code is compiled after thousands of operations. */
const WARM: Amount = { ms: 400, operations: 2_000 };
/** In each round clients connect again, and the first operations of a connection cost more. */
const AGAIN: Amount = { ms: 50, operations: 0 };
const ALONE_MS = 250;
/** Processor time is known to 10 ms. */
const TOGETHER: Amount = { ms: 400, operations: 400 };
const MOST_MS = 4_000;
/** An operation that takes longer than this has failed. */
const STUCK_MS = 20_000;
/** What a boundary costs at most, in multiples of the same at the owner's node. */
const GOAL = 2;
const WHERE = ['owner', 'other'] as const;

/** The least time and number of operations. */
interface Amount {
  readonly ms: number;
  readonly operations: number;
}

type Parts = Record<'nodes' | 'database' | 'NATS', number>;

interface Measured {
  readonly aloneMs: number[];
  /** The operations of several clients at once, and what they cost in seconds of processor time. */
  count: number;
  readonly used: Parts;
}

/** `wanted`: parts of the names of operations; all when there are none. */
export async function boundary(cluster: BenchCluster, wanted: (name: string) => boolean): Promise<void> {
  const [owner, other] = cluster.nodes;
  const ownerOf = await cluster.owners();
  const accounts = cluster.accounts.filter(({ id }) => ownerOf(id) === owner!.name).slice(0, ACCOUNTS);
  await fill(cluster, accounts);
  const places: Record<(typeof WHERE)[number], Place[]> = { owner: [], other: [] };
  for (const account of accounts) {
    const emailIds = await newestOf(owner!.http, account.key);
    const changes = { marks: 0, stores: 0 };
    places.owner.push({ node: owner!, account, emailIds, changes });
    places.other.push({ node: other!, account, emailIds, changes });
  }
  const pids = {
    nodes: cluster.nodes.map((node) => node.process.pid),
    database: [cluster.postgres.pid],
    NATS: cluster.nats.map(({ pid }) => pid),
  };
  const idle = await idleUse({ pids, sql: cluster.sql });
  for (const operation of OPERATIONS.filter(({ name }) => wanted(name))) {
    const measured = { owner: nothing(), other: nothing() };
    for (let round = 0; round <= ROUNDS; round++) {
      for (const where of round % 2 === 0 ? WHERE : WHERE.toReversed()) {
        // Only these clients are connected: otherwise events would go to both nodes.
        const clients = await Promise.all(places[where].map((place) => operation.open(place)));
        await together(clients, round === 0 ? WARM : AGAIN);
        await operation.finished?.(cluster.sql);
        if (round > 0) await take(operation, clients, { pids, sql: cluster.sql }, idle, measured[where]);
        for (const client of clients) await client.close();
      }
    }
    print(operation, measured);
  }
}

async function take(
  { finished }: Operation,
  clients: readonly Client[],
  { pids, sql }: Servers,
  idle: Readonly<Parts>,
  measured: Measured,
): Promise<void> {
  await alone(clients[0]!, measured);
  await finished?.(sql);
  const [before, began] = [await cpuSeconds(pids), performance.now()];
  measured.count += await together(clients, TOGETHER);
  await finished?.(sql);
  const used = difference(await cpuSeconds(pids), before);
  const seconds = (performance.now() - began) / 1000;
  for (const part of ['nodes', 'database', 'NATS'] as const) measured.used[part] += used[part] - idle[part] * seconds;
}

const nothing = (): Measured => ({ aloneMs: [], count: 0, used: { nodes: 0, database: 0, NATS: 0 } });

async function fill({ nodes, sql }: BenchCluster, accounts: BenchCluster['accounts']): Promise<void> {
  await smtpLoad({
    host: '127.0.0.1',
    ports: [Number(nodes[0]!.mx.replace(/^.*:/, ''))],
    connections: ACCOUNTS,
    messages: accounts.length * MESSAGES_EACH,
    size: 4096,
    recipients: (i) => [accounts[i % accounts.length]!.email],
  });
  await untilSearchable(sql);
}

async function newestOf(base: string, key: string): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${key}` };
  const reply = await fetch(`${base}/api/emails?pageSize=${EMAILS}`, { headers });
  const { items } = (await reply.json()) as { readonly items: readonly { readonly id: string }[] };
  return items.map(({ id }) => id);
}

async function alone(client: Client, { aloneMs }: Measured): Promise<void> {
  for (const began = performance.now(); performance.now() - began < ALONE_MS; ) {
    const from = performance.now();
    await ran(client);
    aloneMs.push(performance.now() - from);
  }
}

const ran = (client: Client): Promise<void> => inTime(client.run(), STUCK_MS, 'an operation');

/** All clients run, each one operation after the other; returns how many they were. */
async function together(clients: readonly Client[], least: Amount): Promise<number> {
  const began = performance.now();
  let count = 0;
  const isOver = () => {
    const ms = performance.now() - began;
    return ms > MOST_MS || (ms > least.ms && count >= least.operations);
  };
  await Promise.all(
    clients.map(async (client) => {
      while (!isOver()) {
        await ran(client);
        count++;
      }
    }),
  );
  return count;
}

function print({ name }: Operation, { owner, other }: Record<(typeof WHERE)[number], Measured>): void {
  const micros = ({ used, count }: Measured, part: keyof Parts) => (used[part] / count) * 1e6;
  const cost = (of: Measured) => micros(of, 'nodes') + micros(of, 'database') + micros(of, 'NATS');
  const ms = ({ aloneMs }: Measured) => percentile(aloneMs, 0.5);
  const factor = cost(other) / cost(owner);
  const timeFactor = ms(other) / ms(owner);
  const pair = (of: (each: Measured) => number, digits: number) =>
    `${of(owner).toFixed(digits)} → ${of(other).toFixed(digits)}`;
  const parts = (['nodes', 'database', 'NATS'] as const).map(
    (part) => `${part} ${pair((each) => micros(each, part), 0)}`,
  );
  figure(
    `${name}: other node / owner, CPU`,
    factor,
    '',
    `${withGoal(factor, GOAL)}; µs ${pair(cost, 0)}: ${parts.join(', ')}`,
  );
  figure(
    `${name}: other node / owner, time of one alone`,
    timeFactor,
    '',
    `${withGoal(timeFactor, GOAL)}; ms ${pair(ms, 2)}`,
  );
}
