// Tests which databases are refused, and the texts: real settings where a role can have them, made-up facts otherwise.

import { connect, type DatabaseAddress, type Sql } from '../../../../src/store/postgres/driver/client.js';
import {
  checkDatabase,
  type DatabaseFacts,
  problemOf,
  UnsafeDatabase,
} from '../../../../src/store/postgres/driver/durability-check.js';
import { type Teardown, testDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

const GOOD: DatabaseFacts = {
  versionNumber: 150004,
  version: '15.4',
  readOnly: 'off',
  recovery: false,
  encoding: 'UTF8',
  role: 'mansio',
  fsync: 'on',
  fullPageWrites: 'on',
};

test('a database with its defaults is taken', async (t) => {
  const { address, drop } = await testDatabase();
  const sql = connect(address, { max: 1, applicationName: 'test' });
  await t.notThrowsAsync(checkDatabase(sql, { allowUnsafe: false }));
  await sql.end();
  await drop();
});

test('refuses default_transaction_read_only of its role', async (t) => {
  const { address } = await testDatabase(t);
  const sql = await connectWith(t, address, 'default_transaction_read_only = on');
  for (const allowUnsafe of [false, true]) {
    await t.throwsAsync(checkDatabase(sql, { allowUnsafe }), { instanceOf: UnsafeDatabase, message: /read-only/ });
  }
});

test('commits are synchronous, whatever the role and the database say', async (t) => {
  const { address } = await testDatabase(t);
  const sql = await connectWith(t, address, 'synchronous_commit = off');
  t.deepEqual([...(await sql`show synchronous_commit`)], [{ synchronous_commit: 'on' }]);
  await t.notThrowsAsync(checkDatabase(sql, { allowUnsafe: false }));
});

/** Opens a session of the role with this setting. */
async function connectWith(t: Teardown, address: DatabaseAddress, setting: string): Promise<Sql> {
  const admin = connect(address, { max: 1, applicationName: 'test' });
  await admin.unsafe(`alter role mansio in database ${address.database} set ${setting}`);
  await admin.end();
  const sql = connect(address, { max: 1, applicationName: 'test' });
  t.teardown(() => sql.end());
  return sql;
}

test('facts without fault raise no problem', (t) => {
  t.is(problemOf(GOOD, false), undefined);
});

test('names everything that is wrong in one message', (t) => {
  const message = problemOf({ ...GOOD, fsync: 'off', fullPageWrites: 'off', encoding: 'SQL_ASCII' }, false);
  t.regex(message!, /encoding is SQL_ASCII.*fsync is off, full_page_writes is off;/);
  t.false(message!.includes('\n'));
});

test('too old, standby and encoding cannot be allowed', (t) => {
  const old = problemOf({ ...GOOD, versionNumber: 140011, version: '14.11' }, true);
  t.is(old, 'the database cannot be used: it is PostgreSQL 14.11 and Mansio needs 15 or later');
  t.regex(problemOf({ ...GOOD, recovery: true, readOnly: 'on' }, true)!, /hot standby/);
  t.regex(problemOf({ ...GOOD, encoding: 'LATIN1' }, true)!, /LATIN1/);
});

test('what only risks commits can be allowed', (t) => {
  t.is(problemOf({ ...GOOD, fsync: 'off', fullPageWrites: 'off' }, true), undefined);
});
