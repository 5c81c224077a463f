// The counts for reports about TLS in PostgreSQL.
import { createHash } from 'node:crypto';
import type { DueOwnReport } from '../../feedback/own-reports.js';
import type { OwnTlsReportStore, TlsResult } from '../../feedback/own-tls-reports.js';
import { guarded, type Sql } from '../driver/client.js';

/** Results of one owner's domains and day. */
const MOST_RESULTS = 1_000;
/** Results of all domains that wait for their reports. */
const MOST_WAITING = 500_000;

export function postgresOwnTlsReports(sql: Sql): OwnTlsReportStore {
  return {
    add: (counts) => guarded(() => add(sql, counts)),
    due: (before, limit) =>
      guarded(
        () => sql<DueOwnReport[]>`
          select domain, day::text from tls_counts where day < ${before}::date
          group by domain, day order by count(*) desc, domain, day limit ${limit}`,
      ),
    counts: ({ domain, day }) =>
      guarded(async () => {
        const rows = await sql<{ result: TlsResult; sessions: string }[]>`
          select result, sessions from tls_counts where domain = ${domain} and day = ${day}::date
          order by sessions desc, hash`;
        return rows.map(({ result, sessions }) => ({ domain, day, result, sessions: Number(sessions) }));
      }),
    posted: ({ domain, day }, target) =>
      guarded(async () => {
        await sql`
          insert into sent_tls_reports (domain, day, target) values (${domain}, ${day}::date, ${target})
          on conflict do nothing`;
      }),
    targetsOf: ({ domain, day }) =>
      guarded(async () => {
        const rows = await sql<{ target: string }[]>`
          select target from sent_tls_reports where domain = ${domain} and day = ${day}::date and target <> ''`;
        return rows.map(({ target }) => target);
      }),
    settle: ({ domain, day }) =>
      guarded(async () => {
        await sql`
          with sent as (
            insert into sent_tls_reports (domain, day) values (${domain}, ${day}::date) on conflict do nothing
          )
          delete from tls_counts where domain = ${domain} and day = ${day}::date`;
      }),
    prune: (days) =>
      guarded(async () => {
        const since = sql`(now() at time zone 'utc')::date - ${days}::int`;
        const { count } = await sql`delete from tls_counts where day < ${since}`;
        await sql`delete from sent_tls_reports where day < ${since}`;
        return count;
      }),
  };
}

async function add(sql: Sql, counts: Parameters<OwnTlsReportStore['add']>[0]): Promise<void> {
  const rows = counts.map((count) => ({
    ...count,
    hash: createHash('sha256').update(JSON.stringify(count.result)).digest('hex'),
  }));
  // Rows are locked in one order, so that nodes that add at once do not wait for each other in a circle.
  rows.sort((a, b) => (`${a.domain} ${a.day} ${a.hash}` < `${b.domain} ${b.day} ${b.hash}` ? -1 : 1));
  await sql`
    with given as (
      select c.*, row_number() over (partition by c.owner, c.day order by c.domain, c.hash) as place
      from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as c (domain text, owner text, day date, hash text, result json, sessions bigint)
    )
    insert into tls_counts (domain, owner, day, hash, result, sessions)
    select c.domain, c.owner, c.day, c.hash, c.result, c.sessions from given c
    where not exists (select from sent_tls_reports s where s.domain = c.domain and s.day = c.day and s.target = '')
      and (exists (select from tls_counts k where k.domain = c.domain and k.day = c.day and k.hash = c.hash)
        or (select count(*) from tls_counts k where k.owner = c.owner and k.day = c.day) + c.place <= ${MOST_RESULTS}
        and (select coalesce(sum(reltuples), 0) from pg_class where oid = 'tls_counts'::regclass) < ${MOST_WAITING})
    order by c.domain, c.day, c.hash
    on conflict (domain, day, hash) do update set sessions = tls_counts.sessions + excluded.sessions`;
}
