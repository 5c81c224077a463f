// Compares a node of one process with nodes of several, in turns, on one PostgreSQL and one NATS server: accepted messages per second, and
// the processor time of each program per message, for mailboxes of the process that takes a message in and of other processes. `npm run
// bench processes [count …]` compares other numbers of processes than 1 and 2. BENCH_ROUNDS: turns of each; BENCH_MESSAGES: messages per
// turn; BENCH_CONNECTIONS: connections of the sender.
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type NodeProcess, startNodeProcess, UNLIMITED } from '../dev/node-process.js';
import { freePort } from '../dev/ports.js';
import { startNatsServer } from '../dev/servers/nats-server.js';
import { startPostgresServer } from '../dev/servers/postgres-server.js';
import { isSettled } from '../dev/settled.js';
import { temporaryDirectoryOnDisk } from '../dev/temporary-directory.js';
import { postgresDirectory } from '../src/store/postgres/accounts/directory.js';
import { connect, type Sql } from '../src/store/postgres/driver/client.js';
import { postgresLeases } from '../src/store/postgres/leases.js';
import { shardOf } from '../src/store/shard.js';
import { processServing, workersOf } from './support/connection-process.js';
import { figure, percentile, withLeast } from './support/figures.js';
import { loadAverage } from './support/machine.js';
import { byTurns, printCosts, type Where } from './support/message-cost.js';
import { type LoadSender, smtpLoad } from './support/smtp-load.js';
import { pause } from './support/write-probe.js';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const MESSAGES = Number(process.env['BENCH_MESSAGES'] ?? 2_000);
/** The messages for each process and kind: a process that has just started is slow. */
const WARM_EACH = 1_500;
const CONNECTIONS = Number(process.env['BENCH_CONNECTIONS'] ?? 20);
const ACCOUNTS = 200;
const SETTLED_MS = 30_000;
/** On two processors, which database and sender use too, two processes accept at least this share of what one accepts. */
const GOAL_ON_TWO = 0.9;

interface Programs {
  readonly nats: { readonly url: string; readonly pid: number };
  readonly postgres: { readonly url: string; readonly pid: number };
}

export async function run(args: readonly string[]): Promise<void> {
  const counts = args.length === 0 ? [1, 2] : args.map(Number);
  if (counts.some((count) => !Number.isInteger(count) || count < 1)) throw new Error('processes [count …]');
  const directory = temporaryDirectoryOnDisk('mansio-bench-');
  const nats = await startNatsServer();
  const postgres = await startPostgresServer({ dataDir: directory, port: await freePort() });
  const rates = new Map<number, number[]>(counts.map((count) => [count, []]));
  try {
    for (let round = 0; round < ROUNDS; round++)
      for (const count of counts)
        rates.get(count)!.push(await turn(count, join(directory, `parent-${count}`), { nats, postgres }));
    compared(counts, rates);
    process.stdout.write(`  load average at the end ${loadAverage()}\n`);
  } finally {
    await nats.stop();
    await postgres.stop();
  }
}

/** Compares the rates of mail for all mailboxes, turn by turn, with those of the first count. */
function compared([first, ...others]: readonly number[], rates: ReadonlyMap<number, readonly number[]>): void {
  const base = rates.get(first!)!;
  for (const count of others) {
    const ratios = rates.get(count)!.map((rate, i) => rate / base[i]!);
    const ratio = percentile(ratios, 0.5);
    const goal = first === 1 && count === 2 && availableParallelism() === 2 ? `${withLeast(ratio, GOAL_ON_TWO)}; ` : '';
    const note = `${goal}turns ${ratios.map((each) => each.toFixed(2)).join(', ')}`;
    figure(`rate of ${count} processes / of ${first}`, ratio, '', note);
  }
}

/** Returns the rate of mail for all mailboxes. */
async function turn(count: number, dataDir: string, { nats, postgres }: Programs): Promise<number> {
  const node = await startNodeProcess({
    ...UNLIMITED,
    DATABASE_URL: postgres.url,
    NATS_URL: nats.url,
    MANSIO_PROCESSES: String(count),
    MANSIO_DATA_DIR: dataDir,
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_LOG_LEVEL: process.env['BENCH_LOG_LEVEL'] ?? 'warn',
    ...Object.fromEntries(
      ['HTTP', 'MX', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS', 'POP3', 'POP3S', 'SIEVE'].map((name) => [
        `MANSIO_${name}_PORT`,
        '0',
      ]),
    ),
  });
  const sql = connect({ url: postgres.url }, { max: 4, applicationName: 'bench' });
  try {
    const recipients = await recipientsOf(node, count, sql);
    const load = (where: Where, messages: number) => {
      const emailsFor = recipients(where);
      return smtpLoad({
        host: '127.0.0.1',
        ports: [portOf(node)],
        connections: CONNECTIONS,
        messages,
        size: 4096,
        recipients: (i, sender) => {
          const emails = emailsFor(sender);
          return [emails[i % emails.length]!];
        },
      });
    };
    const kinds: readonly Where[] = count === 1 ? ['spread'] : ['local', 'remote', 'spread'];
    for (const where of kinds.slice(0, 2)) await load(where, WARM_EACH * count);
    const servers = { pids: { nodes: [node.pid], database: [postgres.pid], NATS: [nats.pid] }, sql };
    const costs = await byTurns(servers, kinds, 1, (where) => load(where, MESSAGES));
    const name = count === 1 ? '1 process' : `${count} processes`;
    return printCosts(`${name}, 4 kB, ${CONNECTIONS} connections`, costs).get('spread')!;
  } finally {
    await sql.end({ timeout: 1 });
    await node.stop();
  }
}

const portOf = ({ ready }: NodeProcess): number => Number(ready.listeners['mx']!.replace(/^.*:/, ''));

/** Makes accounts; returns the addresses for a load: of mailboxes that the process of a connection owns, or that others own. */
async function recipientsOf(node: NodeProcess, count: number, sql: Sql) {
  const owners = await ownersOf(count, sql);
  const directory = postgresDirectory(sql, owners.length);
  const accounts: { readonly email: string; readonly owner: string }[] = [];
  for (let i = 0; i < ACCOUNTS; i++) {
    const email = `user-${randomBytes(6).toString('hex')}@example.test`;
    const { id } = await directory.createAccount(email, 'Bench');
    accounts.push({ email, owner: owners[shardOf(id, owners.length)]! });
  }
  const all = accounts.map(({ email }) => email);
  const [port, workers] = [portOf(node), workersOf(node.pid)];
  const emailsOf = (number: number, isLocal: boolean) =>
    accounts.filter(({ owner }) => owner.endsWith(`.${number}`) === isLocal).map(({ email }) => email);
  return (where: Where) => {
    // A port may belong to another connection in the next load.
    const known = new Map<number, readonly string[]>();
    return ({ localPort }: LoadSender): readonly string[] => {
      if (where === 'spread') return all;
      let emails = known.get(localPort);
      if (emails === undefined) {
        const number = workers.get(processServing(port, localPort, [...workers.keys()]))!;
        emails = emailsOf(number, where === 'local');
        known.set(localPort, emails);
      }
      return emails;
    };
  };
}

/** Resolves with the owner of each shard when every process has its share. */
async function ownersOf(count: number, sql: Sql): Promise<readonly string[]> {
  const leases = postgresLeases(sql);
  for (const deadline = Date.now() + SETTLED_MS; ; ) {
    const view = await leases.view();
    const running = view.nodes.filter(({ expired }) => !expired).map(({ id }) => id);
    if (running.length === count && isSettled(view, running)) return view.leases.map(({ nodeId }) => nodeId!);
    if (Date.now() > deadline) throw new Error(`shards do not settle: ${JSON.stringify(view.nodes)}`);
    await pause(25);
  }
}
