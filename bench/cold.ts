// Measures what mail costs that arrives at mailboxes which are not in memory, compared with mailboxes which are; each figure has its goal
// (issue 15). `npm run bench cold [mailboxes] [accounts]`: the number of cold mailboxes and unknown addresses, then the number of accounts
// that get mail in turn.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect, type Sql } from '../src/store/postgres/driver/client.js';
import { fillAccounts } from './support/cold-store.js';
import { cpuSeconds, difference } from './support/cpu-time.js';
import { figure, percentile, withGoal } from './support/figures.js';
import { type BenchNode, startBenchNode } from './support/node.js';
import { smtpLoad } from './support/smtp-load.js';

const PRELOAD = fileURLToPath(new URL('./support/collect-garbage.js', import.meta.url));
const WARM = 200;
const COLD = 9_800;
const IN_TURN = 100_000;
/** The number of accounts whose actors are weighed. */
const WEIGHED = 2_000;
const CONNECTIONS = 20;
const OCTETS = 4096;
const WARM_UP = 4_000;
const TENTHS = 10;
/** A domain may have 1,000 unclaimed addresses. */
const ADDRESSES_A_DOMAIN = 980;
/** The limit of the memory of a node's actors. */
const BOUND = 256 * 1024 * 1024;
const GOALS = { more: 500, unclaimed: 1_200, actor: 6, steadiness: 0.7 };

interface Cost {
  /** µs per message, of the node and of the database. */
  readonly node: number;
  readonly database: number;
  readonly rate: number;
}

export async function run([cold = COLD, inTurn = IN_TURN]: readonly (string | number)[]): Promise<void> {
  const unclaimedDomains = Array.from(
    { length: Math.ceil(Number(cold) / ADDRESSES_A_DOMAIN) },
    (_, i) => `unclaimed-${i}.test`,
  );
  const directory = await mkdtemp(join(tmpdir(), 'mansio-bench-memory-'));
  const memoryFile = join(directory, 'octets');
  const node = await startBenchNode({
    MANSIO_LOG_LEVEL: 'warn',
    MANSIO_HOSTED_DOMAINS: ['example.test', ...unclaimedDomains].join(),
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${PRELOAD}`,
    BENCH_MEMORY_FILE: memoryFile,
  });
  const memory = () => collectedOctets(node, memoryFile);
  const sql = connect(node.database, { max: 1, applicationName: 'bench' });
  try {
    const warm = await fillAccounts(sql, 'example.test', WARM);
    if (Number(cold) > 0)
      await coldAndUnclaimed(
        node,
        sql,
        warm,
        await fillAccounts(sql, 'example.test', Number(cold)),
        unclaimedDomains,
        memory,
      );
    else await load(node, warm, WARM_UP);
    if (Number(inTurn) > 0) await touchedInTurn(node, await fillAccounts(sql, 'example.test', Number(inTurn)), memory);
  } finally {
    await sql.end();
    await node.stop();
    await rm(directory, { recursive: true });
  }
}

async function coldAndUnclaimed(
  node: BenchNode,
  sql: Sql,
  warm: readonly string[],
  cold: readonly string[],
  unclaimedDomains: readonly string[],
  memory: () => Promise<number>,
): Promise<void> {
  await load(node, warm, WARM_UP);
  const inMemory = await load(node, warm, cold.length);
  show(`${WARM} mailboxes in memory`, inMemory);
  await madeSearchable(sql, warm);
  const loaded = await load(node, cold, cold.length);
  const more = total(loaded) - total(inMemory);
  const goal = `${more.toFixed(0)} µs more, ${withGoal(more, GOALS.more)}`;
  show(`${cold.length} mailboxes of one email, loaded first`, loaded, goal);
  const unknown = cold.map((_, i) => `nobody-${i}@${unclaimedDomains[i % unclaimedDomains.length]}`);
  const unclaimed = await load(node, unknown, unknown.length);
  show(`${unknown.length} unknown addresses, unclaimed`, unclaimed, withGoal(total(unclaimed), GOALS.unclaimed));
  const again = await load(node, unknown, unknown.length);
  show('the same addresses again, their mailboxes in memory', again);
  // This part is the last, because a forced garbage collection makes V8 compile code again.
  const others = await fillAccounts(sql, 'example.test', WEIGHED);
  const before = await memory();
  await load(node, others, others.length);
  const octets = ((await memory()) - before) / others.length / 1000;
  figure('memory an actor of two emails', octets, 'kB', withGoal(octets, GOALS.actor));
}

/** Waits until the mail is searchable. That happens in the background, some time after delivery, and must not be a load of the next run. */
async function madeSearchable(sql: Sql, addresses: readonly string[]): Promise<void> {
  const isBehind = async () => {
    const [row] = await sql`
      select 1 from accounts a left join search_state s on s.account_id = a.id
      where a.email = any(${addresses as string[]}) and exists (
        select from emails e where e.account_id = a.id and e.id > coalesce(s.upto, '00000000-0000-0000-0000-000000000000'))
      limit 1`;
    return row !== undefined;
  };
  while (await isBehind()) await pause(500);
}

/** Sends one message to each account, and prints by tenths how fast it is and how much memory the node keeps. */
async function touchedInTurn(
  node: BenchNode,
  accounts: readonly string[],
  memory: () => Promise<number>,
): Promise<void> {
  const before = await memory();
  const rates: number[] = [];
  let most = 0;
  const each = Math.ceil(accounts.length / TENTHS);
  for (let from = 0; from < accounts.length; from += each) {
    const some = accounts.slice(from, from + each);
    const { rate } = await load(node, some, some.length);
    rates.push(rate);
    const kept = (await memory()) - before;
    most = Math.max(most, kept);
    figure(
      `${from + some.length} accounts in turn`,
      rate,
      'messages/s',
      `the node keeps ${(kept / 1e6).toFixed(0)} MB more`,
    );
  }
  const [last] = rates.slice(-1);
  const steadiness = last! / percentile(rates, 0.5);
  const isSteady = steadiness >= GOALS.steadiness ? 'reached' : 'MISSED';
  figure('rate of the last tenth, of the median', steadiness, '', `goal ${GOALS.steadiness}: ${isSteady}`);
  figure('most kept for them', most / 1e6, 'MB', withGoal(most / 1e6, BOUND / 1e6));
}

async function load(node: BenchNode, addresses: readonly string[], messages: number): Promise<Cost> {
  const roots = { node: [node.process.pid!], database: [node.databasePid] };
  const before = await cpuSeconds(roots);
  const { accepted, seconds } = await smtpLoad({
    host: '127.0.0.1',
    ports: [node.port('mx')],
    connections: CONNECTIONS,
    messages,
    size: OCTETS,
    recipients: (i) => [addresses[i % addresses.length]!],
  });
  if (accepted !== messages) throw new Error(`${messages - accepted} messages were not accepted`);
  const used = difference(await cpuSeconds(roots), before);
  // The node has started the database.
  const cost = (cpu: number) => (cpu / messages) * 1e6;
  return { node: cost(used.node - used.database), database: cost(used.database), rate: messages / seconds };
}

const total = ({ node, database }: Cost): number => node + database;

function show(name: string, cost: Cost, note = ''): void {
  const parts = `node ${cost.node.toFixed(0)} + database ${cost.database.toFixed(0)} µs, ${cost.rate.toFixed(0)}/s`;
  figure(name, total(cost), 'µs', note === '' ? parts : `${parts}; ${note}`);
}

/** Returns the octets of the node's heap and buffers after a garbage collection. */
async function collectedOctets(node: BenchNode, file: string): Promise<number> {
  // Work in progress ends first.
  await pause(500);
  rmSync(file, { force: true });
  node.process.kill('SIGUSR2');
  while (!existsSync(file)) await pause(50);
  return Number(readFileSync(file, 'utf8'));
}
