// Tests connections to PostgreSQL that die silently, with a proxy and a real server, with and without TLS: queries on them fail
// within the patience of the pool, which opens new ones; connections that owe no answer, or have no time limit, are left alone.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import type { ExecutionContext } from 'ava';
import { certificate } from '../../../../dev/certificate.js';
import { freePort } from '../../../../dev/ports.js';
import { type PostgresServer, startPostgresServer } from '../../../../dev/servers/postgres-server.js';
import { startTcpProxy, type TcpProxy } from '../../../../dev/servers/tcp-proxy.js';
import { connect, type Sql, storeFault } from '../../../../src/store/postgres/driver/client.js';
import { Octets } from '../../../../src/store/postgres/driver/octet-parameters.js';
import { eventually } from '../../../scenarios/cluster/support/eventually.js';
import { preparedDirectory } from '../../../support/database/prepared-cluster.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';

const PATIENCE_MS = 800;
/** In ms, of pools whose connections must live: a busy server takes longer than the short patience for an answer. */
const LONG_PATIENCE_MS = 4_000;
/** In ms: far below the minutes after which the system gives up a connection, and far above the patience on a busy machine. */
const SOON_MS = 20_000;

let server: PostgresServer;

test.before(async () => {
  server = await startPostgresServer({
    dataDir: await preparedDirectory('mansio-watched-'),
    settings: { shared_buffers: '32MB' },
  });
});

test.after.always(() => server?.stop());

interface Setting {
  readonly proxy: TcpProxy;
  readonly url: string;
  pool(patienceMs: number | undefined, url?: string): Sql;
}

async function setting(t: ExecutionContext): Promise<Setting> {
  const proxy = await startTcpProxy(server.port);
  t.teardown(() => proxy.close());
  const url = `postgres://mansio@127.0.0.1:${proxy.port}/mansio`;
  return {
    proxy,
    url,
    pool(patienceMs, at = url) {
      const sql = connect(
        { url: at },
        { max: 1, applicationName: 'test', ...(patienceMs === undefined ? {} : { patienceMs }) },
      );
      t.teardown(() => sql.end({ timeout: 0.2 }));
      return sql;
    },
  };
}

/** Returns the ms until the query fails as an unavailable store. */
async function failing(t: ExecutionContext, query: Promise<unknown>): Promise<number> {
  const began = performance.now();
  const fault = storeFault(await t.throwsAsync(query));
  t.is(fault.code, 'store-unavailable');
  t.true(fault.temporary);
  return performance.now() - began;
}

/**
 * Repeats the query while it fails: a try may get the connection that is just ending, and a busy server may take longer than the patience to
 * log in.
 */
async function again<T>(query: () => PromiseLike<T>): Promise<T> {
  return (await eventually('the pool to have a connection', async () => ({ rows: await query() }))).rows;
}

async function recovers(t: ExecutionContext, { proxy }: Setting, sql: Sql): Promise<void> {
  t.deepEqual([...(await again(() => sql`select 1 as one`))], [{ one: 1 }]);
  await proxy.set('dead');
  const took = await failing(t, sql`select 2 as two`);
  t.true(took >= PATIENCE_MS * 0.9, `cut after ${took} ms`);
  t.true(took < SOON_MS, `cut only after ${took} ms`);
  t.deepEqual([...(await again(() => sql`select 3 as three`))], [{ three: 3 }]);
}

test('a query on a dead connection fails within the patience, and the pool goes on', async (t) => {
  const at = await setting(t);
  await recovers(t, at, at.pool(PATIENCE_MS));
});

test('the same in the middle of a transaction, behind others, and over and over', async (t) => {
  const at = await setting(t);
  const sql = at.pool(PATIENCE_MS);
  for (let i = 0; i < 3; i++) {
    const transaction = sql.begin(async (tx) => {
      await tx`select 1`;
      await at.proxy.set('dead');
      await tx`select 2`;
    });
    await failing(t, transaction);
    t.is((await again(() => sql`select 1`)).length, 1);
  }
});

test('what runs long survives without a patience, and is cut with one', async (t) => {
  const at = await setting(t);
  const [slow] = await Promise.all([
    at.pool(undefined)`select pg_sleep(${(PATIENCE_MS * 2.5) / 1000})`,
    failing(t, at.pool(PATIENCE_MS)`select pg_sleep(${(PATIENCE_MS * 2.5) / 1000})`),
  ]);
  t.is(slow.length, 1);
});

test.serial('connections that owe nothing are left alone', async (t) => {
  const { pool } = await setting(t);
  const sql = pool(LONG_PATIENCE_MS);
  const heard: string[] = [];
  let connections = 0;
  await sql.listen(
    'quiet',
    (payload) => heard.push(payload),
    () => void connections++,
  );
  const octets = randomBytes(300_000);
  const echo = sql<[{ octets: Buffer }]>`select ${new Octets([octets])}::bytea as octets`;
  t.true((await echo)[0].octets.equals(octets));
  const pid = async () => (await sql<[{ pid: number }]>`select pg_backend_pid() as pid`)[0].pid;
  const before = await pid();
  await new Promise((resolve) => setTimeout(resolve, LONG_PATIENCE_MS * 1.5));
  t.is(await pid(), before);
  await sql.notify('quiet', 'still there');
  await until(() => heard.length > 0);
  t.is(connections, 1);
});

test.serial('what was idle when another one died is not waited for', async (t) => {
  const at = await setting(t);
  const [busy, idle] = [at.pool(PATIENCE_MS), at.pool(60_000)];
  await Promise.all([again(() => busy`select 1`), idle`select 1`]);
  await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  await at.proxy.set('dead');
  await failing(t, busy`select 1`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const began = performance.now();
  t.is((await idle`select 1`).length, 1);
  t.true(performance.now() - began < SOON_MS);
});

test('a login that is not answered fails within the patience', async (t) => {
  const at = await setting(t);
  await at.proxy.set('black hole');
  const sql = at.pool(PATIENCE_MS);
  t.true((await failing(t, sql`select 1`)) < SOON_MS);
  await at.proxy.set('pass');
  t.is((await again(() => sql`select 1`)).length, 1);
});

test('hosts are tried in turn, and it is said when none of them answers', async (t) => {
  const at = await setting(t);
  const nobody = await freePort();
  const sql = at.pool(PATIENCE_MS, `postgres://mansio@127.0.0.1:${nobody},127.0.0.1:${at.proxy.port}/mansio`);
  t.is((await again(() => sql`select 1`)).length, 1);
  await at.proxy.set('dead');
  await failing(t, sql`select 1`);
  t.is((await again(() => sql`select 1`)).length, 1);
  await at.proxy.set('refuse');
  // The driver loses a query that it gets in the turn in which its connection ends.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await t.throwsAsync(async () => sql`select 1`);
  t.true((await failing(t, sql`select 1`)) < SOON_MS);
  await at.proxy.set('pass');
  t.is((await again(() => sql`select 1`)).length, 1);
});

test('an address that cannot be connected to is a fault, and no more', async (t) => {
  const { pool } = await setting(t);
  for (const at of ['127.0.0.1:1', '255.255.255.255:5432', 'nowhere.invalid:5432']) {
    await t.throwsAsync(async () => pool(PATIENCE_MS, `postgres://mansio@${at}/mansio`)`select 1`);
  }
  const path = connect({ host: '/nonexistent' }, { max: 1, applicationName: 'test', patienceMs: PATIENCE_MS });
  await failing(t, path`select 1`);
});

test.serial('under TLS as well', async (t) => {
  const dataDir = await preparedDirectory('mansio-watched-tls-');
  const secured = await startPostgresServer({ dataDir });
  t.teardown(() => secured.stop());
  const admin = connect({ url: secured.url }, { max: 1, applicationName: 'test' });
  const [{ directory }] = await admin<[{ directory: string }]>`select current_setting('data_directory') as directory`;
  for (const [name, text] of [
    ['server.crt', certificate.cert],
    ['server.key', certificate.key],
  ] as const) {
    await admin.unsafe(`copy (select unnest(string_to_array('${text.trim()}', chr(10)))) to '${directory}/${name}'`);
    chmodSync(`${directory}/${name}`, 0o600);
  }
  await admin`alter system set ssl = on`;
  await admin`select pg_reload_conf()`;
  await admin.end();

  const proxy = await startTcpProxy(secured.port);
  t.teardown(() => proxy.close());
  const pool = (patienceMs: number, port = proxy.port) => {
    const url = `postgres://mansio@127.0.0.1:${port}/mansio?sslmode=require`;
    const sql = connect({ url }, { max: 1, applicationName: 'test', patienceMs });
    t.teardown(() => sql.end({ timeout: 0.2 }));
    return sql;
  };
  const lasting = pool(LONG_PATIENCE_MS);
  t.is((await lasting<[{ long: string }]>`select repeat('x', 3000000) as long`)[0].long.length, 3_000_000);
  const pid = async () => (await lasting<[{ pid: number }]>`select pg_backend_pid() as pid`)[0].pid;
  const before = await pid();
  await new Promise((resolve) => setTimeout(resolve, LONG_PATIENCE_MS * 1.5));
  t.is(await pid(), before);
  const sql = pool(PATIENCE_MS);
  const encrypted = () => sql<[{ ssl: boolean }]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
  t.true((await again(encrypted))[0].ssl);
  for (let i = 0; i < 2; i++) {
    await proxy.set('dead');
    const took = await failing(t, sql`select 2 as two`);
    t.true(took < SOON_MS, `cut only after ${took} ms`);
    t.true((await again(encrypted))[0].ssl);
    const transaction = sql.begin(async (tx) => {
      await tx`select 1`;
      await proxy.set('dead');
      await tx`select 2`;
    });
    await failing(t, transaction);
    t.true((await again(encrypted))[0].ssl);
  }

  // The octets that are wrong end this connection, not its patience.
  const garbled = pool(LONG_PATIENCE_MS, await garblingProxy(t, secured.port));
  await again(() => garbled`create table if not exists written (n int)`);
  // The answer is lost, but the row is there.
  await failing(
    t,
    garbled`insert into written select 1 from (select set_config('application_name', 'garble', false)) g`,
  );
  t.is((await again(() => sql`select from written`)).length, 1);
});

/** Changes the last octet of what the server sends once a session of the name `garble` has written a row. */
async function garblingProxy(t: ExecutionContext, target: number): Promise<number> {
  const watching = connect(
    { url: `postgres://mansio@127.0.0.1:${target}/mansio` },
    { max: 1, applicationName: 'test' },
  );
  t.teardown(() => watching.end());
  const proxy = createServer((client) => {
    const server = createConnection({ port: target, host: '127.0.0.1' });
    for (const socket of [client, server]) socket.on('error', () => {});
    client.pipe(server);
    server.on('data', async (octets) => {
      server.pause();
      const [{ isDone }] = await watching<[{ isDone: boolean }]>`
        select exists (select from pg_stat_activity where application_name = 'garble') as "isDone"`;
      if (isDone) octets[octets.length - 1]! ^= 1;
      client.write(octets);
      server.resume();
    });
    client.on('close', () => server.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => proxy.close());
  return (proxy.address() as AddressInfo).port;
}
