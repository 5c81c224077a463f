// Tests MTA-STS policies in a real PostgreSQL.

import { postgresStsPolicies } from '../../../../src/store/postgres/outbound/sts-policies.js';
import { migratedSql } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

test('a policy is kept until it expires, and replaced by a new one', async (t) => {
  const sql = await migratedSql(t, { max: 2 });
  const store = postgresStsPolicies(sql);
  const expiresAt = Date.now() + 3_600_000;
  const policy = { id: 'one', mode: 'enforce', mx: ['*.a.test', 'mx.b.test'], expiresAt } as const;
  t.is(await store.policyOf('a.test'), undefined);
  await store.keep('a.test', policy);
  t.deepEqual(await store.policyOf('a.test'), policy);
  await store.keep('a.test', { ...policy, expiresAt: expiresAt - 1000 });
  t.is((await store.policyOf('a.test'))!.expiresAt, expiresAt, 'the same policy, fetched earlier, takes nothing back');
  const next = { id: 'two', mode: 'testing', mx: ['mx.b.test'], expiresAt: expiresAt - 5000 } as const;
  await store.keep('a.test', next);
  t.deepEqual(await store.policyOf('a.test'), next);

  await store.keep('old.test', { ...policy, expiresAt: Date.now() - 1 });
  t.is(await store.policyOf('old.test'), undefined);
  await store.keep('b.test', policy);
  const rows = await sql`select domain from sts_policies order by domain`;
  t.deepEqual(
    rows.map(({ domain }) => domain),
    ['a.test', 'b.test'],
    'what has expired is gone',
  );
});
