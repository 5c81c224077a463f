// Tests arrays of uuids as parameters and in results, with a real server: packed ids and lists of texts.

import fc from 'fast-check';
import { PackedIds } from '../../../../src/mail-format/packed-ids.js';
import { newId } from '../../../../src/store/ids/new-id.js';
import { uuidArray } from '../../../../src/store/postgres/driver/binary-array.js';
import { connect } from '../../../../src/store/postgres/driver/client.js';
import { runs } from '../../../support/amounts.js';
import { testDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

const ids = (maxLength: number) => fc.array(fc.uuid(), { minLength: 1, maxLength });

test('packed ids are an array of uuids, in the order of their lists; texts are one as well', async (t) => {
  const { address } = await testDatabase(t);
  const sql = connect(address, { max: 1, applicationName: 'test' });
  t.teardown(() => sql.end());
  await fc.assert(
    fc.asyncProperty(fc.array(ids(300), { minLength: 1, maxLength: 4 }), async (lists) => {
      const all = lists.flat();
      // The rest of a list shares the octets of the list, from a later offset on.
      const packed = lists.flatMap((list) => [PackedIds.of(list.slice(0, 1)), PackedIds.of(list).rest]);
      const [row] = await sql<[{ packed: string[]; texts: string[]; last: string[]; beyond: string[] }]>`
        select ${uuidArray(packed)}::uuid[] as packed, ${all}::uuid[] as texts,
          (${uuidArray(packed)}::uuid[])[${all.length}::int:${all.length}::int] as last, ${[] as string[]}::uuid[] as beyond`;
      t.deepEqual({ ...row }, { packed: all, texts: all, last: all.slice(-1), beyond: [] });
    }),
    { numRuns: runs(30) },
  );
  // JSON writes a form feed as a backslash and an f.
  const begin = newId().slice(0, -1);
  for (const text of [`${newId()},${newId()}`, `${newId()}"`, '}', '', `${begin}\f`, `${begin}\\f`]) {
    await t.throwsAsync(sql`select ${[text]}::uuid[]`, { code: '22P02' } as object, text);
  }
});

test('a statement whose plan is out of date is sent again with the same ids, and without packed ones refused for now', async (t) => {
  const { address } = await testDatabase(t);
  const sql = connect(address, { max: 1, applicationName: 'test' });
  t.teardown(() => sql.end());
  const all = Array.from({ length: 3 }, () => newId());
  await sql`create table known (id uuid primary key)`;
  await sql`insert into known select unnest(${all}::uuid[])`;
  const listed = () => sql<{ id: string }[]>`select * from known where id = any(${all.slice(1)}::uuid[]) order by id`;
  const packed = () => sql<{ id: string }[]>`
    select * from known where id = any(${uuidArray([PackedIds.of(all.slice(1))])}::uuid[]) order by id`;
  const idsOf = async (found: ReturnType<typeof listed>) => (await found).map(({ id }) => id);
  for (const read of [listed, packed]) t.deepEqual(await idsOf(read()), all.slice(1));
  await sql`alter table known add column name text`;
  t.deepEqual(await idsOf(listed()), all.slice(1));
  await t.throwsAsync(idsOf(packed()), { name: 'StoreFault' });
  t.deepEqual(await idsOf(packed()), all.slice(1));
  t.deepEqual(await idsOf(listed()), all.slice(1));
});
