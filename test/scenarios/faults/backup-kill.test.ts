// Kills backups and restores at any moment: a file is whole or not there, a store is whole or empty, and the command can be repeated.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { createAccount } from '../../../dev/node-accounts.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { SAVED_TABLES } from '../../../src/store/postgres/backup/saved-tables.js';
import { connect, type Sql } from '../../../src/store/postgres/driver/client.js';
import { amount, KILLS } from '../../support/amounts.js';
import { mansio } from '../../support/command.js';
import { bareEnvironment, nodeDirectory, PROGRAM, storeSettings } from '../../support/node.js';
import test from '../../support/test.js';

const BLOBS = amount(40, 200);
const BLOB_OCTETS = 1_000_000;

/** A store with mail of about a megabyte each that does not compress. */
async function filled(sql: Sql): Promise<void> {
  await createAccount(sql, 'zoe@example.test');
  await sql`
    insert into blob_chunks (hash, seq, data)
    select sha256(int4send(i)), n, b.data from generate_series(1, ${BLOBS}) i, generate_series(0, ${BLOB_OCTETS / 8000 - 1}) n,
      lateral (select string_agg(sha256(int4send(i * 1000000 + n * 1000 + k)), '') as data from generate_series(1, 250) k) b`;
}

const LOST = { code: 1, error: 'error: the database ended the connection: its log says why; run the command again' };

const sqlOf = (dataDir: string) =>
  connect({ url: storeSettings(dataDir)['DATABASE_URL']! }, { max: 1, applicationName: 'test' });

function started(dataDir: string, args: readonly string[]) {
  const env = { ...bareEnvironment(), ...storeSettings(dataDir) };
  const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: 'ignore' });
  return { child, ended: once(child, 'exit') };
}

/** Runs the command until its COPY of `table` is under way, and ends its connection to the database. */
async function cutOff(sql: Sql, dataDir: string, args: readonly string[], table: string) {
  const env = { ...bareEnvironment(), ...storeSettings(dataDir) };
  const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  const said = text(child.stderr);
  const cut = () => sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'copy %' and query like ${`%"${table}"%`} and pid <> pg_backend_pid()`;
  while (child.exitCode === null && (await cut()).length === 0) await delay(1);
  const [code] = await ended;
  return { code: code as number, error: (await said).split(/\r?\n/).find((line) => line.startsWith('error: ')) };
}

test('a backup that is killed leaves no file, a restore that is killed an empty store', async (t) => {
  t.timeout(600_000);
  const first = await nodeDirectory();
  const [sql, folder] = [sqlOf(first), temporaryDirectory('mansio-backups-')];
  t.teardown(() => sql.end());
  await filled(sql);
  const file = join(folder, 'backup');
  const part = `${file}.part`;
  const sizeOf = (path: string) => (existsSync(path) ? statSync(path).size : 0);
  for (let kill = 0; kill < KILLS.backups; kill++) {
    const { child, ended } = started(first, ['backup', file]);
    // Later each time; the last one comes when the file is nearly whole.
    const until = 1 + (kill / KILLS.backups) * BLOBS * BLOB_OCTETS;
    while (sizeOf(part) < until && !existsSync(file) && child.exitCode === null) await delay(1);
    child.kill('SIGKILL');
    await ended;
    if (!existsSync(file)) continue;
    t.is((await mansio(first, ['restore', '--check', file])).code, 0, 'a file with the name is whole');
  }
  t.deepEqual(await cutOff(sql, first, ['backup', join(folder, 'cut')], 'blob_chunks'), LOST);
  t.false(['cut', 'cut.part'].some((name) => existsSync(join(folder, name))));
  const saved = await mansio(first, ['backup', file, '--json']);
  t.is(saved.code, 0, saved.stderr);
  t.false(existsSync(part));

  const second = await nodeDirectory();
  const target = sqlOf(second);
  t.teardown(() => target.end());
  const order = SAVED_TABLES.map(({ name }) => name);
  const tables = ['settings', 'accounts', 'blob_chunks', 'folders', 'search_pages'];
  const rows = async () => {
    const [row] =
      await target`select (select count(*)::int from accounts) as accounts, (select count(*)::int from blob_chunks) as chunks`;
    return [row!['accounts'], row!['chunks']];
  };
  const whole = [1, (BLOBS * BLOB_OCTETS) / 8000];
  t.deepEqual(await cutOff(target, second, ['restore', file], 'blob_chunks'), LOST);
  t.deepEqual(await rows(), [0, 0]);
  let killed = 0;
  for (let kill = 0; kill < KILLS.backups; kill++) {
    const { child, ended } = started(second, ['restore', file]);
    const table = tables[kill % tables.length]!;
    const from = order.indexOf(table);
    // A small table may be filled between two looks: then a later one is met.
    const isFilling = async () => {
      const copies = await target<{ name: string }[]>`
        select substring(query from '^copy "([a-z_]+)"') as name from pg_stat_activity
        where datname = current_database() and query like 'copy "%'`;
      return copies.some(({ name }) => order.indexOf(name) >= from);
    };
    while (child.exitCode === null && !(await isFilling())) await delay(1);
    child.kill('SIGKILL');
    const [code] = await ended;
    // The server notices the end of the connection, and undoes the transaction; until then it holds the locks.
    const found = await rows();
    if (code === 0) {
      t.deepEqual(found, whole);
      break;
    }
    killed++;
    t.true([String([0, 0]), String(whole)].includes(String(found)), `all or nothing: ${found}`);
    if (String(found) === String(whole)) break;
  }
  t.true(killed > 0);
  if (String(await rows()) !== String(whole)) {
    const restored = await mansio(second, ['restore', file, '--json']);
    t.is(restored.code, 0, restored.stderr);
    t.deepEqual(JSON.parse(restored.stdout), JSON.parse(saved.stdout));
  }
  t.deepEqual(await rows(), whole);
});
