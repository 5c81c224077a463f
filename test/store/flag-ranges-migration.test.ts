// The migration to ranges of flags while nodes of the version before run.
import { randomUUID } from 'node:crypto';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { connect } from '../../src/store/postgres/client.js';
import { migrate } from '../../src/store/postgres/migrate.js';
import { testDatabase } from '../support/embedded-database.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const MIGRATIONS = fileURLToPath(new URL('../../src/store/postgres/migrations/', import.meta.url));
const MIGRATION = '0030_flag_ranges';

test('heartbeats go on while the migration waits for an account', async (t) => {
  const { address } = await testDatabase(t);
  const pool = (applicationName: string) => {
    const sql = connect(address, { max: 1, applicationName });
    t.teardown(() => sql.end());
    return sql;
  };
  const [deleter, node, migrator] = [pool('deleter'), pool('node'), pool('migrator')];
  const earlier = temporaryDirectory('mansio-migrations-');
  const names = readdirSync(MIGRATIONS).filter((name) => name < MIGRATION);
  for (const name of names) cpSync(join(MIGRATIONS, name), join(earlier, name));
  await migrate(migrator, earlier);
  const account = randomUUID();
  await node`insert into accounts (id, shard, email, display_name) values (${account}, 0, 'ann@example.test', 'Ann')`;
  await node`
    insert into nodes (id, incarnation, version, roles, bus, state, started_at, beat_at, expires_at)
    values ('old', 'a', '0', '{mx}', 'nats', 'serving', now(), now(), now())`;
  await node`set lock_timeout = 1000`;
  const blocked = () => node`
    select from pg_stat_activity where application_name = 'migrator' and wait_event_type = 'Lock'`;
  let migration: ReturnType<typeof migrate> | undefined;
  await deleter.begin(async (tx) => {
    await tx`delete from accounts where id = ${account}`;
    migration = migrate(migrator);
    while ((await blocked()).length === 0);
    await t.notThrowsAsync(async () => node`update nodes set beat_at = now(), expires_at = now() + interval '3 s'`);
  });
  t.true((await migration!).applied.includes(MIGRATION));
});
