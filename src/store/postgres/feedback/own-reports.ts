// The counts for reports to owners of DMARC policies in PostgreSQL.
import { createHash } from 'node:crypto';
import type { ArrivedCount, DmarcCountResult, DueOwnReport, OwnReportStore } from '../../feedback/own-reports.js';
import { guarded, type Sql } from '../driver/client.js';

/** Results of one domain and day. */
const MOST_RESULTS = 5_000;
/** Those of one network of senders: others that a domain may hear of have room. */
const MOST_OF_NETWORK = 100;
/** Results of all domains that wait for their reports. */
const MOST_WAITING = 500_000;

export function postgresOwnReports(sql: Sql): OwnReportStore {
  return {
    add: (counts) => guarded(() => add(sql, counts)),
    due: (before, limit) =>
      guarded(
        () => sql<DueOwnReport[]>`
          select domain, day::text from dmarc_counts where day < ${before}::date
          group by domain, day order by count(*) desc, domain, day limit ${limit}`,
      ),
    counts: ({ domain, day }) =>
      guarded(async () => {
        const rows = await sql<{ result: DmarcCountResult; messages: string }[]>`
          select result, messages from dmarc_counts where domain = ${domain} and day = ${day}::date
          order by messages desc, hash`;
        return rows.map(({ result, messages }) => ({ domain, day, result, messages: Number(messages) }));
      }),
    settle: ({ domain, day }) =>
      guarded(async () => {
        await sql`
          with sent as (
            insert into sent_reports (domain, day) values (${domain}, ${day}::date) on conflict do nothing
          )
          delete from dmarc_counts where domain = ${domain} and day = ${day}::date`;
      }),
    isQueued: (accountId, messageId) =>
      guarded(async () => {
        const [row] = await sql<[{ isQueued: boolean }]>`
          select exists (select from outbound where account_id = ${accountId} and message_id = ${messageId}) as "isQueued"`;
        return row.isQueued;
      }),
    prune: (days) =>
      guarded(async () => {
        const since = sql`(now() at time zone 'utc')::date - ${days}::int`;
        const { count } = await sql`delete from dmarc_counts where day < ${since}`;
        await sql`delete from sent_reports where day < ${since}`;
        return count;
      }),
  };
}

async function add(sql: Sql, counts: readonly ArrivedCount[]): Promise<void> {
  const rows = counts.map(({ domain, day, network, result, messages }) => {
    const hash = createHash('sha256').update(JSON.stringify(result)).digest('hex');
    return { domain, day, hash, network, result, messages };
  });
  // Rows are locked in one order, so that nodes that add at once do not wait for each other in a circle.
  rows.sort((a, b) => (`${a.domain} ${a.day} ${a.hash}` < `${b.domain} ${b.day} ${b.hash}` ? -1 : 1));
  await sql`
    insert into dmarc_counts (domain, day, hash, network, result, messages)
    select c.domain, c.day, c.hash, c.network, c.result, c.messages
    from (
      select *, row_number() over (partition by domain, day, network order by hash) as place
      from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as c (domain text, day date, hash text, network text, result json, messages bigint)
    ) c
    where not exists (select from sent_reports s where s.domain = c.domain and s.day = c.day)
      and (exists (select from dmarc_counts k where k.domain = c.domain and k.day = c.day and k.hash = c.hash)
        or (select count(*) from dmarc_counts k where k.domain = c.domain and k.day = c.day) < ${MOST_RESULTS}
        and c.place + (select count(*) from dmarc_counts k
          where k.domain = c.domain and k.day = c.day and k.network = c.network) <= ${MOST_OF_NETWORK}
        and (select coalesce(sum(reltuples), 0) from pg_class where oid = 'dmarc_counts'::regclass) < ${MOST_WAITING})
    on conflict (domain, day, hash) do update set messages = dmarc_counts.messages + excluded.messages`;
}
