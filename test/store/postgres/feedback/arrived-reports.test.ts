// Tests feedback reports in a real PostgreSQL: each counts once, floods end at their bounds, and sums add up.
import type { DmarcSums } from '../../../../src/store/feedback/arrived-reports.js';
import type { Sql } from '../../../../src/store/postgres/driver/client.js';
import {
  postgresArrivedReports,
  postgresReportReader,
} from '../../../../src/store/postgres/feedback/arrived-reports.js';
import { migratedSql } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

const DAY_MS = 86_400_000;

const blob = (n: number) => n.toString(16).padStart(64, '0');

function report(reportId: string, change: Partial<DmarcSums> = {}): DmarcSums {
  return {
    kind: 'dmarc',
    hosted: 'example.test',
    domain: 'example.test',
    organization: 'google.com',
    reportId,
    begin: Date.now() - DAY_MS,
    sums: [{ source: '192.0.2.1', dkim: true, spf: false, disposition: 'none', messages: 3 }],
    ...change,
  };
}

async function opened(t: Parameters<typeof migratedSql>[0]) {
  const sql = await migratedSql(t, { max: 4 });
  await sql`insert into domains (name) values ('example.test'), ('other.test')`;
  const store = postgresArrivedReports(sql);
  let blobs = 0;
  const count = async (given: Parameters<typeof store.count>[1], sender = 'google.com') => {
    const due = { blob: blob(++blobs), recipients: ['postmaster@example.test'], sender };
    await store.expect(due);
    return store.count(due, given);
  };
  return { sql, store, count, reader: postgresReportReader(sql) };
}

test('a message waits until it is counted or dropped; it is noted once', async (t) => {
  const { store } = await opened(t);
  const due = { blob: blob(1), recipients: ['postmaster@example.test'], sender: 'google.com' };
  t.true(await store.expect(due));
  t.true(await store.expect(due));
  t.like(await store.due(10), [due]);
  await store.postpone(due.blob, 60_000);
  t.is((await store.due(10)).length, 0);
  await store.postpone(due.blob, -1);
  t.is((await store.due(10)).length, 1);
  t.is(await store.count(due, report('1')), 'counted');
  t.is((await store.due(10)).length, 0);
  await store.expect({ ...due, blob: blob(2) });
  await store.drop(blob(2));
  t.is((await store.due(10)).length, 0);
});

test('a report counts once, also when two nodes read it at once; another sender cannot take its id', async (t) => {
  const { count, reader, store } = await opened(t);
  t.is(await count(report('7', { organization: 'google.com' }), 'evil.test'), 'counted');
  t.is(await count(report('7')), 'counted');
  t.is(await count(report('7')), 'repeated');
  const due = { blob: blob(99), recipients: [], sender: 'google.com' };
  await store.expect(due);
  const both = await Promise.all([store.count(due, report('8')), store.count(due, report('8'))]);
  t.deepEqual(both.toSorted(), ['counted', 'repeated']);
  t.is(await count(report('9', { hosted: 'gone.test' })), 'repeated');
  const { dmarc, tls } = await reader.sums(undefined, 30, 100);
  t.deepEqual(tls, []);
  t.deepEqual(dmarc, [
    {
      domain: 'example.test',
      source: '192.0.2.1',
      messages: 9,
      spfPass: 0,
      dkimPass: 9,
      dmarcPass: 9,
      quarantined: 0,
      rejected: 0,
      reporters: ['evil.test', 'google.com'],
    },
  ]);
});

test('sums by source and by result, of a domain and of the last days', async (t) => {
  const { count, reader } = await opened(t);
  const sums = [
    { source: '192.0.2.1', dkim: true, spf: true, disposition: 'none', messages: 5 },
    { source: '192.0.2.1', dkim: false, spf: true, disposition: 'none', messages: 1 },
    { source: '203.0.113.9', dkim: false, spf: false, disposition: 'reject', messages: 7 },
    { source: '203.0.113.9', dkim: false, spf: false, disposition: 'quarantine', messages: 2 },
  ];
  await count(report('1', { sums }));
  await count(report('2', { sums, begin: Date.now() - 20 * DAY_MS }));
  await count(report('3', { hosted: 'other.test', domain: 'sub.other.test' }));
  const tls = [
    { policyType: 'sts', host: '', result: 'success', sessions: 9 },
    { policyType: 'sts', host: 'mx.example.test', result: 'certificate-expired', sessions: 2 },
  ];
  await count({ ...report('1'), kind: 'tls', sums: tls });
  await count({ ...report('2'), kind: 'tls', sums: tls });
  const of = { domain: 'example.test', reporters: ['google.com'] };
  t.deepEqual(await reader.sums('example.test', 7, 100), {
    dmarc: [
      { ...of, source: '203.0.113.9', messages: 9, spfPass: 0, dkimPass: 0, dmarcPass: 0, quarantined: 2, rejected: 7 },
      { ...of, source: '192.0.2.1', messages: 6, spfPass: 6, dkimPass: 5, dmarcPass: 6, quarantined: 0, rejected: 0 },
    ],
    tls: [
      { ...of, policyType: 'sts', host: '', result: 'success', sessions: 18 },
      { ...of, policyType: 'sts', host: 'mx.example.test', result: 'certificate-expired', sessions: 4 },
    ],
  });
  t.is((await reader.sums('example.test', 30, 100)).dmarc[0]!.messages, 18);
  t.like((await reader.sums('other.test', 30, 100)).dmarc, [{ domain: 'sub.other.test', messages: 3 }]);
  t.is((await reader.sums(undefined, 30, 1)).dmarc.length, 1);
});

test('a sender has a share of the reports of a day, and of the messages that wait', async (t) => {
  const { count, sql, store } = await opened(t);
  for (let i = 0; i < 100; i++) t.is(await count(report(`r${i}`), 'evil.test'), 'counted');
  t.is(await count(report('one more'), 'evil.test'), 'tooMany');
  t.is(await count(report('r0'), 'google.com'), 'counted');
  await sql`
    insert into due_reports (blob, recipients, sender)
    select 'f' || lpad(to_hex(n), 63, '0'), '{}', 'evil.test' from generate_series(1, 2000) n`;
  t.false(await store.expect({ blob: blob(5_000), recipients: [], sender: 'evil.test' }));
  t.true(await store.expect({ blob: blob(5_001), recipients: [], sender: 'google.com' }));
});

test('the rows of a day are bounded: what comes then is one sum for each sender', async (t) => {
  const { count, sql } = await opened(t);
  const many = (n: number) =>
    Array.from({ length: 1_000 }, (_, i) => ({
      source: `10.${n}.${i >> 8}.${i & 255}`,
      dkim: false,
      spf: false,
      disposition: 'none',
      messages: 1,
    }));
  for (let n = 0; n < 8; n++) await count(report(`r${n}`, { sums: many(n), domain: `x${n}.example.test` }));
  const [rows] = await sql<[{ n: number; messages: string }]>`
    select count(*)::int as n, sum(messages) as messages from dmarc_sums`;
  t.is(rows.messages, '8000');
  t.is(rows.n, 5_001);
  t.like(await sql`select domain, messages::int from dmarc_sums where source = '*'`, [
    { domain: 'example.test', messages: 3_000 },
  ]);
});

test('old sums and keys are deleted; a domain takes its sums along', async (t) => {
  const { count, sql, store } = await opened(t);
  await count(report('1'));
  await count({ ...report('1'), kind: 'tls', sums: [{ policyType: 'sts', host: '', result: 'success', sessions: 1 }] });
  t.is(await store.prune(400), 0);
  await sql`update dmarc_sums set day = day - 401`;
  await sql`update counted_reports set counted_on = counted_on - 61`;
  t.is(await store.prune(400), 1);
  t.deepEqual(await counts(sql), { counted: 0, dmarc: 0, tls: 1 });
  await count(report('1'));
  await sql`delete from domains`;
  t.deepEqual(await counts(sql), { counted: 0, dmarc: 0, tls: 0 });
});

async function counts(sql: Sql) {
  const [row] = await sql`
    select (select count(*)::int from counted_reports) as counted, (select count(*)::int from dmarc_sums) as dmarc,
      (select count(*)::int from tls_sums) as tls`;
  return { ...row };
}
