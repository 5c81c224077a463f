// Outbound mail in the mailbox commit: the part that writes it, and the mail that it hands to mailboxes of this store. Most
// commits have none, so their statement omits this part. outbound-rows reads outbound mail.
import type { LoggedOutbound } from '../../changes/changes.js';
import { type CoalescedChanges, coalesce } from '../../changes/coalesced-changes.js';
import { detailOf } from '../../inbound.js';
import type { MailboxChange } from '../../mailboxes.js';
import type { OutboundRecipientRow } from '../../outbound.js';
import type { Pieces } from '../driver/statement-pieces.js';
import { DOCUMENT, json, type Part, rowsWithDocuments } from './commit-parts.js';

const CHARACTERS_A_WEIGHT = 4096;

/** The weight in rows; bodies, which may be as long as a message, count by their length. */
export function outboundWeight({ outbound, attempts }: CoalescedChanges): number {
  let weight = attempts.length;
  for (const { recipients, content } of outbound) {
    weight += 1 + recipients.length;
    const characters = (content?.textBody?.length ?? 0) + (content?.htmlBody?.length ?? 0);
    weight += Math.floor(characters / CHARACTERS_A_WEIGHT);
  }
  return weight;
}

/** Returns the last parts of the commit's `with`, whose `passed` has the accounts that passed the fence. */
export function writeOutbound(sql: Pieces, changes: readonly MailboxChange[]) {
  if (changes.every(({ changes: list }) => hasNone(coalesce(list)))) return sql``;
  const added = [];
  const rewritten = [];
  const stepped = [];
  const replaced = [];
  const recipientsAdded: ReturnType<typeof recipientRow>[] = [];
  const recipientsWritten: ReturnType<typeof recipientRow>[] = [];
  const contents = [];
  const dropped = [];
  const attempts = [];
  const released = [];
  const removed = [];
  const local = [];
  for (const { accountId: a, changes: list } of changes) {
    const coalesced = coalesce(list);
    for (const {
      outbound: row,
      before,
      row: whole,
      isSameMessage,
      recipientIds,
      recipients: written,
      content,
      released: blobs,
    } of coalesced.outbound) {
      const machine = whole?.machine ?? null;
      if (before === null) added.push(emailRow(a, row, machine));
      else if (isSameMessage) stepped.push(emailState(a, row, machine));
      else rewritten.push(emailRow(a, row, machine));
      for (const blob of blobs) released.push({ a, blob: `\\x${blob}` });
      if (recipientIds !== undefined && before !== null) replaced.push({ a, o: row.id, kept: recipientIds });
      const recipients = before === null ? recipientsAdded : recipientsWritten;
      for (const { position, recipient } of written) recipients.push(recipientRow(a, row.id, position, recipient));
      if (content === null) dropped.push({ a, o: row.id });
      else if (content !== undefined) contents.push({ a, o: row.id, text: content.textBody, html: content.htmlBody });
    }
    for (const { outboundId: o, attempt } of coalesced.attempts) {
      attempts.push({ a, o, id: attempt.id, at: attempt.at, entry: attempt });
    }
    for (const o of coalesced.outboundRemoved) removed.push({ a, o });
    for (const row of coalesced.localDeliveries) {
      const { accountId, id, blob, envelope } = row;
      local.push({ a, to: accountId, id, blob: `\\x${blob}`, envelope, delivery: detailOf(row) });
    }
  }
  // A part without rows is left out, because each part costs set-up and clean-up.
  const nothing = sql``;
  const part = (write: Part, rows: readonly unknown[]) => (rows.length === 0 ? nothing : write(sql, rows));
  return sql`
    ${part(addOutbound, added)}
    ${part(rewriteOutbound, rewritten)}
    ${part(stepOutbound, stepped)}
    ${part(replaceRecipients, replaced)}
    ${part(addRecipients, recipientsAdded)}
    ${part(writeRecipients, recipientsWritten)}
    ${part(writeContents, contents)}
    ${part(addAttempts, attempts)}
    ${part(dropContents, dropped)}
    ${part(releaseBlobs, released)}
    ${part(removeOutbound, removed)}
    ${part(localDeliveryRows, local)}`;
}

function hasNone({ outbound, attempts, outboundRemoved, localDeliveries }: CoalescedChanges): boolean {
  return outbound.length + attempts.length + outboundRemoved.length + localDeliveries.length === 0;
}

/** Values of the columns that the machine's steps change, and of the copy, from rows `x`. */
const stateOfRow = (sql: Pieces) => sql`
  x.status, x.sent_email_id, to_timestamp(x.updated / 1000.0), to_timestamp(x.queued / 1000.0),
  to_timestamp(x.sent / 1000.0), x.retry_count, to_timestamp(x.next_retry / 1000.0), to_timestamp(x.held / 1000.0),
  x.last_error, x.attempt_id, x.attempt_by, x.dsn_due, to_timestamp(x.dsn_at / 1000.0),
  x.delay_reported, x.awaits_release, ${sql.unsafe(DOCUMENT)}`;

const stateColumns = (sql: Pieces) => sql`
  status, sent_email_id, updated_at, queued_at, sent_at, retry_count, next_retry_at, held_until, last_error, attempt_id,
  attempt_by, dsn_due, dsn_at, delay_reported, awaits_release, machine`;

const stateRecordset = (sql: Pieces) => sql`
  a uuid, id uuid, status text, sent_email_id uuid, updated double precision, queued double precision,
  sent double precision, retry_count int, next_retry double precision, held double precision, last_error text,
  attempt_id uuid, attempt_by text, dsn_due text, dsn_at double precision,
  delay_reported boolean, awaits_release boolean`;

const messageColumns = (sql: Pieces) => sql`blob, sender, subject, message_id, in_reply_to, refs, size, dsn`;

const messageRecordset = (sql: Pieces) => sql`
  blob bytea, sender text, subject text, message_id text, in_reply_to text, refs text[], size bigint, dsn json`;

const insertOutbound: Part = (sql, rows) => sql`
      insert into outbound (account_id, id, shard, created_at, ${messageColumns(sql)}, ${stateColumns(sql)})
      select a, x.id, p.shard, to_timestamp(x.created / 1000.0), ${messageColumns(sql)}, ${stateOfRow(sql)}
      from ${rowsWithDocuments(
        sql,
        rows,
        'machine',
        sql`${stateRecordset(sql)}, created double precision, ${messageRecordset(sql)}`,
      )} x join passed p using (a)`;

const stateOfExcluded = (sql: Pieces) => sql`
  status = excluded.status, sent_email_id = excluded.sent_email_id, updated_at = excluded.updated_at,
  queued_at = excluded.queued_at, sent_at = excluded.sent_at, retry_count = excluded.retry_count,
  next_retry_at = excluded.next_retry_at, held_until = excluded.held_until, last_error = excluded.last_error,
  attempt_id = excluded.attempt_id, attempt_by = excluded.attempt_by, dsn_due = excluded.dsn_due,
  dsn_at = excluded.dsn_at, delay_reported = excluded.delay_reported, awaits_release = excluded.awaits_release,
  machine = excluded.machine`;

const addOutbound: Part = (sql, rows) => sql`
    , outbound_added as (${insertOutbound(sql, rows)}
    )`;

/**
 * Rewrites drafts, and emails that are sent as another message. This, `stepOutbound` and `writeRecipients` insert a row that
 * exists: the conflict is found by key alone, while an update with a plan made while the table was small would read all rows of
 * the account.
 */
const rewriteOutbound: Part = (sql, rows) => sql`
    , outbound_rewritten as (${insertOutbound(sql, rows)}
      on conflict (account_id, id) do update set blob = excluded.blob, sender = excluded.sender,
        subject = excluded.subject, message_id = excluded.message_id, in_reply_to = excluded.in_reply_to,
        refs = excluded.refs, size = excluded.size, dsn = excluded.dsn, ${stateOfExcluded(sql)}
    )`;

/**
 * The rows exist, because the mailbox read them from the store, so the insertion always conflicts: the empty message is never
 * stored.
 */
const stepOutbound: Part = (sql, rows) => sql`
    , outbound_stepped as (
      insert into outbound (account_id, id, shard, created_at, blob, sender, subject, ${stateColumns(sql)})
      select a, x.id, p.shard, to_timestamp(x.updated / 1000.0), '', '', '', ${stateOfRow(sql)}
      from ${rowsWithDocuments(sql, rows, 'machine', stateRecordset(sql))} x join passed p using (a)
      on conflict (account_id, id) do update set ${stateOfExcluded(sql)}
    )`;

/** Deletes recipients that drafts no longer have. */
const replaceRecipients: Part = (sql, rows) => sql`
    , recipient_replaced as (
      delete from outbound_recipients t
      using json_to_recordset(${json(rows)}::json) as r (a uuid, o uuid, kept uuid[]), passed p
      where t.account_id = r.a and t.outbound_id = r.o and p.a = r.a and t.id <> all(r.kept)
    )`;

const insertRecipients: Part = (sql, rows) => sql`
      insert into outbound_recipients (account_id, outbound_id, id, position, address, display_name, type, status, domain,
        delivered_at, last_error, status_code)
      select a, o, id, position, address, display_name, type, status, domain, to_timestamp(delivered / 1000.0),
        last_error, status_code
      from json_to_recordset(${json(rows)}::json) as x (a uuid, o uuid, id uuid, position int, address text,
        display_name text, type text, status text, domain text, delivered double precision, last_error text,
        status_code text)
      join passed using (a)`;

const addRecipients: Part = (sql, rows) => sql`
    , recipient_added as (${insertRecipients(sql, rows)}
    )`;

const writeRecipients: Part = (sql, rows) => sql`
    , recipient_written as (${insertRecipients(sql, rows)}
      on conflict (account_id, outbound_id, id) do update set status = excluded.status,
        delivered_at = excluded.delivered_at, last_error = excluded.last_error, status_code = excluded.status_code
    )`;

const writeContents: Part = (sql, rows) => sql`
    , content_written as (
      insert into outbound_contents (account_id, outbound_id, text_body, html_body)
      select a, o, text, html from json_to_recordset(${json(rows)}::json) as x (a uuid, o uuid, text text,
        html text) join passed using (a)
      on conflict (account_id, outbound_id) do update set text_body = excluded.text_body, html_body = excluded.html_body
    )`;

/** Ignores attempts of a report that was committed before. */
const addAttempts: Part = (sql, rows) => sql`
    , attempted as (
      insert into outbound_attempts (account_id, outbound_id, id, at, entry)
      select a, o, id, to_timestamp(at / 1000.0), ${sql.unsafe(DOCUMENT)}
      from ${rowsWithDocuments(sql, rows, 'entry', sql`a uuid, o uuid, id uuid, at double precision`)} x
        join passed using (a)
      on conflict do nothing
    )`;

/** Deletes the bodies of drafts that have become too long. */
const dropContents: Part = (sql, rows) => sql`
    , content_dropped as (
      delete from outbound_contents t
      using json_to_recordset(${json(rows)}::json) as x (a uuid, o uuid), passed p
      where t.account_id = x.a and t.outbound_id = x.o and p.a = x.a
    )`;

/** Registers blobs that rows have replaced by others. */
const releaseBlobs: Part = (sql, rows) => sql`
    , blob_released as (
      insert into blob_candidates (hash)
      select blob from json_to_recordset(${json(rows)}::json) as x (a uuid, blob bytea) join passed using (a)
    )`;

const removeOutbound: Part = (sql, rows) => sql`
    , outbound_gone as materialized (
      select a, o from json_to_recordset(${json(rows)}::json) as x (a uuid, o uuid) join passed using (a)
    ), outbound_removed as (
      delete from outbound t using outbound_gone g where t.account_id = g.a and t.id = g.o returning t.blob
    ), outbound_released as (
      insert into blob_candidates (hash) select blob from outbound_removed
    ), recipients_removed as (
      delete from outbound_recipients t using outbound_gone g where t.account_id = g.a and t.outbound_id = g.o
    ), contents_removed as (
      delete from outbound_contents t using outbound_gone g where t.account_id = g.a and t.outbound_id = g.o
    ), attempts_removed as (
      delete from outbound_attempts t using outbound_gone g where t.account_id = g.a and t.outbound_id = g.o
    ), requests_removed as (
      delete from outbound_requests t using outbound_gone g where t.account_id = g.a and t.outbound_id = g.o
    )`;

const localDeliveryRows: Part = (sql, rows) => sql`
    , local_delivery as materialized (
      select x."to", x.id, x.blob, x.envelope, x.delivery from json_to_recordset(${json(rows)}::json)
        as x (a uuid, "to" uuid, id uuid, blob bytea, envelope json, delivery json)
        join passed using (a)
    ), taker as materialized (
      -- Accounts that this statement has updated cannot be locked by it once more: it holds them by that update.
      select id from accounts where id in (select "to" from local_delivery) and id not in (select a from passed)
      for key share of accounts
    ), local_inbound as (
      insert into inbound (account_id, id, blob, envelope, delivery)
      select h."to", h.id, h.blob, h.envelope, h.delivery from local_delivery h
      where h."to" in (select id from taker) or h."to" in (select a from passed)
    )`;

/** Leaves out null values, so that the database reads less. */
const present = <T>(value: T | null | undefined): T | undefined => value ?? undefined;

/** The values that the machine's steps change, and the copy. */
function emailState(a: string, row: LoggedOutbound, machine: unknown) {
  return {
    a,
    id: row.id,
    status: row.status,
    sent_email_id: row.emailId,
    updated: row.updatedAt,
    queued: present(row.queuedAt),
    sent: present(row.sentAt),
    retry_count: row.retryCount,
    next_retry: present(row.nextRetryAt),
    held: present(row.heldUntil),
    last_error: present(row.lastError),
    attempt_id: row.attempt?.id,
    attempt_by: row.attempt?.by,
    dsn_due: present(row.dsnDue),
    dsn_at: present(row.dsnAt),
    delay_reported: row.delayReported,
    awaits_release: row.awaitsRelease,
    machine: present(machine),
  };
}

function emailRow(a: string, row: LoggedOutbound, machine: unknown) {
  return {
    ...emailState(a, row, machine),
    created: row.createdAt,
    blob: `\\x${row.blob}`,
    sender: row.sender,
    subject: row.subject,
    message_id: present(row.messageId),
    in_reply_to: present(row.inReplyTo),
    refs: row.references,
    size: row.size,
    dsn: present(row.dsn),
  };
}

function recipientRow(a: string, o: string, position: number, row: OutboundRecipientRow) {
  return {
    a,
    o,
    id: row.id,
    position,
    address: row.address,
    display_name: present(row.displayName),
    type: row.type,
    status: row.status,
    domain: row.domain,
    delivered: present(row.deliveredAt),
    last_error: present(row.lastError),
    status_code: present(row.statusCode),
  };
}
