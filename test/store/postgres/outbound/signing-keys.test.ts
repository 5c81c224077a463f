// Tests signing keys in a real database: only of hosted domains, the newest of each algorithm, gone with their domain.

import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { connect, type Sql } from '../../../../src/store/postgres/driver/client.js';
import { postgresSigningKeys } from '../../../../src/store/postgres/outbound/signing-keys.js';
import { migratedDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

let sql: Sql;
let drop: () => Promise<void>;

test.before(async () => {
  const database = await migratedDatabase();
  sql = connect(database.address, { max: 4, applicationName: 'test' });
  drop = database.drop;
});

test.after.always(async () => {
  await sql?.end();
  await drop?.();
});

test('keys of a domain', async (t) => {
  const keys = postgresSigningKeys(sql);
  const directory = postgresDirectory(sql, 256);
  const key = { domain: 'a.test', selector: 'one', algorithm: 'rsa', privateKey: 'first' } as const;
  t.false(await keys.add(key));
  t.false(await keys.isHosted('a.test'));
  await directory.addDomain('a.test');
  t.true(await keys.isHosted('a.test'));
  t.deepEqual(await keys.keysOf('a.test'), []);
  t.true((await keys.domainsWithoutKey()).includes('a.test'));
  t.true(await keys.add(key));
  t.false((await keys.domainsWithoutKey()).includes('a.test'));
  t.false(await keys.add({ ...key, privateKey: 'other' }));
  const ed25519 = { ...key, selector: 'ed', algorithm: 'ed25519' } as const;
  const second = { ...key, selector: 'a-second', privateKey: 'second' };
  t.true(await keys.add(ed25519));
  t.true(await keys.add(second));
  t.deepEqual(await keys.keysOf('a.test'), [ed25519, second]);
  t.deepEqual(
    (await keys.all()).filter(({ domain }) => domain === 'a.test'),
    [second, ed25519, key],
  );
  t.deepEqual(await keys.keysOf('c.test'), []);
  await directory.removeDomain('a.test');
  t.deepEqual(await keys.keysOf('a.test'), []);
});

test('several at once: one of them wins', async (t) => {
  const keys = postgresSigningKeys(sql);
  await postgresDirectory(sql, 256).addDomain('b.test');
  const outcomes = await Promise.all(
    Array.from({ length: 5 }, (_, i) =>
      keys.add({ domain: 'b.test', selector: 's', algorithm: 'rsa', privateKey: `key ${i}` }),
    ),
  );
  t.is(outcomes.filter(Boolean).length, 1);
  t.is((await keys.keysOf('b.test')).length, 1);
});
