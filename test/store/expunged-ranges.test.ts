// UIDs that left a folder: those that follow each other and left together are one row of the table.
import { randomUUID } from 'node:crypto';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { connect } from '../../src/store/postgres/client.js';
import { migrate } from '../../src/store/postgres/migrate.js';
import { migratedDatabase, testDatabase } from '../support/embedded-database.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { contentsOf, expungedOf } from './contracts/contents.js';
import { onPostgres } from './contracts/stores.js';
import { openWriter } from './contracts/writer.js';

const EMAILS = 9;
const MIGRATIONS = fileURLToPath(new URL('../../src/store/postgres/migrations/', import.meta.url));
const MIGRATION = '0027_ranges_of_expunged_uids';

test('UIDs that follow each other are one row, and one each before a node of an earlier version has the account', async (t) => {
  const { address } = await migratedDatabase(t);
  const stores = await onPostgres(t, undefined, address);
  const sql = connect(address, { max: 1, applicationName: 'earlier version' });
  t.teardown(() => sql.end());
  const writer = await openWriter(stores);
  const { accountId } = writer;
  const folderId = writer.folder('inbox');
  const ids: string[] = [];
  for (let uid = 1; uid <= EMAILS; uid++) ids.push((await writer.add({}, [{ folderId, uid }])).id);
  const remove = async (...uids: number[]) => {
    const [first, ...others] = uids.map((uid) => ({ emailId: ids[uid - 1]!, uids: [uid] }));
    const placements = [{ folderId, uid: uids[0]! }];
    await writer.commit([{ type: 'EmailRemoved', payload: { emailId: first!.emailId, placements, others } }]);
    return writer.modseq;
  };
  // Not in the order of their UIDs, as when emails are named by id.
  const [at, later] = [await remove(4, 2, 3, 6, 9, 8), await remove(7)];
  const rows = async () =>
    (
      await sql`select uid::int, last_uid::int, modseq::int from expunged where account_id = ${accountId} order by modseq, uid`
    ).map((row) => [row['uid'], row['last_uid'], row['modseq']]);
  t.deepEqual(await rows(), [
    [2, 4, at],
    [6, null, at],
    [8, 9, at],
    [7, null, later],
  ]);
  const placed = await sql`select uid::int from placements where account_id = ${accountId} order by uid`;
  t.deepEqual(
    placed.map((row) => row['uid']),
    [1, 5],
  );
  const each = [...[2, 3, 4, 6, 8, 9].map((uid) => [uid, at]), [7, later]];
  t.deepEqual((await expungedOf(stores, accountId)).folders, { [folderId]: each });

  t.is((await stores.mailboxes.claim(accountId, 2)).kind, 'claimed');
  t.is((await rows()).length, 4);
  const contents = await contentsOf(stores, accountId);
  await sql`update accounts set epoch = 3 where id = ${accountId} and epoch <= 3 returning modseq, email, held`;
  t.deepEqual(
    await rows(),
    each.map(([uid, modseq]) => [uid, null, modseq]),
  );
  t.deepEqual(await contentsOf(stores, accountId), contents);
});

test('a commit of an earlier version that meets the migration waits for it', async (t) => {
  const { address } = await testDatabase(t);
  const pool = (applicationName: string) => {
    const sql = connect(address, { max: 1, applicationName });
    t.teardown(() => sql.end());
    return sql;
  };
  const [reader, committer, migrator, observer] = [
    pool('reader'),
    pool('committer'),
    pool('migrator'),
    pool('observer'),
  ];
  const earlier = temporaryDirectory('mansio-migrations-');
  const names = readdirSync(MIGRATIONS).filter((name) => name < MIGRATION);
  for (const name of names) cpSync(join(MIGRATIONS, name), join(earlier, name));
  await migrate(migrator, earlier);
  const [account, folder] = [randomUUID(), randomUUID()];
  await observer`
    insert into accounts (id, shard, email, display_name) values (${account}, 0, 'ann@example.test', 'Ann')`;
  const waits = async (name: string) => {
    const query = () => observer`
      select from pg_stat_activity where application_name = ${name} and wait_event_type = 'Lock'`;
    while ((await query()).length === 0) await delay(5);
  };
  const both = await reader.begin(async (tx) => {
    await tx`select from expunged limit 1`;
    const migration = migrate(migrator);
    await waits('migrator');
    const commit = committer`
      with passed as (
        update accounts set modseq = modseq + 1 where id = ${account} returning id
      )
      insert into expunged (account_id, folder_id, uid, modseq) select id, ${folder}::uuid, 1, 2 from passed`.execute();
    await waits('committer');
    return { result: Promise.all([migration, commit]) };
  });
  const [{ applied }] = await both.result;
  t.true(applied.includes(MIGRATION));
  t.is((await observer`select from expunged where account_id = ${account}`).length, 1);
});
