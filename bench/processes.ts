// Compares a node of one process with nodes of several, in turns, on one PostgreSQL and one NATS server: accepted messages per second, and
// the processor time of each program per message. `npm run bench processes [count …]` compares other numbers of processes than 1 and 2.
// BENCH_ROUNDS: turns of each; BENCH_MESSAGES: messages per turn; BENCH_CONNECTIONS: connections of the sender.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startNodeProcess, UNLIMITED } from '../dev/node-process.js';
import { freePort } from '../dev/ports.js';
import { startNatsServer } from '../dev/servers/nats-server.js';
import { startPostgresServer } from '../dev/servers/postgres-server.js';
import { temporaryDirectoryOnDisk } from '../dev/temporary-directory.js';
import { postgresDirectory } from '../src/store/postgres/accounts/directory.js';
import { connect } from '../src/store/postgres/driver/client.js';
import { postgresLeases } from '../src/store/postgres/leases.js';
import { cpuSeconds, difference, sharesOf } from './support/cpu-time.js';
import { figure } from './support/figures.js';
import { loadAverage } from './support/machine.js';
import { smtpLoad } from './support/smtp-load.js';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 2);
const MESSAGES = Number(process.env['BENCH_MESSAGES'] ?? 3_000);
/** The messages for each process: a process that has just started is slow. */
const WARM_EACH = 1_500;
const CONNECTIONS = Number(process.env['BENCH_CONNECTIONS'] ?? 20);
const ACCOUNTS = 200;

export async function run(args: readonly string[]): Promise<void> {
  const counts = args.length === 0 ? [1, 2] : args.map(Number);
  if (counts.some((count) => !Number.isInteger(count) || count < 1)) throw new Error('processes [count …]');
  const directory = temporaryDirectoryOnDisk('mansio-bench-');
  const nats = await startNatsServer();
  const postgres = await startPostgresServer({ dataDir: directory, port: await freePort() });
  try {
    for (let round = 0; round < ROUNDS; round++)
      for (const count of counts) await turn(count, join(directory, `parent-${count}`), nats, postgres);
    process.stdout.write(`  load average at the end ${loadAverage()}\n`);
  } finally {
    await nats.stop();
    await postgres.stop();
  }
}

async function turn(
  count: number,
  dataDir: string,
  nats: { readonly url: string; readonly pid: number },
  postgres: { readonly url: string; readonly pid: number },
): Promise<void> {
  const node = await startNodeProcess({
    ...UNLIMITED,
    DATABASE_URL: postgres.url,
    NATS_URL: nats.url,
    MANSIO_PROCESSES: String(count),
    MANSIO_DATA_DIR: dataDir,
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_LOG_LEVEL: process.env['BENCH_LOG_LEVEL'] ?? 'warn',
    ...Object.fromEntries(
      ['HTTP', 'MX', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS', 'POP3', 'POP3S'].map((name) => [
        `MANSIO_${name}_PORT`,
        '0',
      ]),
    ),
  });
  const sql = connect({ url: postgres.url }, { max: 4, applicationName: 'bench' });
  try {
    const { leases } = await postgresLeases(sql).view();
    const store = postgresDirectory(sql, leases.length);
    const names = Array.from({ length: ACCOUNTS }, () => `user-${randomBytes(6).toString('hex')}@example.test`);
    for (const name of names) await store.createAccount(name, 'Bench');
    const load = (messages: number) =>
      smtpLoad({
        host: '127.0.0.1',
        ports: [Number(node.ready.listeners['mx']!.replace(/^.*:/, ''))],
        connections: CONNECTIONS,
        messages,
        size: 4096,
        recipients: (i) => [names[i % names.length]!],
      });
    await load(WARM_EACH * count);
    const pids = { nodes: [node.pid], database: [postgres.pid], NATS: [nats.pid] };
    const [before, own] = [await cpuSeconds(pids), process.cpuUsage()];
    const { accepted, seconds } = await load(MESSAGES);
    const { user, system } = process.cpuUsage(own);
    const { machine, ...servers } = difference(await cpuSeconds(pids), before);
    if (accepted !== MESSAGES) throw new Error(`${MESSAGES - accepted} messages were not accepted`);
    const used = { ...servers, 'load generator': (user + system) / 1e6 };
    const of = count === 1 ? '1 node' : `${count} processes`;
    figure(`accepted by ${of}, 4 kB, ${CONNECTIONS} connections`, accepted / seconds, 'messages/s');
    const each = Object.entries(used).map(([name, share]) => `${name} ${((share / accepted) * 1e6).toFixed(0)}`);
    process.stdout.write(
      `    CPU ${sharesOf({ machine, ...used }, seconds)}\n    CPU a message in µs: ${each.join(', ')}\n`,
    );
  } finally {
    await sql.end({ timeout: 1 });
    await node.stop();
  }
}
