// Which commits of mailboxes share a transaction: large ones do not, whatever they are large in.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { connect } from '../../src/store/postgres/client.js';
import { postgresDirectory } from '../../src/store/postgres/directory.js';
import { postgresMailboxes } from '../../src/store/postgres/mailboxes.js';
import { migratedDatabase } from '../support/embedded-database.js';
import { emptyChange, records } from '../support/mailbox-change.js';

test('commits of two accounts share a transaction unless they change many placements', async (t) => {
  const database = await migratedDatabase();
  const sql = connect(database.address, { max: 2, applicationName: 'test' });
  const writerSql = connect(database.address, { max: 2, applicationName: 'test', byKey: true });
  t.teardown(async () => {
    await writerSql.end({ timeout: 5 });
    await sql.end({ timeout: 5 });
    await database.drop();
  });
  const directory = postgresDirectory(sql, 1);
  const store = postgresMailboxes(sql, writerSql);
  const ids: string[] = [];
  for (const name of ['a', 'b']) ids.push((await directory.createAccount(`${name}@example.test`, name)).id);

  async function transactions(placements: number): Promise<number> {
    const commits = [];
    for (const id of ids) {
      const claimed = await store.claim(id, 1);
      if (claimed.kind !== 'claimed') throw new Error(claimed.kind);
      const folderId = (await store.overview(id)).folders[0]!.id;
      const placed = Array.from({ length: placements }, (_, i) => {
        return { type: 'EmailPlaced' as const, payload: { emailId: randomUUID(), folderId, uid: i + 1 } };
      });
      const seq = claimed.modseq + 1;
      commits.push({ ...emptyChange(id, 1, claimed.modseq), changes: records(placed, seq) });
    }
    const results = await Promise.all(commits.map((change) => store.commit(change)));
    t.deepEqual(
      results.map(({ kind }) => kind),
      ['committed', 'committed'],
    );
    const [row] = await sql`
      select count(distinct xmin::text)::int as count from accounts where id = any(${ids}::uuid[])`;
    await sql`delete from placements where account_id = any(${ids}::uuid[])`;
    return row!['count'];
  }

  t.is(await transactions(10), 1);
  t.is(await transactions(600), 2);
});
