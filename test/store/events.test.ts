// The event log as followers read it.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { connect } from '../../src/store/postgres/client.js';
import { postgresEvents } from '../../src/store/postgres/events.js';
import { migrate } from '../../src/store/postgres/migrate.js';
import { testDatabase } from '../support/embedded-database.js';

test('the log gives back the events of each change in order, and is pruned by age and length', async (t) => {
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
  const entries = JSON.stringify([
    { type: 'T', payload: { x: 1 } },
    { type: 'U', payload: null },
  ]);
  await sql`
    insert into events (account_id, seq, entries, at)
    select a, seq, ${entries}::text::json, '2026-01-01'::timestamptz + seq * interval '1 day'
    from (values (${mine}::uuid, 9), (${mine}, 10), (${mine}, 12), (${other}, 99)) as x (a, seq)`;
  t.is(await events.newest(mine), 12);
  t.is((await events.read(mine, 12, 10)).length, 0);
  const page = await events.read(mine, 8, 2);
  t.deepEqual(
    page.map(({ seq, n, type }) => [seq, n, type]),
    [
      [9, 0, 'T'],
      [9, 1, 'U'],
      [10, 0, 'T'],
      [10, 1, 'U'],
    ],
  );
  t.deepEqual([page[0]!.payload, page[1]!.payload, page[0]!.at], [{ x: 1 }, null, Date.UTC(2026, 0, 10)]);

  // 100,000 ids do not compress to much less than half.
  const ids = Array.from({ length: 100_000 }, () => randomUUID());
  const large = JSON.stringify([{ type: 'FolderDeleted', payload: ids }]);
  await sql`
    insert into events (account_id, seq, entries, at)
    select ${other}, seq, ${large}::text::json, '2026-01-01' from generate_series(100, 102) as seq`;
  const seqs = async (after: number) => (await events.read(other, after, 100)).map(({ seq }) => seq);
  t.deepEqual(await seqs(98), [99, 99, 100], 'a page ends after the change with which it is large');
  t.deepEqual([await seqs(100), await seqs(101), await seqs(102)], [[101], [102], []]);
  await sql`delete from events where account_id = ${other} and seq > 99`;

  const expunged = async () =>
    (await sql`select account_id, modseq::int from expunged order by modseq`).map((row) => row['modseq']);
  await sql`
    insert into expunged (account_id, folder_id, uid, modseq)
    select a, gen_random_uuid(), seq, seq
    from (values (${mine}::uuid, 3), (${mine}, 9), (${mine}, 10), (${mine}, 12), (${other}, 8)) as x (a, seq)`;
  t.is(await events.prune(100 * 365 * 86_400_000, 2), 1, 'all but the newest two');
  t.deepEqual([...new Set((await events.read(mine, 0, 10)).map(({ seq }) => seq))], [10, 12]);
  t.deepEqual(await expunged(), [8, 10, 12], 'expunged UIDs go with the changes; those of another account stay');
  t.is(await events.prune(Date.now() - Date.UTC(2026, 0, 12), 100), 1, 'the older one');
  t.is(await events.newest(mine), 12);
  t.deepEqual(await expunged(), [8, 12]);

  // A clock that was ahead must leave no gap: the log is pruned from its beginning, up to the last entry that is old enough.
  await sql`
    insert into events (account_id, seq, entries, at)
    select ${mine}, seq, ${entries}::text::json, at
    from (values (13, now()), (14, '2026-01-01'), (15, now())) as x (seq, at)`;
  t.is(
    await events.prune(Date.now() - Date.UTC(2026, 0, 2), 100),
    3,
    'the one of 12 January stays no longer than those after it',
  );
  t.deepEqual([...new Set((await events.read(mine, 0, 10)).map(({ seq }) => seq))], [15]);
  t.deepEqual(await expunged(), [8]);
});
