// Tests the counts for reports to others in a real PostgreSQL.
import { postgresOwnReports } from '../../../../src/store/postgres/feedback/own-reports.js';
import { migratedSql } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

const result = (source: string) =>
  ({ source, disposition: 'none', dkim: true, spf: false, author: 'peer.test', results: [] }) as const;
const count = (source: string, messages: number, day = '2026-11-28', domain = 'peer.test') => ({
  domain,
  day,
  result: result(source),
  messages,
});
const arrived = (...of: Parameters<typeof count>) => ({ ...count(...of), network: of[0] });

test('counts of several nodes add up; a settled report takes no more', async (t) => {
  const store = postgresOwnReports(await migratedSql(t, { max: 4 }));
  await Promise.all([
    store.add([arrived('192.0.2.1', 2), arrived('192.0.2.2', 1)]),
    store.add([arrived('192.0.2.2', 5), arrived('192.0.2.1', 1), arrived('192.0.2.1', 9, '2026-11-29')]),
  ]);
  const due = { domain: 'peer.test', day: '2026-11-28' };
  t.deepEqual([...(await store.due('2026-11-29', 10))], [due]);
  t.deepEqual(await store.counts(due), [count('192.0.2.2', 6), count('192.0.2.1', 3)]);
  await store.settle(due);
  await store.settle(due);
  await store.add([arrived('192.0.2.1', 2)]);
  t.deepEqual(await store.counts(due), []);
  t.is((await store.due('2026-11-29', 10)).length, 0);
  t.is((await store.due('2026-11-30', 10)).length, 1);
});

test('a domain has a bound of results; known ones are counted on', async (t) => {
  const sql = await migratedSql(t, { max: 2 });
  const store = postgresOwnReports(sql);
  await store.add([arrived('192.0.2.1', 1)]);
  await sql`
    insert into dmarc_counts (domain, day, hash, result, messages)
    select 'peer.test', '2026-11-28', n::text, '{}', 1 from generate_series(1, 4999) n`;
  await store.add([
    arrived('192.0.2.1', 1),
    arrived('192.0.2.3', 1),
    arrived('192.0.2.3', 1, '2026-11-28', 'other.test'),
  ]);
  const [row] =
    await sql`select count(*)::int as n, sum(messages)::int as messages from dmarc_counts where domain = 'peer.test'`;
  t.deepEqual({ ...row }, { n: 5000, messages: 5001 });
  t.is((await store.counts({ domain: 'other.test', day: '2026-11-28' })).length, 1);
});

test('a network of senders has a share of the results of a domain', async (t) => {
  const store = postgresOwnReports(await migratedSql(t, { max: 2 }));
  const flood = (from: number) =>
    Array.from({ length: 80 }, (_, i) => ({
      ...arrived('192.0.2.1', 1),
      result: { ...result('192.0.2.1'), author: `a${from + i}.test` },
    }));
  await store.add(flood(0));
  await store.add([...flood(80), arrived('198.51.100.1', 1)]);
  const counts = await store.counts({ domain: 'peer.test', day: '2026-11-28' });
  t.is(counts.length, 101);
  t.true(counts.some((one) => one.result.source === '198.51.100.1'));
});

test('old counts are given up', async (t) => {
  const store = postgresOwnReports(await migratedSql(t, { max: 2 }));
  await store.add([
    arrived('192.0.2.1', 1, '2020-01-01'),
    arrived('192.0.2.1', 1, new Date().toISOString().slice(0, 10)),
  ]);
  t.is(await store.prune(5), 1);
});
