// Tests transactions whose connection closes, with a real server: they fail, they write all or nothing, and the pool goes on.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { pipeline } from 'node:stream/promises';
import fc from 'fast-check';
import { codeOf, connect, type Sql, storeFault } from '../../../../src/store/postgres/driver/client.js';
import { runs } from '../../../support/amounts.js';
import { type Teardown, testDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';

/** Above the number of statements that the driver by default sends on one connection before it waits. */
const MANY_STATEMENTS = 100;

async function pools(t: Teardown, max: number) {
  const { address } = await testDatabase(t);
  const sql = connect(address, { max, applicationName: 'tested' });
  const other = connect(address, { max: 1, applicationName: 'other' });
  t.teardown(() => Promise.all([sql.end({ timeout: 1 }), other.end()]).then(() => {}));
  await other`create table rows (id int)`;
  const endConnections = () =>
    other<{ pid: number }[]>`
      select pid, pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'tested' and datname = current_database()`;
  /** Resolves when the processes of the server have ended: one that is told to end may go on for a while. */
  const gone = async (ended: readonly { readonly pid: number }[]) => {
    const pids = ended.map(({ pid }) => pid);
    await until(async () => (await other`select from pg_stat_activity where pid = any(${pids}::int[])`).length === 0);
  };
  const count = async () => (await other`select count(*)::int as n from rows`)[0]!['n'] as number;
  return { sql, endConnections, gone, count };
}

/** Resolves when the pool has a connection again. */
async function reconnected(sql: Sql): Promise<void> {
  for (;;) {
    try {
      await sql`select 1`;
      return;
    } catch (error) {
      if (!storeFault(error).temporary) throw error;
    }
  }
}

test('a transaction whose connection has closed fails, also when it hides the error and goes on', async (t) => {
  const { sql, endConnections, count } = await pools(t, 1);
  const begun = sql.begin(async (tx) => {
    await tx`insert into rows values (1)`;
    await endConnections();
    await tx`insert into rows values (2)`.catch(() => {});
    await t.throwsAsync(async () => tx`insert into rows values (3)`, { code: 'CONNECTION_CLOSED' });
    t.throws(() => tx.unsafe('insert into rows values (4)'), { code: 'CONNECTION_CLOSED' });
  });
  const error = await t.throwsAsync(begun);
  t.true(storeFault(error).temporary, codeOf(error));
  await reconnected(sql);
  t.is(await count(), 0);
});

test('no statement of a transaction runs on the next connection of the pool', async (t) => {
  const { sql, endConnections, count } = await pools(t, 1);
  const begun = sql.begin(async (tx) => {
    await tx`insert into rows values (1)`;
    await endConnections();
    await reconnected(sql);
    await tx`insert into rows values (2)`;
  });
  await t.throwsAsync(begun, { code: 'CONNECTION_CLOSED' });
  await reconnected(sql);
  t.is(await count(), 0);
});

test('a transaction that throws is rolled back, and its connection is of use', async (t) => {
  const { sql, count } = await pools(t, 1);
  const begun = sql.begin('read write', async (tx) => {
    await tx`insert into rows ${tx([{ id: 1 }])}`;
    throw new Error('enough');
  });
  await t.throwsAsync(begun, { message: 'enough' });
  t.is(await sql.begin(async (tx) => (await tx`insert into rows values (2) returning id`)[0]!['id']), 2);
  t.is(await count(), 1);
});

test('a COPY that the server refuses after its last octets ends its transaction', async (t) => {
  const { sql, count } = await pools(t, 1);
  await sql`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`;
  await sql`create trigger refuse after insert on rows for each statement execute function refuse()`;
  const begun = sql.begin(async (tx) => {
    await pipeline([Buffer.from('1\n2\n')], await tx`copy rows from stdin`.writable());
  });
  await t.throwsAsync(begun, { message: /refused/ });
  t.is(await count(), 0);
});

test('a server that accepts and closes fails statements instead of being asked in a loop', async (t) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.end();
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const sql = connect({ url: `postgres://a@127.0.0.1:${port}/a` }, { max: 1, applicationName: 'test' });
  t.teardown(() => sql.end({ timeout: 0 }));
  for (let i = 0; i < 3; i++) t.true(storeFault(await t.throwsAsync(async () => sql`select 1`)).temporary);
  t.is(connections, 3);
});

test('a transaction has its connection to itself, although many statements wait on it', async (t) => {
  const { sql, count } = await pools(t, 1);
  await sql`select 1`;
  const waiting = Array.from({ length: MANY_STATEMENTS }, () => sql`select 1`.execute());
  const begun = sql.begin(async (tx) => {
    await tx`insert into rows values (1)`;
    throw new Error('enough');
  });
  await t.throwsAsync(begun, { message: 'enough' });
  await Promise.all(waiting);
  await sql`insert into rows values (2)`;
  t.is(await count(), 1);
});

test('connections that close at any moment leave each transaction whole or without effect', async (t) => {
  const { sql, endConnections, gone } = await pools(t, 3);
  let last = 0;
  let failed = 0;
  const transaction = fc.record({ statements: fc.integer({ min: 1, max: 5 }), atOnce: fc.boolean() });
  const history = fc.record({
    transactions: fc.array(transaction, { minLength: 1, maxLength: 6 }),
    turns: fc.integer({ min: 0, max: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(history, async ({ transactions, turns }) => {
      const made = transactions.map(async ({ statements, atOnce }) => {
        const id = ++last;
        const isCommitted = await sql
          .begin(async (tx) => {
            const insert = async () => tx`insert into rows values (${id})`;
            if (atOnce) await Promise.all(Array.from({ length: statements }, insert));
            else for (let i = 0; i < statements; i++) await insert();
          })
          .then(
            () => true,
            (error) => {
              t.true(storeFault(error).temporary, String(error));
              return false;
            },
          );
        return { id, statements, isCommitted };
      });
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      const told = await endConnections();
      const ended = await Promise.all(made);
      await gone(told);
      await reconnected(sql);
      for (const { id, statements, isCommitted } of ended) {
        const [row] = await sql`select count(*)::int as n from rows where id = ${id}`;
        if (!isCommitted) failed++;
        t.true(row!['n'] === statements || (!isCommitted && row!['n'] === 0), `${row!['n']} of ${statements}`);
      }
    }),
    { numRuns: runs(200, 40) },
  );
  t.true(failed > 0);
});
