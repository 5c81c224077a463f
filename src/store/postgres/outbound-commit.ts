// Outbound mail in the mailbox commit: the part that writes it, and what it hands to mailboxes of this store. Most commits
// have none of it, so it is not in their statement. Reading is in outbound-rows.
import type { LoggedOutbound } from '../changes.js';
import type { MailboxChange } from '../mailboxes.js';
import { type NetChange, netOf } from '../net-changes.js';
import type { OutboundRecipientRow } from '../outbound.js';
import type { Sql } from './client.js';

const json = (rows: readonly unknown[]) => JSON.stringify(rows);

const CHARACTERS_A_WEIGHT = 4096;

/** In rows; bodies, which may be as long as a message, count by their length. */
export function outboundWeight({ outbound, attempts }: NetChange): number {
  let weight = attempts.length;
  for (const { recipients, content } of outbound) {
    weight += 1 + recipients.length;
    const characters = (content?.textBody?.length ?? 0) + (content?.htmlBody?.length ?? 0);
    weight += Math.floor(characters / CHARACTERS_A_WEIGHT);
  }
  return weight;
}

/** What follows the other parts of the commit's `with`, which has the accounts that passed the fence as `passed`. */
export function writeOutbound(sql: Sql, changes: readonly MailboxChange[]) {
  const emails = [];
  const replaced = [];
  const recipients: ReturnType<typeof recipientRow>[] = [];
  const contents = [];
  const dropped = [];
  const attempts = [];
  const released = [];
  const removed = [];
  const handed = [];
  for (const { accountId: a, changes: list } of changes) {
    const net = netOf(list);
    for (const {
      outbound: row,
      before,
      row: whole,
      recipientIds,
      recipients: written,
      content,
      released: blobs,
    } of net.outbound) {
      emails.push(emailRow(a, row, whole?.machine ?? null));
      for (const blob of blobs) released.push({ a, blob: `\\x${blob}` });
      if (recipientIds !== undefined && before !== null) replaced.push({ a, o: row.id, kept: recipientIds });
      for (const { position, recipient } of written) recipients.push(recipientRow(a, row.id, position, recipient));
      if (content === null) dropped.push({ a, o: row.id });
      else if (content !== undefined) contents.push({ a, o: row.id, text: content.textBody, html: content.htmlBody });
    }
    for (const { outboundId: o, attempt } of net.attempts) {
      attempts.push({ a, o, id: attempt.id, at: attempt.at, entry: attempt });
    }
    for (const o of net.outboundRemoved) removed.push({ a, o });
    for (const { accountId, id, blob, envelope } of net.handedOver) {
      handed.push({ a, to: accountId, id, blob: `\\x${blob}`, envelope });
    }
  }
  if (emails.length + attempts.length + removed.length + handed.length === 0) return sql``;
  // What is not there is not in the statement: every part costs its beginning, rows or not.
  return sql`
    , outbound_written as (
      insert into outbound (account_id, id, shard, status, blob, sender, subject, message_id, in_reply_to, refs, size,
        sent_email_id, created_at, updated_at, queued_at, sent_at, retry_count, next_retry_at, held_until, last_error,
        attempt_id, attempt_by, report_due, delay_reported, machine)
      select a, x.id, p.shard, status, blob, sender, subject, message_id, in_reply_to, refs, size, sent_email_id,
        to_timestamp(created / 1000.0), to_timestamp(updated / 1000.0), to_timestamp(queued / 1000.0),
        to_timestamp(sent / 1000.0), retry_count, to_timestamp(next_retry / 1000.0),
        to_timestamp(held / 1000.0), last_error, attempt_id, attempt_by, report_due, delay_reported, machine
      from json_to_recordset(${json(emails)}::text::json) as x (a uuid, id uuid, status text, blob bytea, sender text,
        subject text, message_id text, in_reply_to text, refs text[], size bigint, sent_email_id uuid,
        created double precision, updated double precision, queued double precision, sent double precision,
        retry_count int, next_retry double precision, held double precision, last_error text, attempt_id uuid, attempt_by text,
        report_due text, delay_reported boolean, machine json)
      join passed p using (a)
      on conflict (account_id, id) do update set status = excluded.status, blob = excluded.blob, sender = excluded.sender,
        subject = excluded.subject, message_id = excluded.message_id, in_reply_to = excluded.in_reply_to,
        refs = excluded.refs, size = excluded.size, sent_email_id = excluded.sent_email_id,
        updated_at = excluded.updated_at, queued_at = excluded.queued_at, sent_at = excluded.sent_at,
        retry_count = excluded.retry_count, next_retry_at = excluded.next_retry_at,
        held_until = excluded.held_until, last_error = excluded.last_error,
        attempt_id = excluded.attempt_id, attempt_by = excluded.attempt_by, report_due = excluded.report_due,
        delay_reported = excluded.delay_reported, machine = excluded.machine
    )${
      replaced.length === 0
        ? sql``
        : sql`, recipient_replaced as (
      delete from outbound_recipients t
      using json_to_recordset(${json(replaced)}::text::json) as r (a uuid, o uuid, kept uuid[]), passed p
      where t.account_id = r.a and t.outbound_id = r.o and p.a = r.a and t.id <> all(r.kept)
    )`
    }, recipient_written as (
      insert into outbound_recipients (account_id, outbound_id, id, position, address, display_name, type, status, domain,
        delivered_at, last_error, status_code)
      select a, o, id, position, address, display_name, type, status, domain, to_timestamp(delivered / 1000.0),
        last_error, status_code
      from json_to_recordset(${json(recipients)}::text::json) as x (a uuid, o uuid, id uuid, position int, address text,
        display_name text, type text, status text, domain text, delivered double precision, last_error text,
        status_code text)
      join passed using (a)
      on conflict (account_id, outbound_id, id) do update set status = excluded.status,
        delivered_at = excluded.delivered_at, last_error = excluded.last_error, status_code = excluded.status_code
    )${
      contents.length === 0
        ? sql``
        : sql`, content_written as (
      insert into outbound_contents (account_id, outbound_id, text_body, html_body)
      select a, o, text, html from json_to_recordset(${json(contents)}::text::json) as x (a uuid, o uuid, text text,
        html text) join passed using (a)
      on conflict (account_id, outbound_id) do update set text_body = excluded.text_body, html_body = excluded.html_body
    )`
    }, attempted as (
      insert into outbound_attempts (account_id, outbound_id, id, at, entry)
      select a, o, id, to_timestamp(at / 1000.0), entry from json_to_recordset(${json(attempts)}::text::json)
        as x (a uuid, o uuid, id uuid, at double precision, entry json) join passed using (a)
      on conflict do nothing
    )
    ${dropped.length === 0 ? sql`` : dropContents(sql, dropped)}
    ${released.length === 0 ? sql`` : releaseBlobs(sql, released)}
    ${removed.length === 0 ? sql`` : removeOutbound(sql, removed)}
    ${handed.length === 0 ? sql`` : handOver(sql, handed)}`;
}

/** Of drafts that have become too long. */
function dropContents(sql: Sql, dropped: readonly unknown[]) {
  return sql`
    , content_dropped as (
      delete from outbound_contents t
      using json_to_recordset(${json(dropped)}::text::json) as x (a uuid, o uuid), passed p
      where t.account_id = x.a and t.outbound_id = x.o and p.a = x.a
    )`;
}

/** Blobs that rows have given up for others. */
function releaseBlobs(sql: Sql, released: readonly unknown[]) {
  return sql`
    , blob_released as (
      insert into blob_candidates (hash)
      select blob from json_to_recordset(${json(released)}::text::json) as x (a uuid, blob bytea) join passed using (a)
    )`;
}

function removeOutbound(sql: Sql, removed: readonly unknown[]) {
  return sql`
    , outbound_gone as materialized (
      select a, o from json_to_recordset(${json(removed)}::text::json) as x (a uuid, o uuid) join passed using (a)
    ), outbound_removed as (
      delete from outbound t using outbound_gone g where t.account_id = g.a and t.id = g.o returning t.blob
    ), outbound_released as (
      insert into blob_candidates (hash) select blob from outbound_removed where blob is not null
    ), recipients_removed as (
      delete from outbound_recipients t using outbound_gone g where t.account_id = g.a and t.outbound_id = g.o
    ), contents_removed as (
      delete from outbound_contents t using outbound_gone g where t.account_id = g.a and t.outbound_id = g.o
    ), attempts_removed as (
      delete from outbound_attempts t using outbound_gone g where t.account_id = g.a and t.outbound_id = g.o
    ), requests_removed as (
      delete from outbound_requests t using outbound_gone g where t.account_id = g.a and t.outbound_id = g.o
    )`;
}

function handOver(sql: Sql, handed: readonly unknown[]) {
  return sql`
    , handed as materialized (
      select x."to", x.id, x.blob, x.envelope from json_to_recordset(${json(handed)}::text::json)
        as x (a uuid, "to" uuid, id uuid, blob bytea, envelope json) join passed using (a)
    ), taker as materialized (
      -- Accounts that this statement has updated cannot be locked by it once more: it holds them by that update.
      select id from accounts where id in (select "to" from handed) and id not in (select a from passed)
      for key share of accounts
    ), handed_over as (
      insert into inbound (account_id, id, blob, envelope)
      select h."to", h.id, h.blob, h.envelope from handed h
      where h."to" in (select id from taker) or h."to" in (select a from passed)
    )`;
}

function emailRow(a: string, row: LoggedOutbound, machine: unknown) {
  return {
    a,
    id: row.id,
    status: row.status,
    blob: row.blob === null ? null : `\\x${row.blob}`,
    sender: row.sender,
    subject: row.subject,
    message_id: row.messageId,
    in_reply_to: row.inReplyTo,
    refs: row.references,
    size: row.size,
    sent_email_id: row.emailId,
    created: row.createdAt,
    updated: row.updatedAt,
    queued: row.queuedAt,
    sent: row.sentAt,
    retry_count: row.retryCount,
    next_retry: row.nextRetryAt,
    // Of a record by a node that holds no email.
    held: row.heldUntil ?? null,
    last_error: row.lastError,
    attempt_id: row.attempt?.id ?? null,
    attempt_by: row.attempt?.by ?? null,
    report_due: row.reportDue,
    delay_reported: row.delayReported,
    machine,
  };
}

function recipientRow(a: string, o: string, position: number, row: OutboundRecipientRow) {
  return {
    a,
    o,
    id: row.id,
    position,
    address: row.address,
    display_name: row.displayName,
    type: row.type,
    status: row.status,
    domain: row.domain,
    delivered: row.deliveredAt,
    last_error: row.lastError,
    status_code: row.statusCode,
  };
}
