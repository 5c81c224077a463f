// Tests UIDs that left a folder: consecutive UIDs that left together are one row of the table.

import { connect } from '../../src/store/postgres/client.js';
import { migratedDatabase } from '../support/embedded-database.js';
import test from '../support/test.js';
import { expungedOf } from './contracts/contents.js';
import { onPostgres } from './contracts/stores.js';
import { openWriter } from './contracts/writer.js';

const EMAILS = 9;

test('UIDs that follow each other and leave together are one row', async (t) => {
  const { address } = await migratedDatabase(t);
  const stores = await onPostgres(t, undefined, address);
  const sql = connect(address, { max: 1, applicationName: 'test' });
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
  // The UIDs are unordered, as when emails are named by id.
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
});
