// The event log as followers read it.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { connect } from '../../src/store/postgres/client.js';
import { postgresEvents } from '../../src/store/postgres/events.js';
import { migrate } from '../../src/store/postgres/migrate.js';
import { testDatabase } from '../support/embedded-database.js';

test('the newest seq of an account is its own, and 0 without a log', async (t) => {
  const { address, drop } = await testDatabase();
  const sql = connect(address, { max: 2, applicationName: 'test' });
  t.teardown(async () => {
    await sql.end({ timeout: 5 });
    await drop();
  });
  await migrate(sql);
  const events = postgresEvents(sql);
  const [mine, other] = [randomUUID(), randomUUID()];
  t.is(await events.newest(mine), 0);
  await sql`
    insert into events (account_id, seq, n, type, payload, at)
    values (${mine}, 9, 0, 'T', '{}', now()), (${mine}, 10, 0, 'T', '{}', now()), (${mine}, 10, 1, 'T', '{}', now()),
      (${other}, 99, 0, 'T', '{}', now())`;
  t.is(await events.newest(mine), 10);
  t.is((await events.read(mine, await events.newest(mine), 10)).length, 0);
});
