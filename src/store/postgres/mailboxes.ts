// One account's mailbox in PostgreSQL: claiming, columnar loading, list rows. Columns come packed by the server into
// one bytea a few thousand rows, which loads a large mailbox several times faster than row by row.
import type { CommitMeter } from '../commit-meter.js';
import type {
  CommitResult,
  EmailSummaryRow,
  ExportRow,
  FolderRow,
  LoadedEmails,
  MailboxChange,
  MailboxStore,
  PlacementColumns,
  RememberedReply,
  ThreadPart,
  ThreadRows,
} from '../mailboxes.js';
import { netOf } from '../net-changes.js';
import { type Sql, storeFault } from './client.js';
import { GroupCommit } from './group-commit.js';
import { deferredFilterRows, filterRows } from './labels-commit.js';
import { commitChanges } from './mailbox-commit.js';
import { outgoingWeight } from './outbound-commit.js';
import {
  draftEmails,
  emailsByMessageId,
  outboundAttempts,
  outboundContent,
  outboundCounts,
  outboundOfCopies,
  outboundPage,
  outboundRows,
} from './outbound-rows.js';
import { threadRows } from './threads.js';

const PAGE_ROWS = 20_000;
const EMAIL_OCTETS = 16 + 2 + 8 + 8 + 1;
const PLACEMENT_OCTETS = 8 + 16;

/** `writerSql`: a pool made `byKey`. */
export function postgresMailboxes(sql: Sql, writerSql: Sql, meter?: CommitMeter): MailboxStore {
  const group = new GroupCommit<MailboxChange, CommitResult>((changes) => commitChanges(writerSql, changes), {
    maxItems: 64,
    maxWeight: 1000,
    maxWaiting: 1_000_000,
    weigh({ changes }) {
      const net = netOf(changes);
      return 1 + net.emailsAdded.length + net.emailsFlagged.length + net.emailsRemoved.length + outgoingWeight(net);
    },
    meter,
  });

  async function claim(accountId: string, epoch: number): ReturnType<MailboxStore['claim']> {
    const rows = await guarded(
      () => sql<{ modseq: string; email: string; held: boolean }[]>`
        update accounts set epoch = ${epoch} where id = ${accountId} and epoch <= ${epoch}
        returning modseq, email, held`,
    );
    const row = rows[0];
    if (row !== undefined) return { kind: 'claimed', modseq: Number(row.modseq), email: row.email, held: row.held };
    const [present] = await guarded(() => sql`select from accounts where id = ${accountId}`);
    return { kind: present === undefined ? 'noSuchAccount' : 'fenced' };
  }

  async function remembered(accountId: string): Promise<readonly RememberedReply[]> {
    return guarded(
      () => sql<RememberedReply[]>`
        select id, reply from recent_commands where account_id = ${accountId} and at > now() - interval '1 minute'
        order by at`,
    );
  }

  async function folders(accountId: string): Promise<readonly FolderRow[]> {
    return guarded(
      () => sql<FolderRow[]>`
        select id, role, name, color, sort_order as "sortOrder", uidvalidity::float8 as "uidValidity",
          uidnext::float8 as "uidNext", total, unread, highest_modseq::float8 as "highestModseq",
          (extract(epoch from created_at) * 1000)::float8 as "createdAt"
        from folders where account_id = ${accountId} order by sort_order, id`,
    );
  }

  async function* emails(accountId: string): AsyncIterable<LoadedEmails> {
    let after = '00000000-0000-0000-0000-000000000000';
    for (;;) {
      const rows = await guarded(
        () => sql<{ count: number; last: string | null; packed: Uint8Array | null }[]>`
          select count(*)::int as count, (array_agg(id order by id desc))[1] as last,
            string_agg(uuid_send(id) || int2send(flags) ||
              int8send((extract(epoch from received_at) * 1000)::bigint) || int8send(modseq) ||
              boolsend(has_attachments), ''::bytea order by id
            ) as packed
          from (select id, flags, received_at, modseq, has_attachments from emails
            where account_id = ${accountId} and id > ${after} order by id limit ${PAGE_ROWS}) page`,
      );
      const { count, last, packed } = rows[0]!;
      if (packed === null || last === null) return;
      yield emailColumns(count, packed);
      if (count < PAGE_ROWS) return;
      after = last;
    }
  }

  async function* placements(accountId: string, folderId: string): AsyncIterable<PlacementColumns> {
    let after = 0;
    for (;;) {
      const rows = await guarded(
        () => sql<{ count: number; last: string | null; packed: Uint8Array | null }[]>`
          select count(*)::int as count, max(uid) as last,
            string_agg(int8send(uid) || uuid_send(email_id), ''::bytea order by uid) as packed
          from (select uid, email_id from placements
            where account_id = ${accountId} and folder_id = ${folderId} and uid > ${after}
            order by uid limit ${PAGE_ROWS}) page`,
      );
      const { count, last, packed } = rows[0]!;
      if (packed === null || last === null) return;
      yield placementColumns(count, packed);
      if (count < PAGE_ROWS) return;
      after = Number(last);
    }
  }

  async function isNewest(accountId: string, epoch: number, modseq: number): Promise<boolean> {
    const rows = await guarded(
      () => sql`select from accounts where id = ${accountId} and epoch = ${epoch} and modseq = ${modseq}`,
    );
    return rows.length > 0;
  }

  async function summaries(accountId: string, ids: readonly string[]): Promise<readonly EmailSummaryRow[]> {
    if (ids.length === 0) return [];
    return guarded(
      () => sql<EmailSummaryRow[]>`
        select ${summaryColumns(sql)} from emails where account_id = ${accountId} and id = any(${ids as string[]}::uuid[])`,
    );
  }

  async function thread(accountId: string, threadId: string, part: ThreadPart): Promise<ThreadRows> {
    return guarded(() => threadRows(sql, accountId, threadId, part, summaryColumns(sql)));
  }

  async function exportRows(accountId: string, ids: readonly string[]): Promise<readonly ExportRow[]> {
    if (ids.length === 0) return [];
    return guarded(
      () => sql<ExportRow[]>`
        select id, encode(blob, 'hex') as blob, from_address as "fromAddress", size::float8 as size,
          (extract(epoch from received_at) * 1000)::float8 as "receivedAt"
        from emails where account_id = ${accountId} and id = any(${ids as string[]}::uuid[])`,
    );
  }

  async function idsFrom(accountId: string, folderId: string, fromAddress: string): Promise<readonly string[]> {
    const rows = await guarded(
      () => sql<{ id: string }[]>`
        select e.id from placements p join emails e on e.account_id = p.account_id and e.id = p.email_id
        where p.account_id = ${accountId} and p.folder_id = ${folderId}
          and position(lower(${fromAddress}) in lower(e.from_address)) > 0
        order by e.received_at desc, e.id desc`,
    );
    return rows.map((row) => row.id);
  }

  async function senders(accountId: string, folderId: string): Promise<readonly string[]> {
    const rows = await guarded(
      () => sql<{ address: string }[]>`
        select distinct lower(e.from_address) as address
        from placements p join emails e on e.account_id = p.account_id and e.id = p.email_id
        where p.account_id = ${accountId} and p.folder_id = ${folderId} and e.from_address <> '' order by 1`,
    );
    return rows.map((row) => row.address);
  }

  async function forget(maxAgeMs: number): Promise<number> {
    const { count } = await guarded(
      () => sql`delete from recent_commands where at < now() - ${maxAgeMs} * interval '1 millisecond'`,
    );
    return count;
  }

  return {
    outboundRows: async (accountId, ids) => (ids.length === 0 ? [] : guarded(() => outboundRows(sql, accountId, ids))),
    outboundOfCopies: async (accountId, emailIds) =>
      emailIds.length === 0 ? new Map() : guarded(() => outboundOfCopies(sql, accountId, emailIds)),
    draftEmails: (accountId) => guarded(() => draftEmails(sql, accountId)),
    outboundPage: (...of) => guarded(() => outboundPage(sql, ...of)),
    outboundCounts: (...of) => guarded(() => outboundCounts(sql, ...of)),
    outboundContent: (accountId, id) => guarded(() => outboundContent(sql, accountId, id)),
    outboundAttempts: (accountId, id) => guarded(() => outboundAttempts(sql, accountId, id)),
    emailsByMessageId: (...of) => guarded(() => emailsByMessageId(sql, ...of)),
    claim,
    remembered,
    forget,
    folders,
    filters: (accountId) => guarded(() => filterRows(sql, accountId)),
    deferredFilters: (accountId) => guarded(() => deferredFilterRows(sql, accountId)),
    emails,
    placements,
    commit: (change) => group.submit(change),
    isNewest,
    summaries,
    thread,
    exportRows,
    idsFrom,
    senders,
  };
}

const summaryColumns = (sql: Sql) => sql`
  id, encode(blob, 'hex') as blob, message_id as "messageId", thread_id as "threadId", in_reply_to as "inReplyTo",
  refs as references, from_address as "fromAddress", from_envelope as "fromIsEnvelopeSender", from_name as "fromName",
  subject, preview,
  (extract(epoch from received_at) * 1000)::float8 as "receivedAt", size::float8 as size,
  has_attachments as "hasAttachments", attachment_count as "attachmentCount"`;

async function guarded<T>(statement: () => PromiseLike<T>): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    throw storeFault(error);
  }
}

function emailColumns(count: number, packed: Uint8Array): LoadedEmails {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const ids = new Uint8Array(count * 16);
  const flags = new Uint16Array(count);
  const receivedAt = new Float64Array(count);
  const modseq = new Float64Array(count);
  const hasAttachments = new Uint8Array(count);
  for (let i = 0, at = 0; i < count; i++, at += EMAIL_OCTETS) {
    ids.set(packed.subarray(at, at + 16), i * 16);
    flags[i] = view.getUint16(at + 16);
    receivedAt[i] = int64(view, at + 18);
    modseq[i] = int64(view, at + 26);
    hasAttachments[i] = view.getUint8(at + 34);
  }
  return { count, ids, flags, receivedAt, modseq, hasAttachments };
}

function placementColumns(count: number, packed: Uint8Array): PlacementColumns {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const uids = new Uint32Array(count);
  const emailIds = new Uint8Array(count * 16);
  for (let i = 0, at = 0; i < count; i++, at += PLACEMENT_OCTETS) {
    uids[i] = int64(view, at);
    emailIds.set(packed.subarray(at + 8, at + 24), i * 16);
  }
  return { count, uids, emailIds };
}

/** Exact below 2^53, which times and change numbers are. */
function int64(view: DataView, at: number): number {
  return view.getInt32(at) * 0x100000000 + view.getUint32(at + 4);
}
