// Feedback reports of other servers in PostgreSQL. The reports about one domain are counted one after another, so that the bounds hold.
import type {
  ArrivedReports,
  Counted,
  DmarcSums,
  DueReport,
  ReportReader,
  TlsSums,
  WaitingReport,
} from '../../feedback/arrived-reports.js';
import { guarded, type Sql } from '../driver/client.js';

/** Messages that wait, of all senders and of one. A large sender writes one for each hosted domain, within some hours. */
const MOST_WAITING = 20_000;
const MOST_OF_SENDER = 2_000;
/** Reports about one domain that count on one day: of all senders, and of one, which may write one an hour. */
const MOST_A_DAY = 2_000;
const MOST_OF_SENDER_A_DAY = 100;
/** Rows of one domain and day: further sources are summed together. */
const MOST_SUMS = 5_000;
/** How long a report is known. Older ones are not counted at all. */
const KNOWN_DAYS = 60;

type Tx = Parameters<Parameters<Sql['begin']>[1]>[0];

export function postgresArrivedReports(sql: Sql): ArrivedReports {
  return {
    expect: (report) => guarded(() => expect(sql, report)),
    due: (limit) =>
      guarded(
        () => sql<WaitingReport[]>`
          select blob, recipients, sender, (extract(epoch from now() - at) * 1000)::float8 as "ageMs" from due_reports
          where not_before <= now() order by not_before limit ${limit}`,
      ),
    postpone: (blob, ms) =>
      guarded(async () => {
        await sql`
          update due_reports set not_before = now() + ${ms} * interval '1 millisecond' where blob = ${blob}`;
      }),
    drop: (blob) =>
      guarded(async () => {
        await sql`delete from due_reports where blob = ${blob}`;
      }),
    count: (due, report) => guarded(() => sql.begin((tx) => count(tx, due, report))),
    prune: (days) => guarded(() => prune(sql, days)),
  };
}

async function expect(sql: Sql, { blob, recipients, sender }: DueReport): Promise<boolean> {
  const [row] = await sql<[{ isKnown: boolean; isAdded: boolean }]>`
    with added as (
      insert into due_reports (blob, recipients, sender)
      select ${blob}, ${recipients as string[]}::text[], ${sender}
      where (select count(*) from (select from due_reports limit ${MOST_WAITING}) a) < ${MOST_WAITING}
        and (select count(*) from (select from due_reports where sender = ${sender} limit ${MOST_OF_SENDER}) s)
          < ${MOST_OF_SENDER}
      on conflict (blob) do nothing returning 1
    )
    select exists (select from added) as "isAdded", exists (select from due_reports where blob = ${blob}) as "isKnown"`;
  return row.isAdded || row.isKnown;
}

async function count(tx: Tx, { blob, sender }: DueReport, report: DmarcSums | TlsSums): Promise<Counted> {
  const { hosted, kind, organization, reportId, begin } = report;
  // Another node may have read the message, or the domain is no longer hosted.
  const dropped = await tx`delete from due_reports where blob = ${blob}`;
  const [domain] = await tx`select from domains where name = ${hosted} for no key update`;
  if (dropped.count === 0 || domain === undefined) return 'repeated';
  const [today] = await tx<[{ all: number; ofSender: number }]>`
    select count(*)::int as all, (count(*) filter (where sender = ${sender}))::int as "ofSender" from counted_reports
    where hosted = ${hosted} and counted_on = (now() at time zone 'utc')::date`;
  if (today.all >= MOST_A_DAY || today.ofSender >= MOST_OF_SENDER_A_DAY) return 'tooMany';
  const { count: isNew } = await tx`
    insert into counted_reports (hosted, kind, sender, organization, report_id)
    values (${hosted}, ${kind}, ${sender}, ${organization}, ${reportId}) on conflict do nothing`;
  if (isNew === 0) return 'repeated';
  const day = new Date(begin).toISOString().slice(0, 10);
  if (kind === 'dmarc') await addDmarc(tx, report, day, sender);
  else await addTls(tx, report, day, sender);
  return 'counted';
}

async function addDmarc(tx: Tx, { hosted, domain, sums }: DmarcSums, day: string, reporter: string): Promise<void> {
  const [rows] = await tx<[{ n: number }]>`
    select count(*)::int as n from dmarc_sums where hosted = ${hosted} and day = ${day}::date`;
  const isFull = rows.n + sums.length > MOST_SUMS;
  await tx`
    insert into dmarc_sums (hosted, day, domain, reporter, source, dkim, spf, disposition, messages)
    select ${hosted}, ${day}::date, ${isFull ? hosted : domain}, ${reporter},
      case when ${isFull} then '*' else s.source end as source, s.dkim, s.spf, s.disposition, sum(s.messages)
    from json_to_recordset(${JSON.stringify(sums)}::text::json)
      as s (source text, dkim boolean, spf boolean, disposition text, messages bigint)
    group by 5, s.dkim, s.spf, s.disposition
    on conflict (hosted, day, domain, reporter, source, dkim, spf, disposition)
      do update set messages = dmarc_sums.messages + excluded.messages`;
}

async function addTls(tx: Tx, { hosted, domain, sums }: TlsSums, day: string, reporter: string): Promise<void> {
  const [rows] = await tx<[{ n: number }]>`
    select count(*)::int as n from tls_sums where hosted = ${hosted} and day = ${day}::date`;
  const isFull = rows.n + sums.length > MOST_SUMS;
  await tx`
    insert into tls_sums (hosted, day, domain, reporter, policy_type, host, result, sessions)
    select ${hosted}, ${day}::date, ${isFull ? hosted : domain}, ${reporter},
      case when ${isFull} then '*' else s."policyType" end as policy_type,
      case when ${isFull} then '*' else s.host end as host,
      case when ${isFull} and s.result <> 'success' then '*' else s.result end as result, sum(s.sessions)
    from json_to_recordset(${JSON.stringify(sums)}::text::json)
      as s ("policyType" text, host text, result text, sessions bigint)
    group by 5, 6, 7
    on conflict (hosted, day, domain, reporter, policy_type, host, result)
      do update set sessions = tls_sums.sessions + excluded.sessions`;
}

async function prune(sql: Sql, days: number): Promise<number> {
  const [{ count: dmarc }, { count: tls }] = await Promise.all([
    sql`delete from dmarc_sums where day < (now() at time zone 'utc')::date - ${days}::int`,
    sql`delete from tls_sums where day < (now() at time zone 'utc')::date - ${days}::int`,
    sql`delete from counted_reports where counted_on < (now() at time zone 'utc')::date - ${KNOWN_DAYS}::int`,
  ]);
  return dmarc + tls;
}

interface SourceRow {
  readonly domain: string;
  readonly source: string;
  readonly messages: string;
  readonly spfPass: string;
  readonly dkimPass: string;
  readonly dmarcPass: string;
  readonly quarantined: string;
  readonly rejected: string;
  readonly reporters: readonly string[];
}

export function postgresReportReader(sql: Sql): ReportReader {
  return {
    sums: (domain, days, limit) =>
      guarded(async () => {
        const since = sql`day > (now() at time zone 'utc')::date - ${days}::int`;
        const where = domain === undefined ? since : sql`${since} and hosted = ${domain}`;
        // The sources of a flood have many reporters.
        const reporters = sql`(array_agg(distinct reporter order by reporter))[1:100] as reporters`;
        const sources = await sql<SourceRow[]>`
          select domain, source, sum(messages) as messages,
            coalesce(sum(messages) filter (where spf), 0) as "spfPass",
            coalesce(sum(messages) filter (where dkim), 0) as "dkimPass",
            coalesce(sum(messages) filter (where spf or dkim), 0) as "dmarcPass",
            coalesce(sum(messages) filter (where disposition = 'quarantine'), 0) as quarantined,
            coalesce(sum(messages) filter (where disposition = 'reject'), 0) as rejected, ${reporters}
          from dmarc_sums where ${where} group by domain, source
          order by sum(messages) desc, domain, source limit ${limit}`;
        const results = await sql<
          {
            domain: string;
            policyType: string;
            host: string;
            result: string;
            sessions: string;
            reporters: readonly string[];
          }[]
        >`
          select domain, policy_type as "policyType", host, result, sum(sessions) as sessions, ${reporters}
          from tls_sums where ${where} group by domain, policy_type, host, result
          order by sum(sessions) desc, domain, host, result limit ${limit}`;
        return {
          dmarc: sources.map((row) => ({
            ...row,
            messages: Number(row.messages),
            spfPass: Number(row.spfPass),
            dkimPass: Number(row.dkimPass),
            dmarcPass: Number(row.dmarcPass),
            quarantined: Number(row.quarantined),
            rejected: Number(row.rejected),
          })),
          tls: results.map((row) => ({ ...row, sessions: Number(row.sessions) })),
        };
      }),
  };
}
