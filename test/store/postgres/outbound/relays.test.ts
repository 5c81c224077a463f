// Tests smart hosts of domains in a real database: only of hosted domains, gone with their domain.
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { connect, type Sql } from '../../../../src/store/postgres/driver/client.js';
import { postgresRelays } from '../../../../src/store/postgres/outbound/relays.js';
import { migratedDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

let sql: Sql;
let drop: () => Promise<void>;

test.before(async () => {
  const database = await migratedDatabase();
  sql = connect(database.address, { max: 2, applicationName: 'test' });
  drop = database.drop;
});

test.after.always(async () => {
  await sql?.end();
  await drop?.();
});

test('the smart host of a domain', async (t) => {
  const relays = postgresRelays(sql);
  const directory = postgresDirectory(sql, 256);
  t.false(await relays.set('a.test', 'direct'));
  await directory.addDomain('a.test');
  await directory.addDomain('b.test');
  t.is(await relays.relayOf('a.test'), undefined);
  t.true(await relays.set('a.test', 'smtps://joe:secret@h.example'));
  t.true(await relays.set('b.test', 'direct'));
  t.is(await relays.relayOf('a.test'), 'smtps://joe:secret@h.example');
  t.deepEqual(
    [...(await relays.all())],
    [
      ['a.test', 'smtps://joe:secret@h.example'],
      ['b.test', 'direct'],
    ],
  );
  t.true(await relays.set('b.test', undefined));
  t.is(await relays.relayOf('b.test'), undefined);
  await directory.removeDomain('a.test');
  await directory.addDomain('a.test');
  t.deepEqual([...(await relays.all())], []);
});
