// Compares the declarations of columns with the schema of the database, and with the lists that derive from them.

import { messageSummary } from '../../src/mail/summary.js';
import { connect } from '../../src/store/postgres/client.js';
import { Columns, columnsOf, hex, integer, text, time } from '../../src/store/postgres/columns.js';
import {
  emailColumns,
  filterColumns,
  folderColumns,
  messageColumns,
} from '../../src/store/postgres/mailbox-columns.js';
import { migratedDatabase } from '../support/embedded-database.js';
import test from '../support/test.js';

test('every column of the tables of a mailbox is declared, and every declared one is there', async (t) => {
  const database = await migratedDatabase();
  const sql = connect(database.address, { max: 1, applicationName: 'test' });
  t.teardown(async () => {
    await sql.end();
    await database.drop();
  });
  for (const [table, { names }] of Object.entries({
    emails: emailColumns,
    folders: folderColumns,
    filters: filterColumns,
  })) {
    const rows = await sql<{ name: string }[]>`
      select column_name as name from information_schema.columns
      where table_name = ${table} and column_name <> 'account_id'`;
    t.deepEqual(names.split(', ').toSorted(), rows.map(({ name }) => name).toSorted(), table);
  }
});

test('each field of the summary has its column', (t) => {
  t.deepEqual(messageColumns.names.split(', ').length, Object.keys(messageSummary.schema).length);
  t.regex(messageColumns.selected, /refs as "references"/);
});

test('lists of columns are in the order of the declaration, by the names of the table or of the row', (t) => {
  interface Row {
    readonly id: string;
    readonly sentAt: number;
    readonly size: number;
    readonly hash: string;
  }
  const columns = columnsOf<Row>({ id: text(), sentAt: time(), size: integer('octets'), hash: hex() });
  t.true(columns instanceof Columns);
  t.is(columns.names, 'id, sent_at, octets, hash');
  t.is(columns.recordset, '"id" text, "sentAt" double precision, "size" bigint, "hash" text');
  t.is(columns.stored({ id: 'x' }), `x, to_timestamp("sentAt" / 1000.0), "size", decode("hash", 'hex')`);
  t.is(columns.only('size', 'id').selected, 'octets::float8 as "size", id as "id"');
  t.is(columns.except('sentAt', 'hash').pairs, `'id', id, 'size', octets::float8`);
  t.is(
    columns.only('size').set((name, property) => `t.${name} + ${property}`),
    'octets = t.octets + "size"',
  );
});
