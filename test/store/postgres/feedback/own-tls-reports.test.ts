// Tests the counts for reports about TLS in a real PostgreSQL.
import type { TlsResult } from '../../../../src/store/feedback/own-tls-reports.js';
import { postgresOwnTlsReports } from '../../../../src/store/postgres/feedback/own-tls-reports.js';
import { migratedSql } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

const result = (host: string): TlsResult => ({
  policyType: 'sts',
  policy: { mode: 'enforce', mx: ['*.peer.test'], maxAge: null },
  host,
  address: '192.0.2.1',
  result: 'success',
  reason: null,
});
const count = (host: string, sessions: number, day = '2026-11-28', domain = 'peer.test') => ({
  domain,
  day,
  result: result(host),
  sessions,
});
const owned = (...of: Parameters<typeof count>) => ({ ...count(...of), owner: 'peer.test' });

test('counts of several nodes add up; a settled report takes no more, targets are noted', async (t) => {
  const store = postgresOwnTlsReports(await migratedSql(t, { max: 4 }));
  await Promise.all([
    store.add([owned('a.test', 2), owned('b.test', 1)]),
    store.add([owned('b.test', 5), owned('a.test', 1), owned('a.test', 9, '2026-11-29')]),
  ]);
  const due = { domain: 'peer.test', day: '2026-11-28' };
  t.deepEqual([...(await store.due('2026-11-29', 10))], [due]);
  t.deepEqual(await store.counts(due), [count('b.test', 6), count('a.test', 3)]);
  for (let i = 0; i < 2; i++) await store.posted(due, 'https://x.test/');
  t.deepEqual(await store.targetsOf(due), ['https://x.test/']);
  t.is((await store.due('2026-11-29', 10)).length, 1);
  await store.settle(due);
  await store.settle(due);
  await store.add([owned('a.test', 2)]);
  t.deepEqual(await store.counts(due), []);
  t.is((await store.due('2026-11-29', 10)).length, 0);
  t.is((await store.due('2026-11-30', 10)).length, 1);
});

test('the domains of an owner share a bound of results; known ones are counted on', async (t) => {
  const sql = await migratedSql(t, { max: 2 });
  const store = postgresOwnTlsReports(sql);
  await store.add([owned('a.test', 1)]);
  const many = Array.from({ length: 1_200 }, (_, i) => owned('b.test', 1, '2026-11-28', `d${i}.peer.test`));
  await store.add(many);
  await store.add([
    owned('a.test', 1),
    owned('c.test', 1),
    { ...count('c.test', 1, '2026-11-28', 'x.test'), owner: 'x.test' },
  ]);
  const [row] =
    await sql`select count(*)::int as n, sum(sessions)::int as sessions from tls_counts where owner = 'peer.test'`;
  t.deepEqual({ ...row }, { n: 1_000, sessions: 1_001 });
  t.is((await store.counts({ domain: 'x.test', day: '2026-11-28' })).length, 1);
});

test('old counts are given up', async (t) => {
  const store = postgresOwnTlsReports(await migratedSql(t, { max: 2 }));
  await store.add([owned('a.test', 1, '2020-01-01'), owned('a.test', 1, new Date().toISOString().slice(0, 10))]);
  t.is(await store.prune(5), 1);
});
