// Reads one account's outbound emails: rows with their recipients, pages of them, counts, bodies, attempts.
import type { IndexedAddress } from '../../../mail-format/message-index.js';
import type { BlindRecipient, OutboundCounts, RecipientField, SubmittedCopy } from '../../mailboxes.js';
import type { DeliveryAttempt, OutboundContent, OutboundRow, OutboundStatus, WaitingOutbound } from '../../outbound.js';
import type { Fragment, Sql } from '../driver/client.js';

const MOST_ATTEMPTS = 1_000;
const MOST_WAITING = 10;
const MOST_AHEAD = 1_000;

const ms = (sql: Sql, column: Fragment) => sql`(extract(epoch from ${column}) * 1000)::float8`;

/** All fields of a row of `outbound o`, except its machine. */
export const outboundColumns = (sql: Sql) => sql`
  o.id, o.status, encode(o.blob, 'hex') as blob, o.sender, o.subject, o.message_id as "messageId",
  o.in_reply_to as "inReplyTo", o.refs as references, o.size::float8 as size, o.sent_email_id as "emailId",
  ${ms(sql, sql`o.created_at`)} as "createdAt", ${ms(sql, sql`o.updated_at`)} as "updatedAt",
  ${ms(sql, sql`o.queued_at`)} as "queuedAt", ${ms(sql, sql`o.sent_at`)} as "sentAt", o.retry_count as "retryCount",
  ${ms(sql, sql`o.next_retry_at`)} as "nextRetryAt",
  ${ms(sql, sql`o.held_until`)} as "heldUntil",
  o.last_error as "lastError",
  case when o.attempt_id is not null then json_build_object('id', o.attempt_id, 'by', o.attempt_by) end as attempt,
  o.dsn_due as "dsnDue", ${ms(sql, sql`o.dsn_at`)} as "dsnAt", o.dsn, o.delay_reported as "delayReported", o.awaits_release as "awaitsRelease",
  (select coalesce(json_agg(json_build_object('id', r.id, 'address', r.address, 'displayName', r.display_name,
      'type', r.type, 'status', r.status, 'domain', r.domain,
      'deliveredAt', floor(extract(epoch from r.delivered_at) * 1000), 'lastError', r.last_error,
      'statusCode', r.status_code) order by r.position), '[]')
    from outbound_recipients r where r.account_id = o.account_id and r.outbound_id = o.id) as recipients`;

export function outboundRows(sql: Sql, accountId: string, ids: readonly string[]): PromiseLike<OutboundRow[]> {
  return sql<OutboundRow[]>`
    select ${outboundColumns(sql)}, o.machine from outbound o
    where o.account_id = ${accountId} and o.id = any(${ids as string[]}::uuid[])`;
}

export async function outboundOfMessage(sql: Sql, accountId: string, messageId: string): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from outbound where account_id = ${accountId} and message_id = ${messageId} and status <> 'Draft'
    order by created_at desc limit 10`;
  return rows.map(({ id }) => id);
}

export async function outboundOfCopies(
  sql: Sql,
  accountId: string,
  emailIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; emailId: string }[]>`
    select id, sent_email_id as "emailId" from outbound
    where account_id = ${accountId} and sent_email_id = any(${emailIds as string[]}::uuid[]) and status <> 'Draft'`;
  return new Map(rows.map(({ id, emailId }) => [emailId, id]));
}

export async function blindRecipients(
  sql: Sql,
  accountId: string,
  emailIds: readonly string[],
): Promise<ReadonlyMap<string, readonly BlindRecipient[]>> {
  const rows = await sql<{ emailId: string; recipients: BlindRecipient[] }[]>`
    with sent as (
      select id, sent_email_id as email_id from outbound
      where account_id = ${accountId} and sent_email_id = any(${emailIds as string[]}::uuid[]) and status <> 'Draft'
      union
      select o.id, e.id from emails e join outbound o on o.account_id = e.account_id and o.message_id = e.message_id
      where e.account_id = ${accountId} and e.id = any(${emailIds as string[]}::uuid[]) and e.origin = 'sent' and o.status <> 'Draft'
    )
    select s.email_id as "emailId",
      json_agg(json_build_object('address', r.address, 'displayName', r.display_name) order by s.id, r.position) as recipients
    from sent s join outbound_recipients r on r.account_id = ${accountId} and r.outbound_id = s.id
    where r.type = 'Bcc'
    group by s.email_id`;
  return new Map(rows.map(({ emailId, recipients }) => [emailId, recipients]));
}

export async function recipientsOf(
  sql: Sql,
  accountId: string,
  emailIds: readonly string[],
  most: number,
  fields: readonly RecipientField[] = ['to'],
): Promise<ReadonlyMap<string, readonly IndexedAddress[]>> {
  const rows = await sql<{ id: string; lists: readonly (readonly IndexedAddress[])[] }[]>`
    select e.id, (select json_agg(x.envelope->f.name order by f.n)
        from (select b.mime_index->'envelope' as envelope offset 0) x, unnest(${fields as string[]}::text[]) with ordinality f (name, n)
      ) as lists
    from emails e join blobs b on b.hash = e.blob
    where e.account_id = ${accountId} and e.id = any(${emailIds as string[]}::uuid[])`;
  return new Map(
    rows.map(({ id, lists }) => [
      id,
      lists
        .flat()
        .filter(({ address }) => address !== '')
        .slice(0, most),
    ]),
  );
}

/** Reads each status in the order of its index, so that a page costs only the rows up to its end. */
export function outboundPage(
  sql: Sql,
  accountId: string,
  statuses: readonly OutboundStatus[],
  without: readonly string[],
  page: number,
  pageSize: number,
): PromiseLike<OutboundRow[]> {
  return sql<OutboundRow[]>`
    with page as materialized (
      select listed.id, listed.created_at from unnest(${statuses as OutboundStatus[]}::text[]) as s (status)
      cross join lateral (
        select id, created_at from outbound
        where account_id = ${accountId} and status = s.status and id <> all(${without as string[]}::uuid[])
        order by created_at desc, id desc limit ${page * pageSize}
      ) listed
      order by listed.created_at desc, listed.id desc limit ${pageSize} offset ${(page - 1) * pageSize}
    )
    select ${outboundColumns(sql)}, o.machine from page join outbound o on o.account_id = ${accountId} and o.id = page.id
    order by page.created_at desc, page.id desc`;
}

export async function outboundCounts(
  sql: Sql,
  accountId: string,
  statuses: readonly OutboundStatus[],
): Promise<OutboundCounts> {
  const rows = await sql<{ modseq: number; status: OutboundStatus; count: number }[]>`
    select a.modseq::float8 as modseq, s.status,
      (select count(*)::int from outbound where account_id = a.id and status = s.status) as count
    from accounts a, unnest(${statuses as OutboundStatus[]}::text[]) as s (status) where a.id = ${accountId}`;
  return { modseq: rows[0]?.modseq ?? 0, counts: new Map(rows.map(({ status, count }) => [status, count])) };
}

export async function outboundContent(sql: Sql, accountId: string, id: string): Promise<OutboundContent | undefined> {
  const [content] = await sql<OutboundContent[]>`
    select text_body as "textBody", html_body as "htmlBody" from outbound_contents
    where account_id = ${accountId} and outbound_id = ${id}`;
  return content;
}

export async function outboundAttempts(sql: Sql, accountId: string, id: string): Promise<readonly DeliveryAttempt[]> {
  const rows = await sql<{ entry: DeliveryAttempt }[]>`
    select entry from outbound_attempts where account_id = ${accountId} and outbound_id = ${id}
    order by at desc, id desc limit ${MOST_ATTEMPTS}`;
  return rows.map(({ entry }) => entry).reverse();
}

/** Counts the emails ahead in the index of due emails, and reads no more than it counts. */
export function outboundWaiting(
  sql: Sql,
  accountId: string,
  shards: readonly number[],
): PromiseLike<WaitingOutbound[]> {
  return sql<WaitingOutbound[]>`
    select m.id, (extract(epoch from m.next_retry_at - now()) * 1000)::float8 as "dueInMs",
      case when m.next_retry_at <= now() then (
        select count(*)::int from (
          select from unnest(${shards as number[]}::int[]) as s (shard) cross join lateral (
            select from outbound o
            where o.status = 'Queued' and not o.awaits_release and o.shard = s.shard and o.next_retry_at < m.next_retry_at
            limit ${MOST_AHEAD}
          ) each limit ${MOST_AHEAD}
        ) longer
      ) end as ahead
    from (
      select id, next_retry_at from outbound
      where account_id = ${accountId} and status = 'Queued' and not awaits_release and next_retry_at is not null
      order by next_retry_at limit ${MOST_WAITING}
    ) m
    order by m.next_retry_at`;
}

/** Finds emails through their thread, because every email is in the thread of its own id. */
export async function submittedCopies(
  sql: Sql,
  accountId: string,
  messageIds: readonly string[],
): Promise<readonly SubmittedCopy[]> {
  const rows = await sql<SubmittedCopy[]>`
    select e."messageId", e."emailId", o.id as "outboundId"
    from unnest(${messageIds as string[]}::text[]) as wanted (id)
    cross join lateral (
      select e.message_id as "messageId", e.id as "emailId", e.received_at from thread_refs r
      join emails e on e.thread_id = r.thread_id and e.account_id = r.account_id
      where r.account_id = ${accountId} and r.message_key = message_key(wanted.id) and e.message_id = wanted.id
        and e.origin = 'submitted'
      order by e.received_at desc, e.id desc limit 100
    ) e
    left join outbound o on o.account_id = ${accountId} and o.sent_email_id = e."emailId" and o.status <> 'Draft'
    order by e.received_at desc, e."emailId" desc`;
  return [...rows];
}

export async function appendedMessageIds(
  sql: Sql,
  accountId: string,
  emailIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; messageId: string }[]>`
    select id, message_id as "messageId" from emails
    where account_id = ${accountId} and id = any(${emailIds as string[]}::uuid[]) and origin = 'appended'
      and message_id is not null`;
  return new Map(rows.map(({ id, messageId }) => [id, messageId]));
}
