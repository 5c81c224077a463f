import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { findEmbedded, startEmbedded } from '../../../src/store/embedded/embedded.js';
import { LocalFault } from '../../../src/store/local/local-fault.js';
import { identityOf, processesAt } from '../../../src/store/local/process-identity.js';
import { connect, type DatabaseAddress, type Sql } from '../../../src/store/postgres/driver/client.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';

const log = pino({ level: 'silent' });
const settings = { shared_buffers: '16MB' };
const start = (dataDir: string) => startEmbedded({ dataDir, log, settings });
/** Prints the pid of the database that it starts. */
const LEAVES_A_SERVER = `
  const { startEmbedded } = await import(${JSON.stringify(new URL('../../../src/store/embedded/embedded.js', import.meta.url).href)});
  const log = { info() {}, warn() {}, error() {} };
  const { pid } = await startEmbedded({ dataDir: process.argv[1], log, settings: { shared_buffers: '16MB' } });
  console.log(pid);
  setInterval(() => {}, 1000);`;
/** Continues after a signal, as a node does until it has stopped what it started. */
const CREATES_AND_STOPS = `
  process.on('SIGINT', () => {});
  const { startEmbedded } = await import(${JSON.stringify(new URL('../../../src/store/embedded/embedded.js', import.meta.url).href)});
  const log = { info() {}, warn() {}, error() {} };
  await (await startEmbedded({ dataDir: process.argv[1], log, settings: { shared_buffers: '16MB' } })).stop();`;
const isRoot = process.getuid?.() === 0;

async function query<T>(address: DatabaseAddress, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect(address, { max: 1, applicationName: 'test' });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

test('a new directory gets a durable server on a private socket, and keeps its data', async (t) => {
  const dataDir = temporaryDirectory('mansio-embedded-');
  t.is(findEmbedded(dataDir), undefined);
  const first = await start(dataDir);
  t.true(first.owned);
  t.deepEqual(findEmbedded(dataDir), first.address);
  const rows = await query(first.address, async (sql) => {
    await sql`create table kept (n int)`;
    return sql<{ name: string; setting: string }[]>`select name, setting from pg_settings`;
  });
  const value = new Map(rows.map(({ name, setting }) => [name, setting]));
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums']) t.is(value.get(name), 'on');
  t.is(value.get('listen_addresses'), '');
  t.is(value.get('server_encoding'), 'UTF8');
  t.is(value.get('lc_collate') ?? 'C', 'C');
  t.is(statSync(first.address.host!).mode & 0o777, 0o700);
  await t.throwsAsync(start(dataDir), { instanceOf: LocalFault, message: /in use by another running Mansio/ });
  await first.stop();
  t.is(findEmbedded(dataDir), undefined);

  const second = await start(dataDir);
  t.deepEqual([...(await query(second.address, (sql) => sql`select * from kept`))], []);
  await second.stop();
});

test('a pid file that is empty or garbage does not stop the start', async (t) => {
  const dataDir = temporaryDirectory('mansio-embedded-');
  await (await start(dataDir)).stop();
  for (const text of ['', '\0'.repeat(100), 'x1\ny']) {
    writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), text);
    const database = await start(dataDir);
    t.is((await query(database.address, (sql) => sql`select 1`)).length, 1);
    await database.stop();
  }
});

test('a server whose pid file was torn is ended before another is started', async (t) => {
  const dataDir = temporaryDirectory('mansio-embedded-');
  const left = spawn(process.execPath, ['--input-type=module', '-e', LEAVES_A_SERVER, dataDir], { stdio: 'pipe' });
  const pid = Number(String((await once(left.stdout, 'data'))[0]));
  left.kill('SIGKILL');
  await once(left, 'exit');
  writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), '');
  const database = await start(dataDir);
  t.is(identityOf(pid), undefined);
  t.not(database.pid, pid);
  await query(database.address, (sql) => sql`select 1`);
  await database.stop();
});

test('processes that are stopped and have lost their postmaster keep no start waiting', async (t) => {
  const dataDir = temporaryDirectory('mansio-embedded-');
  const left = spawn(process.execPath, ['--input-type=module', '-e', LEAVES_A_SERVER, dataDir], { stdio: 'pipe' });
  const pid = Number(String((await once(left.stdout, 'data'))[0]));
  left.kill('SIGKILL');
  await once(left, 'exit');
  const directory = join(realpathSync(dataDir), 'postgres');
  const children = processesAt(directory).filter((each) => each !== pid);
  t.true(children.length > 0);
  for (const child of children) process.kill(child, 'SIGSTOP');
  process.kill(pid, 'SIGKILL');
  const database = await start(dataDir);
  t.true(children.every((child) => identityOf(child) === undefined));
  await query(database.address, (sql) => sql`select 1`);
  await database.stop();
});

test('a server that dies is started again', async (t) => {
  const dataDir = temporaryDirectory('mansio-embedded-');
  const database = await start(dataDir);
  const pid = database.pid;
  process.kill(pid, 'SIGKILL');
  await until(() => database.pid !== pid);
  await query(database.address, (sql) => sql`select 1`);
  await database.stop();
  t.is(identityOf(database.pid), undefined);
});

test('a long data directory gets its socket elsewhere', async (t) => {
  const dataDir = join(temporaryDirectory('mansio-embedded-'), 'x'.repeat(100));
  const database = await start(dataDir);
  t.true(Buffer.byteLength(database.address.host!) < 90);
  t.is(statSync(database.address.host!).mode & 0o777, 0o700);
  t.deepEqual(findEmbedded(dataDir), database.address);
  await query(database.address, (sql) => sql`select 1`);
  await database.stop();
  t.false(existsSync(database.address.host!));
});

test('a creation that was cut off is begun again', async (t) => {
  const dataDir = temporaryDirectory('mansio-embedded-');
  mkdirSync(join(dataDir, 'postgres.new-0123', 'base'), { recursive: true });
  const database = await start(dataDir);
  await query(database.address, (sql) => sql`select 1`);
  await database.stop();
  t.false(existsSync(join(dataDir, 'postgres.new-0123')));
});

// The test runs alone: others block the event loop while they create clusters.
test.serial('a Ctrl-C while the database is created leaves a directory that the next start can use', async (t) => {
  let dataDir = '';
  // On a busy machine the creation may pass between two looks: then another one is begun.
  for (let isMet = false; !isMet; ) {
    dataDir = temporaryDirectory('mansio-embedded-');
    // It has its own process group: a terminal sends Ctrl-C to the whole group, PostgreSQL's programs included.
    const args = ['--input-type=module', '-e', CREATES_AND_STOPS, dataDir];
    const node = spawn(process.execPath, args, { detached: true, stdio: 'ignore' });
    const ended = once(node, 'exit');
    // initdb creates three databases; the fourth is Mansio's.
    const creating = () => databasesOfDraft(dataDir) > 3;
    while (!creating() && node.exitCode === null) await delay(1);
    isMet = node.exitCode === null;
    for (; creating() && node.exitCode === null; await delay(1)) process.kill(-node.pid!, 'SIGINT');
    await ended;
  }
  const database = await start(dataDir);
  t.is((await query(database.address, (sql) => sql`select 1`)).length, 1);
  await database.stop();
});

function databasesOfDraft(dataDir: string): number {
  try {
    const draft = readdirSync(dataDir).find((name) => name.startsWith('postgres.new-'));
    return draft === undefined ? 0 : readdirSync(join(dataDir, draft, 'base')).length;
  } catch {
    return 0; // made or renamed meanwhile
  }
}

(isRoot ? test : test.skip)('root runs it as somebody else, also where that user cannot pass', async (t) => {
  const closed = temporaryDirectory('mansio-embedded-');
  chmodSync(closed, 0o700);
  const database = await start(join(closed, 'data'));
  const uid = statSync(join(closed, 'data', 'postgres')).uid;
  t.not(uid, 0);
  const status = readFileSync(`/proc/${database.pid}/status`, 'utf8');
  t.regex(status, new RegExp(`^Uid:\\t${uid}\\t${uid}\\t`, 'm'));
  await query(database.address, (sql) => sql`select 1`);
  await database.stop();
});

(isRoot ? test : test.skip)(
  'root makes it as the owner of the data directory, who can start it afterwards',
  async (t) => {
    const dataDir = temporaryDirectory('mansio-embedded-');
    // Every Linux has this user.
    const [, , uid, gid] = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((line) => line.startsWith('bin:'))!
      .split(':');
    const owner = { uid: Number(uid), gid: Number(gid) };
    chownSync(dataDir, owner.uid, owner.gid);
    const database = await start(dataDir);
    await query(database.address, (sql) => sql`select 1`);
    await database.stop();
    for (const name of readdirSync(dataDir)) t.like(statSync(join(dataDir, name)), owner, name);

    // Root follows no link of that user.
    const target = join(temporaryDirectory('mansio-embedded-'), 'target');
    writeFileSync(target, 'of root');
    rmSync(join(dataDir, 'postgres.start.log'));
    symlinkSync(target, join(dataDir, 'postgres.start.log'));
    await (await start(dataDir)).stop();
    t.is(readFileSync(target, 'utf8'), 'of root');
    t.is(statSync(target).uid, 0);

    // A data directory of a user whom the system does not know belongs to nobody's database.
    const unknown = temporaryDirectory('mansio-embedded-');
    chownSync(unknown, 54_321, 54_321);
    const other = await start(unknown);
    t.not(statSync(join(unknown, 'postgres')).uid, 54_321);
    await other.stop();
  },
);

test('the fault of a cluster that cannot start has the message of PostgreSQL', async (t) => {
  const dataDir = temporaryDirectory('mansio-embedded-');
  const broken = startEmbedded({ dataDir, log, settings: { shared_buffers: 'nonsense' } });
  await t.throwsAsync(broken, { instanceOf: LocalFault, message: /does not start.*shared_buffers/s });
  await (await start(dataDir)).stop();
  // What the server only writes to its log is told as well.
  const wal = join(dataDir, 'postgres', 'pg_wal');
  for (const name of readdirSync(wal)) if (/^[0-9A-F]{24}$/.test(name)) rmSync(join(wal, name));
  const damaged = startEmbedded({ dataDir, log });
  await t.throwsAsync(damaged, { instanceOf: LocalFault, message: /does not start: .*checkpoint record/s });
});
